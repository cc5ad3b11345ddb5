package approval

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The defaults of a judge.
const (
	DefaultJudge      = "claude-haiku-4-5"
	DefaultConfidence = 0.8
	DefaultThinking   = 20 * time.Second // for one question
)

// JudgeConfig is approval.judge: the model that is asked before people are, and what it may decide.
type JudgeConfig struct {
	Enabled    *bool    `yaml:"enabled" json:"enabled,omitzero" about:"absent: yes, if there is a key"`
	Model      string   `yaml:"model" json:"model,omitempty" about:"absent: claude-haiku-4-5"`
	Confidence *float64 `yaml:"confidence" json:"confidence,omitzero" about:"0 to 1, above 0; absent: 0.8"`
	MayDeny    bool     `yaml:"mayDeny" json:"mayDeny,omitzero" about:"a confident no denies the call"`
	BaseURL    string   `yaml:"baseURL" json:"baseURL,omitempty" about:"of the Messages API; absent: Anthropic's. ${} is not expanded: the key goes there"`
	Key        string   `yaml:"key" json:"key,omitempty" about:"${VAR} or ${secret:NAME}; absent: ${ANTHROPIC_API_KEY}"`
	Timeout    *Span    `yaml:"timeout" json:"timeout,omitzero" about:"of one question; absent: 20s"`
}

// JudgeKey is the default key of the judge. It is looked up among the secrets and then in the environment.
const JudgeKey = "${secret:ANTHROPIC_API_KEY}"

// Check reports invalid values. bad gets the key below approval.judge.
func (c *JudgeConfig) Check(bad func(key, message, hint string)) {
	if v := c.Confidence; v != nil && !(*v > 0 && *v <= 1) {
		bad("confidence", fmt.Sprintf("confidence is %v", *v), "write a share above 0 and up to 1, such as 0.8")
	}
	if strings.ContainsFunc(c.Model, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		bad("model", fmt.Sprintf("model is %q", c.Model), "write the name of a model, such as "+DefaultJudge)
	}
	if u, err := url.Parse(c.BaseURL); c.BaseURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		bad("baseURL", fmt.Sprintf("baseURL is %q", c.BaseURL), "write the address of a Messages API without credentials, such as "+
			"https://api.anthropic.com")
	}
	if k := c.Key; k != "" && !strings.Contains(k, "${") {
		bad("key", "the key itself is in the file", "write key: ${secret:ANTHROPIC_API_KEY} and keep the key among the secrets (docs/secrets.md)")
	}
	if c.Timeout != nil && (*c.Timeout == 0 || time.Duration(*c.Timeout) > 10*time.Minute) {
		bad("timeout", fmt.Sprintf("timeout is %s", time.Duration(*c.Timeout)), "write 1s to 10m")
	}
}

// Off reports whether the judge is switched off.
func (c JudgeConfig) Off() bool { return c.Enabled != nil && !*c.Enabled }

// Threshold returns the least confidence that counts.
func (c JudgeConfig) Threshold() float64 {
	if c.Confidence == nil {
		return DefaultConfidence
	}
	return *c.Confidence
}

// TimeLimit returns how long one question may take.
func (c JudgeConfig) TimeLimit() time.Duration {
	if c.Timeout == nil {
		return DefaultThinking
	}
	return time.Duration(*c.Timeout)
}
