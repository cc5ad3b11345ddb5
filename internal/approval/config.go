package approval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is the approval: section of mycelium.yaml.
type Config struct {
	Deadline *Span           `yaml:"deadline" json:"deadline,omitempty" about:"how long a call waits; absent: 5m; 0: as long as its caller"`
	Mode     Mode            `yaml:"mode" json:"mode,omitempty" of:"auto,local,remote" about:"who answers for an agent's own tools; absent: auto"`
	Idle     *Span           `yaml:"idle" json:"idle,omitempty" about:"in the mode auto with a chat: how long nobody has typed at this machine before the chat is asked; absent: 5m; 0: the chat is asked at once"`
	AskVia   string          `yaml:"askVia" json:"askVia,omitempty" of:"client,queue" about:"client: the MCP client is asked first, if it can ask its person; absent: queue"`
	AskVia2  string          `yaml:"ask_via" json:"-" about:"another spelling of askVia"`
	Judge    JudgeConfig     `yaml:"judge" json:"judge,omitzero" about:"a model that is asked before people are"`
	Telegram *TelegramConfig `yaml:"telegram" json:"telegram,omitzero" about:"a bot that asks people"`
	Notify   NotifyConfig    `yaml:"notify" json:"notify,omitzero" about:"where people are told that a request waits"`
}

// The values of Config.AskVia.
const (
	AskQueue  = "queue"
	AskClient = "client"
)

// maxSpan is one day: a longer time is a wrong unit.
const maxSpan = 24 * time.Hour

// Span is a duration that the file writes as "300s" or as a number of seconds.
type Span time.Duration

// YAMLSchema is how people write a span.
func (Span) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "number"}, "examples": []any{"5m"}}
}

// UnmarshalText reads a duration of up to a day.
func (s *Span) UnmarshalText(b []byte) error {
	text := strings.TrimSpace(string(b))
	d, err := time.ParseDuration(text)
	if n, numErr := strconv.ParseUint(text, 10, 32); numErr == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d < 0 || d > maxSpan {
		return fmt.Errorf("duration %q: write \"300s\", or a number of seconds, from 0 to 24h", text)
	}
	*s = Span(d)
	return nil
}

// MarshalText writes the duration in the form "5m0s".
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// Check reports invalid values.
func (c *Config) Check(bad func(key, message, hint string)) {
	if modes := []Mode{"", Auto, Local, Remote}; !slices.Contains(modes, c.Mode) {
		bad("approval.mode", fmt.Sprintf("approval.mode is %q", string(c.Mode)), "write auto, local or remote")
	}
	for key, v := range map[string]string{"approval.askVia": c.AskVia, "approval.ask_via": c.AskVia2} {
		if v != "" && v != AskQueue && v != AskClient {
			bad(key, fmt.Sprintf("%s is %q", key, v), "write client or queue")
		}
	}
	under := func(section string) func(key, message, hint string) {
		return func(key, message, hint string) { bad(section+"."+key, section+": "+message, hint) }
	}
	c.Judge.Check(under("approval.judge"))
	if c.Telegram != nil {
		c.Telegram.Check(under("approval.telegram"))
	}
	c.Notify.Check(under("approval.notify"))
	if c.AskVia != "" && c.AskVia2 != "" && c.AskVia != c.AskVia2 {
		bad("approval.ask_via", "approval.askVia and approval.ask_via say different things", "keep askVia")
	}
}

// Wait returns the deadline for [Options.Deadline].
func (c *Config) Wait() time.Duration {
	switch {
	case c.Deadline == nil:
		return DefaultDeadline
	case *c.Deadline == 0:
		return -1
	default:
		return time.Duration(*c.Deadline)
	}
}

// DefaultIdle is approval.idle if the files do not say it (requirements, E37).
const DefaultIdle = 300 * time.Second

// IdleAfter returns how long nobody has typed at this machine before the mode auto takes its person for away; 0: it does not look.
func (c *Config) IdleAfter() time.Duration {
	if c.Idle == nil {
		return DefaultIdle
	}
	return time.Duration(*c.Idle)
}

// AsksClient reports whether an MCP client that can ask its user does so.
func (c *Config) AsksClient() bool { return c.AskVia == AskClient || c.AskVia2 == AskClient }
