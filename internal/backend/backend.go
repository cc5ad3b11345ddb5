// Package backend runs the MCP servers behind us: it starts them when they are needed, learns and keeps their catalogs, and passes raw
// requests to them and raw answers back.
//
// A [Pool] holds one entry per configured server. An entry starts its server at the first need, one attempt at a time, and keeps the
// catalog of the server in a file, so that a later process lists tools without starting any server. It protects callers from a server
// that fails: by a queue, a circuit breaker, backoff between starts, and pings. Results are passed on byte for byte and never decoded.
//
// The parts have packages of their own: a connection (mcpclient), authorization (oauth), the offers of a server (catalog), accepted
// definitions and quarantine (pin), secrets in texts (redact), and the stderr of servers (serverlog).
package backend

import (
	"context"
	"log/slog"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/secret"
)

// Time limits, if the configuration sets no others. Their source is row A17 of the requirements.
const (
	DefaultStart = 30 * time.Second // from the start of a process to the end of its handshake
	DefaultCall  = 60 * time.Second // for the answer to one request
	DefaultStop  = 5 * time.Second  // from the decision to stop a process until it is killed
)

// Builtin is a server in this process. It gets the scope of the caller with each request.
type Builtin interface {
	Definitions() []policy.Definition
	Do(
		ctx context.Context, scope policy.Scope, method string, params []byte, notify func(method string, params []byte),
	) (result, rpcErr []byte, err error)
}

// Options of a pool.
type Options struct {
	Dir      string             // the project folder: working directory of servers
	Catalogs string             // folder of the learned catalogs; empty: they are not kept
	Logs     string             // folder for the stderr of servers; empty: it is not kept
	Pins     string             // folder of the accepted definitions, outside of the project; empty: they end with the pool
	Tokens   string             // folder of the tokens for servers, outside of every project; empty: they end with the process
	Builtins map[string]Builtin // by server name
	Secrets  *secret.Store      // source of ${secret:NAME}; nil: the environment only
	Environ  []string           // source of ${VAR} and of inherited variables; nil: os.Environ()
	Keeper   []string           // argument vector that starts the keeper process (`myc keeper`); empty: servers are our own children
	Keepers  string             // folder of the notes of keepers, by which the next pool finds what a killed one left; empty: it does not
	MayStart func(Server) error // says why a server may not be started now; nil: each may
	Confine  Confine            // how a server is started in the sandbox; nil: there is none, and such a server is not started
	Version  string             // of the program, told to servers; empty: "dev"
	Memory   *rpc.Memory        // for the answers of servers; nil: no bound but that of each answer
	Logger   *slog.Logger       // nil: discard
}

// Catalog is what the servers offer. The snapshot is shared: do not modify it.
type Catalog struct {
	Definitions []policy.Definition      // sorted by server, kind and name
	Pending     map[string]string        // server → why its catalog is not known
	Learning    map[string]time.Duration // those of Pending that are tried for the first time → how long that may take
	Templates   []policy.Definition      // resource templates: Item.Kind Resource, Name the URI template
	Skills      []pin.Served             // served by servers; sorted by server
	Held        []pin.Held               // in quarantine; sorted like Definitions
	Servers     map[string]catalog.About // what each server outside of this process said of itself, if its catalog is known
}
