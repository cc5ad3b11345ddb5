// Package tools is the built-in server mycelium-swarm: the tools with which an agent plans a session of the swarm, has its features worked
// on, and looks at what becomes of them. They are one table ([rows]). Each is granted, decided and recorded at the door as every other
// tool, and calls the same operations as the commands of a person ([mycelium/internal/swarm/ops]).
//
// No tool does what is a person's: none lets a governing change land, and none moves the person's branch. A worker never sees them (see
// [guard.Prefix]).
package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
	guard "mycelium/internal/policy/worker"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/text"
	"mycelium/internal/worktree"
)

// Host is the project that a server works for.
type Host struct {
	Ops    func(by string) (ops.Ops, error)
	Policy func() *policy.Policy                                      // in force
	Role   func() string                                              // of workers, if a plan names none
	Drive  func(ctx context.Context, principal, session string) error // has a session driven, if nobody drives it
	Verify ops.Verified                                               // in the sandbox
	Rights func() planning.Rights                                     // what the policy in force gives the workers
	// Governs reports whether a path from the top of the repository is of a file that governs agents; prefix is the project's folder there.
	Governs func(prefix, path string) bool
}

// Server is the built-in server. It is safe for concurrent use. Until Open is called its tools are defined, and each fails.
type Server struct {
	host  atomic.Pointer[Host]
	tools *builtin.Table[*Server]
}

// NewServer makes the server.
func NewServer() (*Server, error) {
	definitions, funcs, err := table()
	if err != nil {
		return nil, err
	}
	tools, err := builtin.Parse(guard.Server, definitions, funcs)
	if err != nil {
		return nil, err
	}
	return &Server{tools: tools}, nil
}

// Open gives the server its project.
func (s *Server) Open(h Host) { s.host.Store(&h) }

// Definitions returns the tools. The caller must not change them.
func (s *Server) Definitions() []policy.Definition { return s.tools.Definitions() }

// Do answers an MCP request as [builtin.Table.Do] does.
func (s *Server) Do(ctx context.Context, scope policy.Scope, method string, params []byte, _ func(method string, params []byte)) (result,
	rpcErr []byte, err error) {
	return s.tools.Do(ctx, s, scope, method, params)
}

// call is what a call of a tool works with.
type call struct {
	ops.Ops
	host  *Host
	scope policy.Scope
}

// enter opens the swarm for a call. A worker is refused here too, whatever it sees.
func (s *Server) enter(scope policy.Scope) (*call, error) {
	h := s.host.Load()
	switch {
	case h == nil:
		return nil, errors.New("the swarm is worked on by the daemon of the project, and this process is none")
	case scope.Principal.Role == "":
		return nil, errors.New("this session has no role")
	case guard.Is(scope.Principal.ID):
		return nil, errors.New("a worker starts no swarm")
	}
	o, err := h.Ops("an agent (role " + scope.Principal.Role + ")")
	return &call{o, h, scope}, err
}

// here refuses a folder that is not the project of the session.
func (c *call) here(dir string) error {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) || worktree.Main(resolved, c.Workers()) != c.Dir {
		return text.Hinted(errors.New("projectDir is not the project of this session"), "it is "+c.Dir)
	}
	return nil
}

// session is the session that is open, else the last one.
func (c *call) session(ctx context.Context) (*book.Session, error) {
	s, err := c.Current(ctx)
	if absent := (*book.AbsentError)(nil); errors.As(err, &absent) {
		return nil, text.Hinted(err, "orchestrator_init begins one")
	}
	return s, err
}

// mayGive refuses a feature whose worker would have a role that this session may not give to others: it may give its own, and those that
// its role may start (mayStart), as for sub-agents.
func (c *call) mayGive(s *book.Session, f *book.Feature) error {
	return c.mayStart("feature "+f.ID, planning.RoleOf(s, f))
}

// mayStart refuses a worker with a role that this session may not give to others. what is for that worker.
func (c *call) mayStart(what, role string) error {
	if slices.Contains(c.gives(), role) {
		return nil
	}
	return text.Hinted(fmt.Errorf("%s is for a worker with the role %q, which this session may not start", what, role),
		"a person starts it (myc swarm auto), or adds mayStart to the role of this session")
}

// feature is a feature whose worker this session may start. What such a worker is told, and when it works, is for this session to say.
func (c *call) feature(ctx context.Context, id string) (*book.Session, *book.Feature, error) {
	s, err := c.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	f, err := ops.Find(s, id)
	if err == nil {
		err = c.mayGive(s, f)
	}
	return s, f, err
}

// gives are the roles that this session may give to workers.
func (c *call) gives() []string {
	own := c.scope.Principal.Role
	v, ok := c.host.Policy().Role(own)
	if !ok {
		return nil
	}
	return append([]string{v.ID, own}, v.MayStart...)
}

// drive has a session driven, if nobody drives it. A driver starts every feature that is due, so it is refused where a worker would have a
// role that this session may not give.
func (c *call) drive(ctx context.Context, id string) error {
	if driven, err := c.Driven(ctx, id); err != nil || driven {
		return err
	}
	s, err := c.Read(ctx, id)
	if err != nil {
		return err
	}
	for _, f := range s.Features {
		if s.State == book.Going && f.State == book.Pending && (!s.Settings.Manual || !f.Wanted.IsZero()) {
			if err := c.mayGive(s, f); err != nil {
				return err
			}
		}
	}
	return c.host.Drive(ctx, c.scope.Principal.ID, id)
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 32 << 10

// answer is an answer of one text.
func answer(said string) builtin.Answer {
	return builtin.Answer{Content: []builtin.Block{builtin.TextBlock(text.Middle(text.Visible(said), maxAnswer))}}
}

// jsonText is a value as JSON, for the formats that are read by programs.
func jsonText(v any) (string, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	return string(b), err
}
