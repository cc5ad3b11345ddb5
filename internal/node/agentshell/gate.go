package agentshell

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/config"
	"mycelium/internal/config/profiles"
	"mycelium/internal/harness"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/policy/box"
	"mycelium/internal/run"
	"mycelium/internal/sandbox"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// Gate hands the commands that were admitted to the shells of agents. It is safe for concurrent use.
type Gate struct {
	State    func() state.Paths
	Profiles func() profiles.Section // the profiles of the sandbox that there are now
	Address  func() string           // at which the gateway listens, or will: no server of a command is reached there

	mu    sync.Mutex
	holds bool // the sandbox was built once
}

// Of is a gate for the agents of one project that does not change.
func Of(p *config.Project) *Gate {
	return &Gate{State: func() state.Paths { return p.State }, Profiles: func() profiles.Section { return p.File.Sandbox },
		Address: func() string { return p.File.Server.Addr }}
}

// Governs reports whether the shell of the agent of an event runs only the commands that are admitted to a session: our program stands before
// it, or in the place of each command.
func (g *Gate) Governs(session string, e harness.Event) bool {
	folder := g.State().Run(session)
	if e.Prefix != "" {
		return e.Prefix == shim.Path(folder)
	}
	n, err := readNote(folder)
	return err == nil && n.Named && n.Agent == e.Agent
}

// Ignores reports whether the agent of an event after a command ran its own command, although ours was to stand in its place.
func (g *Gate) Ignores(session string, e harness.Event, command string) bool {
	if said, own, ok := strings.Cut(command, "\n"); ok && strings.HasPrefix(said, "# ") {
		command = own
	}
	name, ours := strings.CutPrefix(command, harness.ShellWord(shim.Path(g.State().Run(session)))+" ")
	return e.Prefix == "" && (!ours || !isTicket(name)) // a model can write a longer command that begins as ours does
}

// Within is the profile of the sandbox in which the shell of a session runs what no rule has in one; "" if that runs outside.
func (g *Gate) Within(session string) string {
	n, err := readNote(g.State().Run(session))
	if err != nil {
		return "" // nor does its shell run anything
	}
	return n.Within
}

// Unbound says why no sandbox holds on this machine; "" if it holds. Every layer is built once to find out.
func (g *Gate) Unbound(ctx context.Context) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds {
		return ""
	}
	self, err := sandboxed.Self()
	if err != nil {
		return err.Error()
	}
	standard, _ := g.Profiles().Find("standard")
	found := sandbox.Probe(ctx, self, standard.Backend)
	if g.holds = found.Holds; g.holds {
		return ""
	}
	for _, l := range found.Layers {
		if !l.Holds {
			return "the sandbox does not hold on this machine: layer " + string(l.Layer) + "; myc sandbox capabilities says why"
		}
	}
	return "the sandbox does not hold on this machine; myc sandbox capabilities says why"
}

// Admit lets the shell of a session run the command of an event once, in a sandbox with more than that; the zero value is outside. instead
// is the command that the agent has to run in its place; "" if it runs its own.
func (g *Gate) Admit(session string, e harness.Event, command string, where run.Where) (instead string, err error) {
	t, err := g.ticket(e.Dir, where.Box)
	if err != nil {
		return "", err
	}
	t.More, t.Outside, t.Closed = where.More, where.Outside, where.Closed
	folder := g.State().Run(session)
	if e.Prefix == "" {
		return replace(folder, e, command, t)
	}
	return "", leave(folder, command, e.ToolUse, t)
}

// replace leaves the ticket of a command in the folder of a run, and returns the command that takes it.
func replace(folder string, e harness.Event, command string, t Ticket) (string, error) {
	t.Command = command
	call := cmp.Or(e.ToolUse, rand.Text()) // not every agent names its calls
	if err := leave(folder, command, call, t); err != nil {
		return "", err
	}
	run := harness.ShellWord(shim.Path(folder)) + " " + digest(command) + "-" + digest(call)
	agent, _ := harness.Named(e.Agent)
	if agent.KeepsFolder {
		run += ` && cd "$(` + run + " " + whereArg + `)"`
	}
	if agent.ShowsReplaced {
		run = comment(command) + run
	}
	return run, nil
}

// comment is a line for a shell that says which command comes and does nothing.
func comment(command string) string {
	return "# " + text.OneLine(text.TruncateRunes(command, maxComment)) + "\n"
}

// maxComment bounds a command in a comment, in characters. It is the width of a screen: the whole command is in the log.
const maxComment = 160

// ticket is a ticket for a command in a folder and in a sandbox.
func (g *Gate) ticket(dir string, in box.Box) (Ticket, error) {
	t := Ticket{Box: in, Dir: dir, Until: time.Now().Add(ticketFor)}
	if !in.None() {
		p, ok := g.Profiles().Find(in.Profile)
		if !ok || len(p.Masks) > 0 { // no rule names such a profile
			return t, fmt.Errorf("no command of an agent runs in the profile %q of the sandbox", in.Profile)
		}
		more, err := g.Profiles().Granted(in)
		if err != nil {
			return t, err
		}
		t.Walls = p.With(more)
		if _, port, err := net.SplitHostPort(g.Address()); err == nil {
			if n, err := strconv.Atoi(port); err == nil {
				t.ClosedPorts = []int{n}
			}
		}
	}
	return t, nil
}

// Lacked returns what a command lacked when the shell of a session last ran it in a folder in the sandbox.
func (g *Gate) Lacked(session, command, dir string) approval.Lacked {
	return wantOf(g.State().Run(session), command, dir).find(time.Now())
}

// Settle says how the question was answered whether a command gets what it lacked.
func (g *Gate) Settle(session, command, dir string, l approval.Lacked, allowed bool, answer approval.For) error {
	return wantOf(g.State().Run(session), command, dir).settle(l, allowed, answer, time.Now())
}
