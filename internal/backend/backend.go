// Package backend runs the MCP servers behind us: it starts them when they are needed, learns and keeps their catalogs, and
// carries raw requests to them and raw answers back.
//
// A [Pool] holds one entry per configured server. An entry starts its server at the first need, one attempt at a time, speaks
// the protocol revision that the server knows, and keeps what it learned as a file, so that a process that starts later lists
// tools without starting anything. Results are found in the answer and passed on byte for byte; they are never decoded.
//
// On Linux the processes of stdio servers are children of a keeper process ([RunKeeper]), which ends them and everything that they
// started when the owner of the pool goes, however it goes.
package backend

import (
	"context"
	"log/slog"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/secret"
)

// Limits of time, where the configuration says nothing. Their source is row A17 of the requirements.
const (
	DefaultStart = 30 * time.Second // from the start of a process to the end of its handshake
	DefaultCall  = 60 * time.Second // for the answer to one request
	DefaultStop  = 5 * time.Second  // from the wish to end until the process is killed
)

// maxAnswer bounds one message of a server, in bytes. It is four times what a client may send us, because results carry
// files and pictures in base64 while requests name them; more than that at once would be held in memory twice per call.
const maxAnswer = 4 * rpc.MaxMessage

// Server is one entry of mcpServers.
type Server struct {
	Name     string            `yaml:"-" json:"name,omitempty"`
	Type     string            `yaml:"type" json:"type,omitempty"` // stdio (default with command), http (default with url), sse
	Command  string            `yaml:"command" json:"command,omitempty"`
	Args     []string          `yaml:"args" json:"args,omitempty"`
	Env      map[string]string `yaml:"env" json:"env,omitempty"`
	Cwd      string            `yaml:"cwd" json:"cwd,omitempty"`
	URL      string            `yaml:"url" json:"url,omitempty"`
	Headers  map[string]string `yaml:"headers" json:"headers,omitempty"`
	OAuth    *OAuth            `yaml:"oauth" json:"oauth,omitempty"` // of a server with a URL; nil: where it wants tokens, a person gets them
	Builtin  string            `yaml:"builtin" json:"builtin,omitempty"`
	Timeout  Duration          `yaml:"timeout" json:"timeout,omitzero"`           // of a call; 0: 60 s
	Start    Duration          `yaml:"startTimeout" json:"startTimeout,omitzero"` // 0: 30 s
	Stop     Duration          `yaml:"stopTimeout" json:"stopTimeout,omitzero"`   // 0: 5 s
	Ask      Duration          `yaml:"askTimeout" json:"askTimeout,omitzero"`     // for a client's answer to a question of the server; 0: 10 min
	Ping     Duration          `yaml:"ping" json:"ping,omitzero"`                 // silence after which it is asked whether it is there; 0: 60 s
	Trust    bool              `yaml:"trust" json:"trust,omitempty"`              // believe its annotations
	Category string            `yaml:"category" json:"category,omitempty"`
	Disabled bool              `yaml:"disabled" json:"disabled,omitempty"`

	Concurrency int `yaml:"concurrency" json:"concurrency,omitzero"` // calls at work at once; 0: 128
	Queue       int `yaml:"queue" json:"queue,omitzero"`             // calls that wait for their turn; 0: 1024
	// Additions says what becomes of items that a server did not have at first use: "trust" (the default: as at first use) or "quarantine".
	Additions string `yaml:"additions" json:"additions,omitempty"`
	Shared    bool   `yaml:"-" json:"-"` // it stands in the user's own files: its tokens are good in every project of theirs
}

// Peer is the client of one call: what a server says and asks while it is at work on that call goes there. The methods are
// safe for concurrent use until the call has returned.
//
// It is an alias, so that it is one type with the gate.Peer of the same shape: the two rooms do not import each other.
type Peer = interface {
	// Capabilities are those that the client declared, a raw JSON object; nil: none. What it did not declare it is not asked.
	Capabilities() []byte
	// Notify passes a progress notification, a log line or a notification of an extension on. It never waits. params carry the
	// client's own progress token. It may still be called when the call has returned, for what outlives a call
	// (notifications/elicitation/complete, and those of a task); a client that is gone then is told nothing.
	Notify(method string, params []byte)
	// Ask passes a request of the server on (elicitation/create, sampling/createMessage, roots/list) and waits for the client's
	// answer, the raw result or the raw error object. err: nobody can be asked, the client is gone, or ctx ended.
	Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error)
}

// Builtin is a server in this process. It gets the caller's scope with each request.
type Builtin interface {
	Definitions() []policy.Definition
	Do(ctx context.Context, scope policy.Scope, method string, params []byte, notify func(method string, params []byte)) (result, rpcErr []byte, err error)
}

// Options of a pool.
type Options struct {
	Dir      string             // the project folder: working directory of servers
	Catalogs string             // folder where learned catalogs are kept (.mycelium/catalog); empty: they are not kept
	Logs     string             // folder where the stderr of servers is kept (.mycelium/log); empty: it is not
	Pins     string             // folder where accepted definitions are kept, outside of the project; empty: they live as long as the pool
	Tokens   string             // folder where tokens for servers are kept, outside of every project; empty: they end with the process
	Builtins map[string]Builtin // by server name
	Secrets  *secret.Store      // where ${secret:NAME} is looked for; nil: in the environment only
	Environ  []string           // what ${VAR} expands from, and what the allow-list takes from; nil: os.Environ()
	Keeper   []string           // argument vector that starts the keeper process (`myc keeper`); empty: servers are our own children
	Version  string             // of the program, told to servers; empty: "dev"
	Logger   *slog.Logger       // nil: discard
}

// Catalog is what the servers offer. The snapshot is shared: do not modify it.
type Catalog struct {
	Definitions []policy.Definition // sorted by server, kind and name
	Pending     map[string]string   // server → why its catalog is not known
	Templates   []policy.Definition // resource templates: Item.Kind Resource, Name the URI template
	Skills      []Served            // that servers serve; by server
	Held        []Held              // in quarantine; sorted as Definitions are
	Servers     map[string]About    // of each server outside of this process whose catalog is known
}

// About is what a server said of itself when it was last asked. It is kept with the learned catalog, so that it is known before
// the server runs. Nothing in it is checked but that it is JSON.
type About struct {
	Version      string // the protocol revision that was agreed on
	Capabilities []byte // raw JSON object, byte for byte; nil: it declared none
	Instructions string
	Info         []byte // its name and version (serverInfo), raw JSON object; nil: it said nothing
}

// Declares reports whether the server declared a capability: Declares("resources", "subscribe"), Declares("extensions",
// "io.modelcontextprotocol/tasks"). A member that is false or null counts as not declared.
func (s About) Declares(path ...string) bool {
	v := rawjson.Path(s.Capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}
