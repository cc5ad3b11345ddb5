package node

import (
	"context"
	"errors"
	"os"
	"slices"

	"mycelium/internal/approval"
	"mycelium/internal/config/profiles"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/chat"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/run"
	"mycelium/internal/run/book"
	"mycelium/internal/sandbox/light"
	"mycelium/internal/state"
)

// Runs are the coding agents at work on the project, as their hooks tell of them.
type Runs struct {
	*run.Registry
	gate *gate.Gate
}

func newRuns(n *Node) *Runs {
	files := n.files
	registry := run.New(run.Options{
		Gate: n.gate, Spec: func() session.Spec { return files.View().AgentSession() }, People: atWork{n.chats, n.Approvals},
		Waiting: func() string { return waiting(files.Project()) }, Unanswered: unansweredIn(files.Project()),
		Book: book.Open(n.state.Agents(), n.logger, nil), Queue: n.Approvals.queue, Swarm: swarmed.Progress(n.db),
		Keep: n.keeping, Rate: n.keeping.Rate,
		Shell: &agentshell.Gate{State: func() state.Paths { return files.Project().State },
			Profiles: func() profiles.Section { return files.Project().File.Sandbox },
			Address:  func() string { return files.Project().File.Server.Addr }},
		Wall:    func(session string) (lost, none string) { return light.Of(n.state.Run(session)) },
		Notices: n.chats, Budget: n.judge.budget, Logger: n.logger,
		Denials: &run.Denials{Limits: func() (int, int) { return files.Project().File.Agents.Denials.Limits() }},
	})
	return &Runs{Registry: registry, gate: n.gate}
}

// reach says who can be asked now. Only a daemon has chats and notices.
func (n *Node) reach() approval.Reach {
	return approval.Reach{
		Mode: n.chats.Mode(), Answers: n.Approvals.watchers.Load()+n.Approvals.away.Load() > 0 || n.options.stays() && n.chats.Chat(),
		Notices: n.options.stays() && n.chats.Notices(),
		Near:    n.Approvals.watchers.Load() == 0 && n.chats.Presence() == chat.AtMachine,
	}
}

// atWork are the people as an agent at work finds them: in the mode auto, a chat is for who is not at the machine.
type atWork struct {
	*chat.Chats
	approvals *Approvals
}

// Mode returns who is asked: in the mode auto with a chat or a browser that is told, [run.Away] if nobody is at the machine.
func (p atWork) Mode() approval.Mode {
	mode := p.Chats.Mode()
	if mode == approval.Auto && p.approvals.watchers.Load() == 0 && (p.Chat() || p.approvals.away.Load() > 0) && p.Presence() == chat.Away {
		return run.Away
	}
	return mode
}

// nobody are the people of a hook without a daemon: only the agent's own terminal can ask.
type nobody struct{}

func (nobody) Mode() approval.Mode { return approval.Local }
func (nobody) Chat() bool          { return false }

// errSessionEnded is the failure of an agent whose token has no live session.
var errSessionEnded = errors.New("the session of this agent has ended: its token is not one of a live session")

// answerHook answers one event as an agent wrote it, in the agent's dialect.
func (n *Node) answerHook(ctx context.Context, r hook.Request) (hook.Reply, error) {
	ending := false // somebody was asked when the node ended: the hook asks the next one
	reply := r.Answer(ctx, hook.Command{
		Decide: func(ctx context.Context, e harness.Event) (harness.Answer, error) {
			if e.Kind != harness.Status { // nothing is recorded for it
				n.environs.compare(ctx, e.Agent, e.Session, environOf(r.Env))
			}
			a, err := n.Runs.Answer(ctx, r.Token, e)
			ending = a.Ending
			return a, err
		},
		Note: n.noteDenial,
		Own: func(program string) bool {
			self, err := os.Executable()
			return err == nil && hook.SameProgram(self, program)
		},
	})
	if ending {
		return reply, failure.New(failure.Ending, errors.New("the daemon ended while somebody was asked"), "")
	}
	return reply, nil
}

// environOf returns variables as an environment, sorted.
func environOf(variables map[string]string) []string {
	out := make([]string, 0, len(variables))
	for name, value := range variables {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return hook.Places(out)
}

// noteDenial records a denial of an event that the gate did not see.
func (n *Node) noteDenial(ctx context.Context, e harness.Event, why string) {
	NoteDenial(ctx, n.options.Loader, e, why)
}

// Answer answers one event of an agent's hook. token names the agent's session; "" is the default one. It blocks while somebody is
// asked.
func (r *Runs) Answer(ctx context.Context, token string, e harness.Event) (harness.Answer, error) {
	var s *session.Session
	if token != "" {
		var err error
		if s, err = r.gate.Sessions.Authenticate(ctx, token); err != nil {
			return harness.Answer{}, failure.New(failure.Denied, errSessionEnded, "")
		}
	}
	return r.Event(ctx, s, e), nil
}
