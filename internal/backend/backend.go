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

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
	"mycelium/internal/secret"
)

// Limits of time, where the configuration says nothing. Their source is row A17 of the requirements.
const (
	DefaultStart = 30 * time.Second // from the start of a process to the end of its handshake
	DefaultCall  = 60 * time.Second // for the answer to one request
	DefaultStop  = 5 * time.Second  // from the wish to end until the process is killed
)

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
	Definitions []policy.Definition      // sorted by server, kind and name
	Pending     map[string]string        // server → why its catalog is not known
	Templates   []policy.Definition      // resource templates: Item.Kind Resource, Name the URI template
	Skills      []pin.Served             // that servers serve; by server
	Held        []pin.Held               // in quarantine; sorted as Definitions are
	Servers     map[string]catalog.About // of each server outside of this process whose catalog is known
}
