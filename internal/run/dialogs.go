package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/gate"
	"mycelium/internal/harness"
	"mycelium/internal/policy/sign"
	"mycelium/internal/run/pane"
	"mycelium/internal/tmux"
)

// dialog is a question that an agent's own terminal asks its person, or may be about to ask.
type dialog struct {
	toolUse, call string // the call: the agent's id of it, and callKey
	agentID       string
	tool          string
	input         jsontext.Value
	request       *approval.Request // what it asks for us; nil: the agent may ask for reasons of its own
	settling      bool              // an answer is being typed
	why           string            // who answered it from elsewhere, and how; "": nobody yet
	label         string            // who, for people
}

// opens notes that the agent's own terminal may ask its person about a call from now on. q is what it asks for us, or nil; opens returns it
// with an id.
func (g *Registry) opens(r *run, e harness.Event, q *approval.Request) *approval.Request {
	agent, _ := harness.Named(e.Agent)
	if !e.Interactive || !agent.TellsOutcome() {
		return nil
	}
	d := dialog{toolUse: e.ToolUse, call: callKey(e), agentID: e.AgentID, tool: e.Tool, input: e.Input}
	if q != nil {
		r := *q
		r.ID, r.State, r.Created = approval.TerminalPrefix+r.Call, approval.Pending, g.Now()
		d.request = &r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.dialogs, d.same) {
		r.dialogs = lastOf(append(r.dialogs, d), maxCalls)
	}
	return d.request
}

// same reports whether two dialogs are about one call. Not every event names the call.
func (d dialog) same(o dialog) bool {
	return d.toolUse != "" && d.toolUse == o.toolUse || (d.toolUse == "" || o.toolUse == "") && d.call == o.call
}

// closeDialogs forgets the questions that an event shows to be over: that of a call that has ended, and those of an agent whose turn is. It
// returns the question about the call that has ended.
func (r *run) closeDialogs(e harness.Event) (over dialog) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == harness.PostTool {
		if i := slices.IndexFunc(r.dialogs, dialog{toolUse: e.ToolUse, call: callKey(e)}.same); i >= 0 {
			over = r.dialogs[i]
		}
	}
	r.dialogs = slices.DeleteFunc(r.dialogs, func(d dialog) bool {
		switch {
		case e.Kind == harness.PostTool:
			return d.why == "" && d.same(dialog{toolUse: e.ToolUse, call: callKey(e)}) // who answered is still to be recorded
		case turnIsOver(e):
			return d.why == "" && (e.Kind == harness.SessionEnd || d.agentID == e.AgentID)
		}
		return false
	})
	return over
}

// answeredBy returns who answered a question of the agent's own terminal from elsewhere, and how; "" if nobody did. It forgets the question.
func (r *run) answeredBy(toolUse string) (why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialogs = slices.DeleteFunc(r.dialogs, func(d dialog) bool {
		if toolUse == "" || d.toolUse != toolUse {
			return false
		}
		why = d.why
		return true
	})
	return why
}

// openDialogs returns the questions of a run that are not known to be answered. One that was answered at the terminal has a result in the
// transcript, also where no event tells of it.
func (r *run) openDialogs() []dialog {
	t := r.transcribed().RunTranscript()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialogs = slices.DeleteFunc(r.dialogs, func(d dialog) bool { return d.why == "" && !d.settling && d.agentID == "" && t.HasResult(d.toolUse) })
	return slices.DeleteFunc(slices.Clone(r.dialogs), func(d dialog) bool { return d.why != "" })
}

// panes keeps the answers to events of an agent back while something is typed into its terminal. The zero value is ready.
type panes struct {
	mu   sync.Mutex
	held map[[2]string]chan struct{} // full while somebody types
}

// hold waits until nobody types into a pane of a tmux server, and keeps others from it until release is called.
func (p *panes) hold(server, pane string) (release func()) {
	if pane == "" {
		return func() {}
	}
	key := [2]string{approval.SocketOf(server), pane}
	p.mu.Lock()
	if p.held == nil {
		p.held = map[[2]string]chan struct{}{}
	}
	one := p.held[key]
	if one == nil {
		one = make(chan struct{}, 1)
		p.held[key] = one
	}
	p.mu.Unlock()
	one <- struct{}{}
	return func() { <-one }
}

// at returns the runs in the pane of a session.
func (g *Registry) at(s approval.AgentSession) (out []*run) {
	for _, r := range g.all() {
		if v := r.view(); v.Pane == s.Pane && approval.SocketOf(v.Tmux) == approval.SocketOf(s.Tmux) {
			out = append(out, r)
		}
	}
	return out
}

// paneOf returns the pane of a session.
func (g *Registry) paneOf(s approval.AgentSession) *pane.Pane {
	p := pane.Of(tmux.At(s.Tmux), s.Pane, cmp.Or(s.Agent, "claude")) // an unknown program of Node may be one
	if len(g.at(s)) > 0 {
		p.Asks = func() string { return g.asksAt(s) }
	}
	return p
}

// asksAt says which question of the agents in the pane of a session is open; "": none.
func (g *Registry) asksAt(s approval.AgentSession) string {
	for _, r := range g.at(s) {
		if r.waitsInQueue() {
			return "a call of it waits for an answer"
		}
		for _, d := range r.openDialogs() {
			if d.request != nil {
				return "its own terminal asks about " + d.tool
			}
			return "its own terminal may ask about " + d.tool
		}
	}
	return ""
}

func (r *run) waitsInQueue() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting > 0
}

// Type types a text into the terminal of a session as a prompt. A [pane.NotNowError] says why that is not possible now. Until Type returns,
// no event of the agent is answered, so that the agent opens no dialog meanwhile.
func (g *Registry) Type(ctx context.Context, s approval.AgentSession, text string) error {
	defer g.panes.hold(s.Tmux, s.Pane)()
	return g.paneOf(s).Type(ctx, text)
}

// Question returns what an agent's own terminal asks, by its id. ok is false if the question is over, or not known.
func (g *Registry) Question(id string) (q approval.Request, s approval.AgentSession, ok bool) {
	for _, r := range g.all() {
		for _, d := range r.openDialogs() {
			if d.request != nil && d.request.ID == id {
				return *d.request, r.view(), true
			}
		}
	}
	return q, s, false
}

// errOver is the error for an answer to a question that is over.
var errOver = errors.New("that question is over, or not known any more: nothing was chosen")

// AnswerThere answers a question of an agent's own terminal by the keys of its dialog, and says what was chosen. The first answer wins. told
// reports whether the words of a refusal were given to the agent. The log says who answered, and how.
func (g *Registry) AnswerThere(ctx context.Context, id string, a approval.Answer, second sign.Sign) (did string, told bool, err error) {
	if q, _, ok := g.Question(id); ok && a.Allow {
		if err := q.Demand().Check(second); err != nil {
			return "", false, err
		}
	}
	r, d, err := g.claim(id)
	if err != nil {
		return "", false, err
	}
	s := r.view()
	defer g.panes.hold(s.Tmux, s.Pane)()
	p := g.paneOf(s)
	option, told, err := p.Answer(ctx, func(on harness.Dialog) error { return g.agrees(s, d, p.Agent, on) },
		pane.Reply{Allow: a.Allow, Words: a.Text})
	if errors.Is(err, pane.ErrNoDialog) {
		err = fmt.Errorf("%w: nothing was chosen", err)
	}
	why := ""
	if err == nil {
		verb := "not approved"
		if a.Allow {
			verb = "approved"
		}
		why = fmt.Sprintf("%s by %s via %s, for whom “%s” was chosen in the agent's own dialog", verb, a.By, a.Via, option)
		if told {
			why += ", with words for the agent"
		}
	}
	r.settled(d, why, a.Name())
	if err != nil {
		g.Logger.Warn("an answer to an agent's own dialog did not reach it", "agent", s.Agent, "tool", d.tool, "by", a.By, "error", err)
		return "", false, err
	}
	g.Logger.Info("an agent's own dialog was answered", "agent", s.Agent, "session", s.ID, "tool", d.tool, "by", a.By, "via", a.Via,
		"option", option)
	if !a.Allow {
		if _, err := g.Gate.Finish(context.WithoutCancel(ctx), r.gateSession(),
			gate.Late{ToolUse: d.toolUse, Tool: d.tool, Surface: Surface, Refused: true, Why: why}); err != nil {
			g.Logger.Error("a refusal at the agent's own terminal is not in the audit log", "agent", s.Agent, "tool", d.tool, "error", err)
		}
		r.answeredBy(d.toolUse)
	}
	return option, told, nil
}

// claim reserves an open question for one answer.
func (g *Registry) claim(id string) (*run, dialog, error) {
	for _, r := range g.all() {
		r.openDialogs()
		r.mu.Lock()
		for i, d := range r.dialogs {
			if d.request == nil || d.request.ID != id {
				continue
			}
			var err error
			switch {
			case d.settling:
				err = errors.New("somebody else's answer is being given: nothing was chosen")
			case d.why != "":
				err = errors.New("it was answered by " + d.label + " already: nothing was chosen")
			default:
				r.dialogs[i].settling = true
			}
			r.mu.Unlock()
			return r, d, err
		}
		r.mu.Unlock()
	}
	return nil, dialog{}, errOver
}

// answering reports whether an answer is being typed.
func (r *run) answering() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.dialogs, func(d dialog) bool { return d.settling })
}

// settled ends a claim. why is empty if the question was not answered.
func (r *run) settled(d dialog, why, label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.dialogs {
		if r.dialogs[i].same(d) {
			r.dialogs[i].settling, r.dialogs[i].why, r.dialogs[i].label = false, why, label
		}
	}
}

// agrees returns an error unless the dialog on the screen is about the call of d: it shows what that call would do, and nothing more that
// another open question of this terminal would do.
func (g *Registry) agrees(s approval.AgentSession, d dialog, agent harness.Agent, on harness.Dialog) error {
	mine := agent.ShownOf(d.tool, d.input)
	if !on.Mentions(mine) {
		return errors.New("its screen does not show this call, but something else that it asks: nothing was chosen")
	}
	for _, r := range g.at(s) {
		for _, o := range r.openDialogs() {
			if other := agent.ShownOf(o.tool, o.input); !o.same(d) && len(other) > len(mine) && strings.Contains(other, mine) && on.Mentions(other) {
				return errors.New("another question of it is on its screen: nothing was chosen")
			}
		}
	}
	return nil
}
