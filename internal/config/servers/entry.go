package servers

import (
	"mycelium/internal/backend"
	"mycelium/internal/config/source"
)

// Entry is an entry of mcpServers in mycelium.yaml.
type Entry struct {
	times          `yaml:",inline"` // before Server, because the first field with a name takes the key
	Bare           bool             `yaml:"bare" about:"its tools keep their own names, without the server's before them"`
	backend.Server `yaml:",inline"`
}

// times are the durations of an entry.
type times struct {
	Timeout source.Duration `yaml:"timeout" about:"of a call; absent: 60s"`
	Start   source.Duration `yaml:"startTimeout" about:"from the start of its process to the end of its handshake; absent: 30s"`
	Stop    source.Duration `yaml:"stopTimeout" about:"from the decision to stop it until it is killed; absent: 5s"`
	Ping    source.Duration `yaml:"ping" about:"silence after which it is pinged; absent: 60s"`
	Ask     source.Duration `yaml:"askTimeout" about:"for a client's answer to a question of the server; absent: 10m"`
}

// set sets the durations of a server.
func (t times) set(s *backend.Server) {
	s.Timeout, s.Start, s.Stop = backend.Duration(t.Timeout), backend.Duration(t.Start), backend.Duration(t.Stop)
	s.Ping, s.Ask = backend.Duration(t.Ping), backend.Duration(t.Ask)
}

// ClientEntry is an entry of mcpServers in config.json or .mcp.json: an [Entry] with the further keys of known clients. Each of these is
// mapped, or reported because it has no effect here. Any other key is an error.
type ClientEntry struct {
	OAuth         any `yaml:"oauth" about:"Claude Code, Gemini CLI; before Entry, because its keys differ from ours"`
	Entry         `yaml:",inline"`
	Enabled       *bool    `yaml:"enabled" about:"the opposite of disabled"`
	HTTPURL       string   `yaml:"httpUrl" about:"Gemini CLI's url of a Streamable HTTP server"`
	ServerURL     string   `yaml:"serverUrl" about:"Windsurf's"`
	HeadersHelper string   `yaml:"headersHelper" about:"Claude Code: a command that prints headers"`
	EnvFile       string   `yaml:"envFile" about:"VS Code, Cursor"`
	AlwaysLoad    *bool    `yaml:"alwaysLoad" about:"Claude Code: no deferred loading of the tools; has no meaning here"`
	AlwaysAllow   any      `yaml:"alwaysAllow" about:"Cline, Roo"`
	AutoApprove   any      `yaml:"autoApprove" about:"Cline, Kiro"`
	IncludeTools  []string `yaml:"includeTools" about:"Gemini CLI"`
	ExcludeTools  []string `yaml:"excludeTools" about:"Gemini CLI"`
	Description   string   `yaml:"description"`
	Note          string   `yaml:"note"`
}
