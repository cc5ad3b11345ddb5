package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend/oauth"
)

// Server is one entry of mcpServers.
type Server struct {
	Name     string            `yaml:"-" json:"name,omitempty"`
	Type     string            `yaml:"type" json:"type,omitempty" about:"stdio (default with command), http (default with url), sse"`
	Command  string            `yaml:"command" json:"command,omitempty" about:"the program that is started"`
	Args     []string          `yaml:"args" json:"args,omitempty" about:"its arguments"`
	Env      map[string]string `yaml:"env" json:"env,omitempty" about:"variables of its environment; ${VAR} and ${secret:NAME} are replaced"`
	Cwd      string            `yaml:"cwd" json:"cwd,omitempty" about:"its working directory; absent: the project"`
	Data     []string          `yaml:"data" json:"data,omitempty" about:"files and folders that the server writes, which govern nothing; paths as in args"`
	URL      string            `yaml:"url" json:"url,omitempty" about:"its address, for a server over HTTP"`
	Headers  map[string]string `yaml:"headers" json:"headers,omitempty" about:"sent with each request; ${VAR} and ${secret:NAME} are replaced"`
	OAuth    *oauth.Config     `yaml:"oauth" json:"oauth,omitempty" about:"of a server with a URL; absent: a person logs in if needed"`
	Builtin  string            `yaml:"builtin" json:"builtin,omitempty" about:"the server of the program that this is, as files"`
	Timeout  Duration          `yaml:"timeout" json:"timeout,omitzero" about:"of a call; 0: 60 s"`
	Start    Duration          `yaml:"startTimeout" json:"startTimeout,omitzero" about:"0: 30 s"`
	Stop     Duration          `yaml:"stopTimeout" json:"stopTimeout,omitzero" about:"0: 5 s"`
	Ask      Duration          `yaml:"askTimeout" json:"askTimeout,omitzero" about:"for a client's answer to a question; 0: 10 min"`
	Ping     Duration          `yaml:"ping" json:"ping,omitzero" about:"silence after which the server is pinged; 0: 60 s"`
	Legacy   bool              `yaml:"legacy" json:"legacy,omitempty" about:"begin with initialize, whatever else it knows"`
	Trust    bool              `yaml:"trust" json:"trust,omitempty" about:"believe the server's annotations"`
	Category string            `yaml:"category" json:"category,omitempty" about:"the group in which people find its tools"`
	Disabled bool              `yaml:"disabled" json:"disabled,omitempty" about:"it is not started, and has no tools"`

	Concurrency int    `yaml:"concurrency" json:"concurrency,omitzero" about:"calls at work at once; 0: 128"`
	Queue       int    `yaml:"queue" json:"queue,omitzero" about:"calls that wait; 0: 1024"`
	Sandbox     string `yaml:"sandbox" json:"sandbox,omitempty" about:"the profile with which the server runs; empty: it may do what its user may"`
	// Walls is that profile as the sandbox reads it: where it changes, the server is started anew. Empty: the shipped profile of that name.
	Walls     string `yaml:"-" json:"-"`
	Additions string `yaml:"additions" json:"additions,omitempty" about:"what becomes of tools that the server did not have at first use; absent: trust"`
	Shared    bool   `yaml:"-" json:"-"` // it stands in the user's own files: its tokens are valid in all projects of the user
}

// isServerName reports whether s matches [a-z0-9][a-z0-9-]* and has at most 64 bytes: it is also a file name.
func isServerName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if plain := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'; !plain && (c != '-' || i == 0) {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}

// typeSSE is the type of a server that speaks the HTTP transport of 2024.
const typeSSE = "sse"

// isHTTP reports whether the server is reached over HTTP. The aliases are the spellings of other clients' configurations.
func (s *Server) isHTTP() bool {
	switch s.Type {
	case "http", "streamable-http", "streamableHttp", "streamable_http", typeSSE:
		return true
	case "":
		return s.Command == "" && s.URL != ""
	}
	return false
}

// check checks an entry without the environment.
func (s *Server) check() error {
	switch {
	case s.Builtin != "":
		return fmt.Errorf("there is no built-in server %q", s.Builtin)
	case s.isHTTP() && s.URL == "":
		return fmt.Errorf("type %s needs a url", s.Type)
	case s.isHTTP():
		return nil
	case s.Type != "" && s.Type != "stdio":
		return fmt.Errorf("unknown type %q: write stdio, http or sse", s.Type)
	case s.Command == "":
		return errors.New("neither command nor url")
	}
	return nil
}

// digest identifies a server by what is started or called. The texts are not expanded, so that the digest depends on no secret of the
// environment. A stored catalog is valid for the digest that it was learned with.
func (s *Server) digest() string {
	b, err := json.Marshal(Server{
		Name: s.Name, Type: s.Type, Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers, OAuth: s.OAuth,
		Legacy: s.Legacy, Sandbox: s.Sandbox,
	}, json.Deterministic(true))
	if err != nil { // not UTF-8: the entry has no stored catalog
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
