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
	Deadline *Span           `yaml:"deadline" json:"deadline,omitempty"` // how long a call waits; absent: 300 s; 0: for as long as its caller does
	Mode     Mode            `yaml:"mode" json:"mode,omitempty"`         // who answers for an agent's own tools: auto (default), local or remote
	AskVia   string          `yaml:"askVia" json:"askVia,omitempty"`     // client: an MCP client that can be asked is asked in place; queue (default)
	AskVia2  string          `yaml:"ask_via" json:"-"`                   // the same, as the issue spells it
	Judge    JudgeConfig     `yaml:"judge" json:"judge,omitzero"`        // a model that is asked before people are
	Telegram *TelegramConfig `yaml:"telegram" json:"telegram,omitzero"`  // a bot that asks people
	Notify   NotifyConfig    `yaml:"notify" json:"notify,omitzero"`      // where people hear that something waits
}

// The values of Config.AskVia.
const (
	AskQueue  = "queue"
	AskClient = "client"
)

// maxSpan is a day: nobody answers later, and a slip of the unit is found.
const maxSpan = 24 * time.Hour

// Span is a time that the file writes as "300s"; a bare number is seconds.
type Span time.Duration

// UnmarshalText reads it.
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

// MarshalText writes it.
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// Check finds values that cannot be meant.
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

// Wait is the deadline as [Options] takes it.
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

// AsksClient reports whether an MCP client that can be asked is asked in place.
func (c *Config) AsksClient() bool { return c.AskVia == AskClient || c.AskVia2 == AskClient }
