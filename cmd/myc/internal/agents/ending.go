package agents

import (
	"context"
	"fmt"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/node/api"
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
func (e *ending) tell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), base.AnswerWithin)
	defer cancel()
	t, err := index.TallyOf(ctx, e.log, e.from, e.session)
	if err != nil {
		fmt.Fprintf(e.app.Err, "myc: what happened cannot be read from the log: %v\n", err)
		return
	}
	what := []string{fmt.Sprintf("%d allowed", t.Allowed), fmt.Sprintf("%d asked", t.Asked), fmt.Sprintf("%d denied", t.Denied)}
	if cost := e.cost(ctx); cost > 0 {
		what = append(what, fmt.Sprintf("$%.2f", cost))
	}
	fmt.Fprintf(e.app.Err, "myc: %s. See: myc audit query --session %s\n", strings.Join(what, ", "), e.session)
}

// cost is what the runs of the session have cost, in US dollars; 0 where nobody knows.
func (e *ending) cost(ctx context.Context) (sum float64) {
	c, err := e.app.Running(ctx)
	if err != nil || c == nil {
		return 0
	}
	defer c.Close()
	runs, err := base.Call(ctx, c, api.Runs, api.None{})
	if err != nil {
		return 0
	}
	for _, r := range runs {
		if r.Session == e.session {
			sum += r.Cost
		}
	}
	return sum
}
