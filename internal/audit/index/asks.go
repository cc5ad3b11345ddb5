package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"mycelium/internal/audit"
)

// activeWindow is the unit of the time in which agents were active. A session is active in each window of five minutes, by the clock, in
// which it made at least one call. Whole hours would count a session that calls at 10:59 and at 11:01 as two hours of work, and so make
// questions look rarer than they are. The time between the first and the last call would count the night in which a session stayed open.
const activeWindow = 5 * time.Minute

// personSurface is the surface of calls that a person makes on the command line: no agent is active by them.
const personSurface = "cli"

// Asks says how often people were asked about calls while agents were active.
type Asks struct {
	Person  int     `json:"person"`        // calls that a person was asked about, whether one answered or not
	Model   int     `json:"model"`         // calls that only a model was asked about: it settled them
	Hours   float64 `json:"activeHours"`   // of all sessions together: two sessions that work at once are active twice
	PerHour float64 `json:"perActiveHour"` // of Person; 0 if no agent was active
	ByRule  []Asked `json:"byRule"`        // the most often asked first; the name is "" where no rule asked but the fallback
	ByAgent []Asked `json:"byAgent"`       // likewise; agents that asked nothing are there too
}

// Asked is what one rule, or one agent, asked.
type Asked struct {
	Name    string  `json:"name"`
	Person  int     `json:"person"`
	Model   int     `json:"model"`
	Hours   float64 `json:"activeHours,omitzero"` // of this agent; of a rule it is left out
	PerHour float64 `json:"perActiveHour"`        // of Person: in the hours of this agent, or for a rule in those of all
}

// Asks counts the questions between two times; a zero time is no bound.
//
// A call that was answered without asking, because a person had answered for the rest of the session, is no question. One that nobody
// answered in time is.
func (x *Index) Asks(ctx context.Context, since, until time.Time) (Asks, error) {
	from, to := microsBetween(since, until)
	bounds := []any{from, to}
	t := tallyOfAsks{windows: map[sessionWindow]bool{}, agents: map[string]string{}, by: map[string]*Asked{}}
	rules := []Asked{}
	err := x.read(ctx, func(tx *sql.Tx, tail bool) (err error) {
		if err = t.read(ctx, tx, tail, bounds); err == nil {
			rules, err = asksOfRules(ctx, tx, tail, bounds)
		}
		return err
	})
	a := t.asks()
	a.ByRule = rules
	for i := range a.ByRule {
		a.ByRule[i].PerHour = perHour(a.ByRule[i].Person, a.Hours)
	}
	sortAsked(a.ByRule)
	a.Hours = rounded(a.Hours)
	return a, wrap("count questions in the audit log", err)
}

// byModel is the condition that only a model was asked about a call c with the verdict v, and byPerson that a person was. A question that
// the agent's own terminal put to a model first, and that the model settled, has no decision that asks.
const (
	byModel  = "v.decided_by = 'model'"
	byPerson = "c.asked <> 0 AND v.decided_by <> 'model'"
)

// sessionWindow is one window in which a session was active.
type sessionWindow struct {
	session string
	window  int64
}

// tallyOfAsks adds up what sessions asked.
type tallyOfAsks struct {
	windows map[sessionWindow]bool
	agents  map[string]string // by session: the agent whose own tools it calls, else the surface on which it calls
	asked   []sessionAsked
	by      map[string]*Asked
}

// sessionAsked is what a session asked within a window.
type sessionAsked struct {
	session       string
	person, model int
}

// read counts the calls of each session and window.
func (t *tallyOfAsks) read(ctx context.Context, tx *sql.Tx, tail bool, bounds []any) error {
	//nolint:gosec // the tables are ours
	// The few sums are joined with who called, not the many calls.
	statement := `SELECT s.session, s.agent, s.surface, n, person, model FROM (
		SELECT c.scope AS scope, c.time / ? AS n, sum(` + byPerson + `) AS person, sum(` + byModel + `) AS model
		FROM ` + callsTable(tail) + ` c JOIN audit_verdicts v USING (verdict) WHERE c.time >= ? AND c.time < ? GROUP BY 1, 2)
		JOIN audit_scopes s USING (scope) WHERE s.surface <> '` + personSurface + `' ORDER BY s.agent DESC`
	rows, err := tx.QueryContext(ctx, statement, append([]any{activeWindow.Microseconds()}, bounds...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var of sessionAsked
		var agent, surface string
		var window int64
		if err := rows.Scan(&of.session, &agent, &surface, &window, &of.person, &of.model); err != nil {
			return err
		}
		if t.agents[of.session] == "" { // those with an agent come first
			t.agents[of.session] = cmp.Or(agent, surface)
		}
		t.windows[sessionWindow{of.session, window}] = true
		t.asked = append(t.asked, of)
	}
	return rows.Err()
}

// asks is the sum over all sessions.
func (t *tallyOfAsks) asks() (a Asks) {
	of := func(session string) *Asked {
		name := t.agents[session]
		if t.by[name] == nil {
			t.by[name] = &Asked{Name: name}
		}
		return t.by[name]
	}
	for w := range t.windows {
		of(w.session).Hours += activeWindow.Hours()
	}
	for _, s := range t.asked {
		agent := of(s.session)
		agent.Person += s.person
		agent.Model += s.model
	}
	a.ByAgent = []Asked{}
	for _, one := range t.by {
		one.PerHour, one.Hours = perHour(one.Person, one.Hours), rounded(one.Hours)
		a.Person += one.Person
		a.Model += one.Model
		a.ByAgent = append(a.ByAgent, *one)
	}
	a.Hours = float64(len(t.windows)) * activeWindow.Hours()
	a.PerHour = perHour(a.Person, a.Hours)
	sortAsked(a.ByAgent)
	return a
}

// asksOfRules counts what each rule asked.
func asksOfRules(ctx context.Context, tx *sql.Tx, tail bool, bounds []any) ([]Asked, error) {
	statement := `SELECT coalesce(q.rule, v.rule), sum(` + byPerson + `), sum(` + byModel + `) FROM ` + callsTable(tail) + //nolint:gosec // likewise
		` c JOIN audit_verdicts v USING (verdict) LEFT JOIN audit_verdicts q ON q.verdict = c.asked JOIN audit_scopes s USING (scope)
		WHERE c.time >= ? AND c.time < ? AND (` + byPerson + ` OR ` + byModel + `) AND s.surface <> '` + personSurface + `' GROUP BY 1`
	rows, err := tx.QueryContext(ctx, statement, bounds...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Asked{}
	for rows.Next() {
		var one Asked
		if err := rows.Scan(&one.Name, &one.Person, &one.Model); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// sortAsked puts first what asked people most.
func sortAsked(list []Asked) {
	slices.SortFunc(list, func(a, b Asked) int {
		return cmp.Or(cmp.Compare(b.Person, a.Person), cmp.Compare(b.Model, a.Model), cmp.Compare(a.Name, b.Name))
	})
}

// perHour is how many questions came in an hour, with two decimals.
func perHour(questions int, hours float64) float64 {
	if hours == 0 {
		return 0
	}
	return rounded(float64(questions) / hours)
}

func rounded(v float64) float64 { return math.Round(100*v) / 100 }

// maxQuestions bounds how many questions [Index.Questions] returns.
const maxQuestions = 1000

// Questions returns the decisions of the newest calls of agents that a person was asked about since a time, with all that the log has of
// them, the newest first. There are 1,000 at most.
func (x *Index) Questions(ctx context.Context, since time.Time) (list []audit.Line, err error) {
	err = x.read(ctx, func(tx *sql.Tx, tail bool) error {
		statement := `SELECT c.segment, c.line_end, c.line_length FROM ` + callsTable(tail) + //nolint:gosec // the tables are ours
			` c JOIN audit_verdicts v USING (verdict) JOIN audit_scopes s USING (scope)
			WHERE c.time >= ? AND ` + byPerson + ` AND s.surface <> '` + personSurface + `' ORDER BY c.seq DESC LIMIT ?`
		rows, err := tx.QueryContext(ctx, statement, since.UnixMicro(), maxQuestions)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var segment int
			var end, length int64
			if err := rows.Scan(&segment, &end, &length); err != nil {
				return err
			}
			line, err := x.lineAt(ctx, audit.Position{Segment: audit.SegmentName(segment), Offset: end - length})
			if err != nil {
				return err
			}
			if line != nil {
				list = append(list, *line)
			}
		}
		return rows.Err()
	})
	return list, wrap("read the questions in the audit log", err)
}

// lineAt returns the line of the log at a place; nil if its segment is gone.
func (x *Index) lineAt(ctx context.Context, at audit.Position) (*audit.Line, error) {
	for line, err := range audit.Read(ctx, x.o, at, false) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil //nolint:nilnil // whoever archived the segment took its calls away
		}
		return &line, err
	}
	return nil, nil //nolint:nilnil // likewise
}

// String says it in one line: "0.8 an active hour (12 in 15.2 hours), and a model settled 3".
func (a Asks) String() string { return asksText(a.Person, a.Model, a.Hours, a.PerHour) }

// String says it in one line, as that of [Asks] does.
func (a Asked) String() string { return asksText(a.Person, a.Model, a.Hours, a.PerHour) }

func asksText(person, model int, hours, per float64) string {
	s := fmt.Sprintf("%.1f an active hour (%d", per, person)
	if hours > 0 {
		s += fmt.Sprintf(" in %.1f hours", hours)
	}
	s += ")"
	if model > 0 {
		s += fmt.Sprintf(", and a model settled %d", model)
	}
	return s
}

// RuleName is the name of a rule in [Asks.ByRule] for people.
func RuleName(name string) string { return cmp.Or(name, "no rule (the fallback)") }
