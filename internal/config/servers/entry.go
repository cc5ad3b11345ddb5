package servers

import (
	"mycelium/internal/backend"
	"mycelium/internal/config/source"
)

// Entry is an entry of mcpServers in mycelium.yaml.
type Entry struct {
	times          `yaml:",inline"` // before Server, because the first field with a name takes the key
	Bare           bool             `yaml:"bare"`
	backend.Server `yaml:",inline"`
}

// times are the durations of an entry.
type times struct {
	Timeout source.Duration `yaml:"timeout"`
	Start   source.Duration `yaml:"startTimeout"`
	Stop    source.Duration `yaml:"stopTimeout"`
	Ping    source.Duration `yaml:"ping"`
	Ask     source.Duration `yaml:"askTimeout"`
}

// set sets the durations of a server.
func (t times) set(s *backend.Server) {
	s.Timeout, s.Start, s.Stop = backend.Duration(t.Timeout), backend.Duration(t.Start), backend.Duration(t.Stop)
	s.Ping, s.Ask = backend.Duration(t.Ping), backend.Duration(t.Ask)
}

// ClientEntry is an entry of mcpServers in config.json or .mcp.json: an [Entry] with the further keys of known clients. Each of these is
// mapped, or reported because it has no effect here. Any other key is an error.
type ClientEntry struct {
	OAuth         any `yaml:"oauth"` // Claude Code, Gemini CLI; before Entry, because its keys differ from ours
	Entry         `yaml:",inline"`
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
