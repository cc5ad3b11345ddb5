// Package remote has the prompts of roles that come from a server.
package remote

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Instruction names a prompt of a server whose text is the prompt of a role.
type Instruction struct {
	Backend    string            `yaml:"backend" json:"backend" about:"the server that has the prompt"`
	PromptName string            `yaml:"promptName" json:"promptName" about:"its name there"`
	Arguments  map[string]string `yaml:"arguments" json:"arguments,omitempty" about:"of the prompt"`
	CacheTTL   *TTL              `yaml:"cacheTtl" json:"cacheTtl,omitempty" about:"how long an answer is used again: seconds, or a text such as 5m; absent: 300; 0: it is asked for each time"`
	Fallback   string            `yaml:"fallback" json:"fallback,omitempty" about:"what is used where there is no answer; empty: the prompt of the role"`
}

// defaultTTL is the cacheTtl of a file that says none (requirements, A50).
const defaultTTL = 300 * time.Second

// maxTTL bounds cacheTtl. Larger values are mistakes.
const maxTTL = 30 * 24 * time.Hour

// Keep returns how long an answer is used.
func (i *Instruction) Keep() time.Duration {
	if i.CacheTTL == nil {
		return defaultTTL
	}
	return time.Duration(*i.CacheTTL)
}

// String names the prompt: server__prompt.
func (i *Instruction) String() string { return i.Backend + "__" + i.PromptName }

// Check reports what is wrong: the key below remoteInstruction, what, and how to mend it.
func (i *Instruction) Check(bad func(key, message, hint string)) {
	for key, v := range map[string]string{"backend": i.Backend, "promptName": i.PromptName} {
		if strings.TrimSpace(v) == "" {
			bad(key, "remoteInstruction names no "+key, "write the name of a server under backend, and of one of its prompts under promptName")
		}
	}
}

// TTL is a length of time. In files it is a number of seconds, or a text such as 5m.
type TTL time.Duration

// YAMLSchema is how people write a TTL.
func (TTL) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "integer"}, "examples": []any{300, "5m"}}
}

// UnmarshalYAML reads either form.
func (t *TTL) UnmarshalYAML(decode func(any) error) error {
	var seconds int64
	if decode(&seconds) == nil {
		if seconds < 0 || seconds > int64(maxTTL/time.Second) {
			return fmt.Errorf("cacheTtl is %d: write seconds from 0 to %d", seconds, int64(maxTTL/time.Second))
		}
		*t = TTL(time.Duration(seconds) * time.Second)
		return nil
	}
	var text string
	if err := decode(&text); err != nil {
		return errors.New("cacheTtl is neither a number of seconds nor a text such as 5m")
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxTTL {
		return fmt.Errorf("cacheTtl is %q: write a number of seconds, or a text such as 5m", text)
	}
	*t = TTL(d)
	return nil
}

// MarshalText writes the form with a unit.
func (t TTL) MarshalText() ([]byte, error) { return []byte(time.Duration(t).String()), nil }
