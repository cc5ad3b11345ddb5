package config

import (
	"fmt"
	"strconv"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/text"
)

// entry is one of mcpServers in mycelium.yaml.
type entry struct {
	times          `yaml:",inline"` // before Server: the first field of a name takes the key
	Bare           bool             `yaml:"bare"`
	backend.Server `yaml:",inline"`
}

// times are the durations of an entry as people write them.
type times struct {
	Timeout span `yaml:"timeout"`
	Start   span `yaml:"startTimeout"`
	Stop    span `yaml:"stopTimeout"`
	Ping    span `yaml:"ping"`
	Ask     span `yaml:"askTimeout"`
}

// set puts the durations where they belong.
func (t times) set(s *backend.Server) {
	s.Timeout, s.Start, s.Stop = backend.Duration(t.Timeout), backend.Duration(t.Start), backend.Duration(t.Stop)
	s.Ping, s.Ask = backend.Duration(t.Ping), backend.Duration(t.Ask)
}

// span is a duration as people write it: "30s", or a bare number of milliseconds, as in .mcp.json. It is from 0 to a day: nobody
// waits longer for one answer, and a slip of the unit is found.
type span time.Duration

// UnmarshalYAML reads it.
func (d *span) UnmarshalYAML(unmarshal func(any) error) error {
	var word string
	if err := unmarshal(&word); err != nil {
		return err
	}
	v, err := time.ParseDuration(word)
	if ms, numErr := strconv.ParseFloat(word, 64); numErr == nil {
		if ms < 0 || ms > 24*3600*1000 || ms != ms {
			return text.Hinted(fmt.Errorf("duration %q is out of range", word), "write 0 to 24h; a bare number is milliseconds")
		}
		v, err = time.Duration(ms*float64(time.Millisecond)), nil
	}
	if err != nil {
		return text.Hinted(fmt.Errorf("duration %q cannot be read", word), "write 30s, 500ms or 2m; a bare number is milliseconds")
	}
	if v < 0 || v > 24*time.Hour {
		return text.Hinted(fmt.Errorf("duration %q is out of range", word), "write 0 to 24h")
	}
	*d = span(v)
	return nil
}

// MarshalText writes it.
func (d span) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// clientEntry is one of mcpServers in config.json or .mcp.json: an entry with the keys that clients have besides. Those that we
// cannot honour are named, so that each is either mapped or spoken of; a key that is in neither struct is an error.
type clientEntry struct {
	OAuth         any `yaml:"oauth"` // Claude Code, Gemini CLI; before entry, because theirs has other keys than ours
	entry         `yaml:",inline"`
	Enabled       *bool    `yaml:"enabled"`       // the opposite of disabled
	HTTPURL       string   `yaml:"httpUrl"`       // Gemini CLI's url of a Streamable HTTP server
	ServerURL     string   `yaml:"serverUrl"`     // Windsurf's
	HeadersHelper string   `yaml:"headersHelper"` // Claude Code: a command that prints headers
	EnvFile       string   `yaml:"envFile"`       // VS Code, Cursor
	AlwaysLoad    *bool    `yaml:"alwaysLoad"`    // Claude Code: no deferred loading of the tools; has no meaning here
	AlwaysAllow   any      `yaml:"alwaysAllow"`   // Cline, Roo
	AutoApprove   any      `yaml:"autoApprove"`   // Cline, Kiro
	IncludeTools  []string `yaml:"includeTools"`  // Gemini CLI
	ExcludeTools  []string `yaml:"excludeTools"`  // Gemini CLI
	Description   string   `yaml:"description"`
	Note          string   `yaml:"note"`
}
