package agents

import (
	"context"
	"fmt"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/harness"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
)

// ending tells what happened in a session that was started here.
type ending struct {
	app     *app
	log     audit.Options
	from    audit.Position // the end of the log when the session began
	session string
}

// begin remembers where the log ends now.
func (a *app) begin(session string) (*ending, error) {
	p, err := a.Load()
	if err != nil {
		return nil, err
	}
	o, err := p.AuditLog()
	if err != nil {
		return nil, err
	}
	from, err := audit.Back(o, 0)
	return &ending{a, o, from, session}, err
}

// tell prints what happened, on stderr: stdout belongs to the agent. The counts are those of the log. The cost is what the daemon has
// followed, and is left out where it is not known.
func (e *ending) tell(ctx context.Context, agent harness.Agent) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), base.AnswerWithin)
	defer cancel()
	t, err := index.TallyOf(ctx, e.log, e.from, e.session)
	if err != nil {
		fmt.Fprintf(e.app.Err, "myc: what happened cannot be read from the log: %v\n", err)
		return
	}
	what := []string{fmt.Sprintf("%d allowed", t.Allowed), fmt.Sprintf("%d asked", t.Asked), fmt.Sprintf("%d denied", t.Denied)}
	cost, heard, known := e.runs(ctx)
	if cost > 0 {
		what = append(what, fmt.Sprintf("$%.2f", cost))
	}
	if known && !heard && agent.Launch.Prefix.Variable == "" { // no program of ours stands before its shell
		fmt.Fprintf(e.app.Err, "myc: no hook of %s came: if it ran anything, no policy decided about that, and it ran outside of the sandbox\n"+
			"hint: myc hook check %s tells whether this version runs its hooks\n", agent.Title, agent.Name)
	}
	fmt.Fprintf(e.app.Err, "myc: %s. See: myc audit query --session %s\n", strings.Join(what, ", "), e.session)
}

// runs asks the daemon for the cost of the runs of the session, in US dollars, and whether a hook came that began one. known is false where the
// daemon does not answer.
func (e *ending) runs(ctx context.Context) (cost float64, heard, known bool) {
	c, err := e.app.Running(ctx)
	if err != nil || c == nil {
		return 0, false, false
	}
	defer c.Close()
	runs, err := base.Call(ctx, c, api.Runs, op.None{})
	if err != nil {
		return 0, false, false
	}
	for _, r := range runs {
		if r.Session == e.session {
			cost, heard = cost+r.Cost, true
		}
	}
	return cost, heard, true
}
