package gate

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// decide reads the arguments, makes the facts and asks the policy. A panic on the way is a denial.
func (a *Admission) decide(ctx context.Context) (d policy.Decision) {
	defer func() {
		if p := recover(); p != nil {
			a.gate.logger.Error("a decision panicked", "call", a.id, "tool", a.Item.String(), "panic", p, "stack", string(debug.Stack()))
			d = policy.Decision{Rule: "fault", Reason: "This call could not be decided, so it does not run. The operator's log says why."}
		}
	}()
	var err error
	lost := a.gate.lost(a.caller.Scope.Folder)
	if lost == "" {
		a.args, a.facts, err = a.read()
	}
	if lost != "" || err != nil {
		// A hidden item answers like an absent one, whatever its arguments. The policy says why it is hidden, for the log.
		if d := decideAs(a.caller, policy.Call{Item: a.Item, Time: a.began}); d.Unknown {
			return d
		}
		if lost != "" {
			return policy.Decision{Rule: "session", Reason: lost}
		}
		return policy.Decision{Rule: "arguments", Reason: "The arguments are not valid: " + err.Error()}
	}
	a.facts.Walls = a.walls(ctx)
	c := policy.Call{Item: a.Item, Args: a.args, Facts: a.facts, Time: a.began}
	if a.Abstains && a.caller.Scope.Only == "" && a.caller.Scope.Folder == "" && undecided(a.caller, c) {
		a.abstained, a.decidedBy = true, byAgent
		return policy.Decision{Effect: policy.Allow, Reason: "no rule decides: the agent's own permissions hold"}
	}
	d = decideAs(a.within(), c)
	if a.lacked.Allowed = d.Without == policy.Allow; d.Without == policy.Deny {
		a.lacked = approval.Lacked{}
	}
	return d
}

// within is the caller whose commands run in the sandbox of the request and nowhere else, if the request names one.
func (a *Admission) within() *session.Snapshot {
	if a.Within == "" {
		return a.caller
	}
	return a.caller.Within(a.Within)
}

// elsewhere is why a call that no shell of ours runs cannot be held by a sandbox.
const elsewhere = "only commands of an agent that Mycelium starts run in the sandbox: myc claude, myc codex or myc gemini"

// walls finds out whether a sandbox can hold the call, and what it lacked there before. It looks only where the policy may want one.
func (a *Admission) walls(ctx context.Context) (w policy.Walls) {
	a.lacked = approval.Lacked{}
	scope := a.caller.Scope
	scope.Profile = a.Within
	switch {
	case !a.caller.Boxes(&scope):
		return w
	case a.Unbound == nil:
		return policy.Walls{No: elsewhere}
	}
	if w.No = a.Unbound(ctx, policy.Allow); w.No == "" {
		w.Asked = a.Unbound(ctx, policy.Ask)
	}
	if a.Request.Lacked != nil {
		if l := a.Request.Lacked(); l.Any() {
			a.lacked, w.Lacked, w.Profile = l, l.String(), l.Profile
		}
	}
	return w
}

// byAgent says in the log that the agent decided, because the policy had no opinion.
const byAgent = "agent"

// undecided reports whether no rule denies or asks, and about some part of the call only the fallback would decide: for the caller, or for
// what is above it.
func undecided(sc *session.Snapshot, c policy.Call) bool {
	left := false
	for ; sc != nil; sc = sc.Parent {
		c.Scope = sc.Scope
		effect, rest := sc.World.Policy.Explain(c).WithoutFallback()
		if effect != policy.Allow {
			return false
		}
		left = left || rest
	}
	return left
}

// decideAs asks the policy, and holds the answer to where the servers of the session work.
func decideAs(sc *session.Snapshot, c policy.Call) policy.Decision {
	d := decideBelow(sc, c)
	keep(sc, c, &d)
	return d
}

// decideBelow asks the policy. A call of a child is also decided as what is above the child, with the skills that are active there, and
// the strictest answer stands: the policy itself assumes that every skill open to a parent is active.
func decideBelow(sc *session.Snapshot, c policy.Call) policy.Decision {
	c.Scope = sc.Scope
	d := sc.World.Policy.Decide(c)
	if sc.Parent == nil || d.Unknown {
		return d
	}
	above := decideBelow(sc.Parent, c)
	guard := d.Guard.And(above.Guard)
	if above.Unknown {
		return above
	}
	if above.Effect < d.Effect {
		d, above = above, d
	} else {
		d.Guard = guard
	}
	sc.World.Policy.Confine(&d, above.Sandbox)
	return d
}

// Overruled says why the policy of now denies a call that people were asked about, or returns "" if it does not. An answer never overrides
// a denial: who approves such a call should be told that it does not run.
func (g *Gate) Overruled(ctx context.Context, r approval.Request) string {
	s, err := g.Sessions.Find(ctx, r.Session)
	if err != nil {
		return "its session is over"
	}
	it, err := policy.ParseTool(r.Tool)
	if err != nil {
		return "" // a resource or a prompt
	}
	args, err := policy.ParseArgs(r.Args)
	if err != nil {
		return ""
	}
	d := decideAs(s.Snapshot(), policy.Call{Item: it, Args: args, Facts: r.Facts, Time: g.now()})
	if d.Effect != policy.Deny {
		return ""
	}
	return cmp.Or(d.Reason, "the policy denies it") + " (" + cmp.Or(d.Rule, "visibility") + ")"
}

// read decodes the arguments and makes the facts. Its errors are for the caller.
func (a *Admission) read() (policy.Args, policy.Facts, error) {
	args, err := policy.ParseArgs(a.Args)
	if err != nil {
		return nil, policy.Facts{}, err
	}
	dir := a.gate.begin(a.caller.World, a.caller.Scope, a.Item.Server)
	if a.Item.Server == policy.AgentServer && a.Dir != "" && a.Dir != a.gate.dir {
		if dir = facts.Resolve(a.Dir); dir == "" {
			return nil, policy.Facts{}, errors.New("the working directory does not lead anywhere")
		}
	}
	at := facts.At(a.caller.World.Policy, dir, a.gate.home, &a.gate.trees)
	at.Held, at.Inside = &a.gate.held, a.gate.inside
	at.Wrote = a.session.Written.Paths
	at.SkillFolder = func(name string) string { return a.skillFolder(name) }
	f, err := facts.Of(a.Item, a.caller.World.Annotations(a.Item), args, at)
	if err == nil {
		a.session.Written.Mark(&f)
	}
	return args, f, err
}

// skillFolder returns the folder of a skill that is active in the session, on disk; "" if there is none.
func (a *Admission) skillFolder(name string) string {
	k := control.ActiveSkill(a.caller, name)
	if k == nil {
		return ""
	}
	file := k.File
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(a.gate.home, rest)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.gate.dir, file)
	}
	return filepath.Dir(file)
}

// MayRead reports whether a session may read a resource now.
func (g *Gate) MayRead(s *session.Session, it policy.Item) bool {
	now := g.now()
	if s.Over(now) {
		return false
	}
	sc := s.Snapshot()
	return sc.World.Policy.Decide(policy.Call{Scope: sc.Scope, Item: it, Time: now}).Effect == policy.Allow
}

// MaySearch reports whether a search of the built-in files server may read a file for this scope: if the scope sees read_file, whether
// read_file may read the file; otherwise, whether a rule keeps search_files itself from it.
func (g *Gate) MaySearch(scope policy.Scope, path string) bool {
	w := g.Sessions.Catalog()
	args := policy.Args{"path": path}
	at := facts.At(w.Policy, g.begin(w, scope, policy.FilesServer), g.home, &g.trees)
	at.Held, at.Inside = &g.held, g.inside
	for _, tool := range []string{"read_file", "search_files"} {
		it := policy.Item{Server: policy.FilesServer, Name: tool}
		f, err := facts.Of(it, w.Annotations(it), args, at)
		if err != nil {
			return false
		}
		d := w.Policy.Decide(policy.Call{Scope: scope, Item: it, Args: args, Facts: f, Time: g.now()})
		if !d.Unknown {
			return d.Effect == policy.Allow
		}
	}
	return false
}

// refuse records a denial, and returns it in the words that the caller may read. If the denial cannot be recorded, the call is denied
// as well.
func (a *Admission) refuse(ctx context.Context, d policy.Decision) error {
	asks, at := d.Effect == policy.Ask, place{}
	if asks {
		if at = a.where(); at.Place == approval.Nowhere {
			d.Reason = cmp.Or(d.Reason, "This call needs an approval") + " (" + at.why + ")"
		}
	}
	written := d
	if asks && at.Place == approval.Nowhere { // the call is over
		written.Effect = policy.Deny
	}
	if err := a.recordDecision(ctx, written); err != nil {
		a.gate.logger.Error("a denial is not in the audit log", "call", a.id, "tool", a.Item.String(), "error", err)
	}
	if d.Unknown {
		return a.unknown()
	}
	if at.Place == approval.AtTerminal && a.lacked.Any() { // its question is the reason alone
		d.Reason += ". " + strings.Join(a.lacked.Lines(), " ")
	}
	denied := a.denied(d)
	denied.Invalid, denied.AtTerminal = a.Invalid != "", at.Place == approval.AtTerminal
	if denied.AtTerminal {
		q := a.question(d)
		denied.Question = &q
	}
	if a.lacked.Any() {
		denied.Lacked, denied.Settled = &a.lacked, a.settled
	}
	if asks { // nobody else is asked
		denied.Settled = cmp.Or(denied.Settled, approval.Once)
	}
	return denied
}

// denied returns a refusal without what has the form of a secret, which an error in its arguments can quote.
func (a *Admission) denied(d policy.Decision) *DeniedError {
	d.Reason = credential.Mask(d.Reason)
	return &DeniedError{Decision: d, Asked: a.Asked}
}

// unknown returns the one refusal of what does not exist and of what may not be seen (T7).
func (a *Admission) unknown() error {
	return a.denied(policy.Decision{Unknown: true, Reason: "Unknown " + kindName(a.Item.Kind) + ": " + a.Asked})
}

// unrecorded refuses a call that cannot be recorded.
func (a *Admission) unrecorded(err error) error {
	a.gate.logger.Error("a call was refused because it cannot be recorded", "call", a.id, "tool", a.Item.String(), "error", err)
	return &DeniedError{Asked: a.Asked, Decision: policy.Decision{
		Rule: "audit", Reason: "This call cannot be recorded, so it does not run. The operator must look at the audit log.",
	}}
}
