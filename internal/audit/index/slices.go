package index

import (
	"context"
	"database/sql"
	"time"

	"mycelium/internal/store"
)

// Slice is what was recorded within a part of a time.
type Slice struct {
	Start    time.Time
	Outcomes map[string]int // calls by how they ended
	Deciders map[string]int // calls by who decided
	Person   int            // calls of agents that a person was asked about
	Model    int            // calls of agents that only a model was asked about
	Tokens   int            // of the reasoning that came with calls
	Ended    int            // calls of which Took and Longest are
	Took     time.Duration  // all of them together
	Longest  time.Duration
}

// DB is the database of the index, which has the other tables of the project too.
func (x *Index) DB() *store.DB { return x.db }

// Slices counts the calls between two times in parts of one length, the oldest first. The first part begins at since; there are parts
// without a call.
func (x *Index) Slices(ctx context.Context, since, until time.Time, step time.Duration) ([]Slice, error) {
	var out []Slice
	for at := since; at.Before(until); at = at.Add(step) {
		out = append(out, Slice{Start: at.UTC(), Outcomes: map[string]int{}, Deciders: map[string]int{}})
	}
	bounds := []any{since.UnixMicro(), step.Microseconds(), since.UnixMicro(), until.UnixMicro()}
	err := x.read(ctx, func(tx *sql.Tx, tail bool) error {
		if err := countSlices(ctx, tx, tail, out, bounds); err != nil {
			return err
		}
		statement := `SELECT (c.time - ?) / ?, sum(t.tokens) FROM ` + thinkingTable(tail) + ` t CROSS JOIN ` + //nolint:gosec // our tables
			callsTable(tail) + ` c ON c.seq = t.seq WHERE c.time >= ? AND c.time < ? AND t.tokens > 0 GROUP BY 1`
		rows, err := tx.QueryContext(ctx, statement, bounds...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n, tokens int
			if err := rows.Scan(&n, &tokens); err != nil {
				return err
			}
			out[n].Tokens = tokens
		}
		return rows.Err()
	})
	return out, wrap("count parts of the audit log", err)
}

// countSlices counts calls, and adds up how long they took.
func countSlices(ctx context.Context, tx *sql.Tx, tail bool, out []Slice, bounds []any) error {
	// The few sums are joined with what was decided, not the many calls.
	//nolint:gosec // the tables are ours
	const ofAgent = `scope NOT IN (SELECT scope FROM audit_scopes WHERE surface = '` + personSurface + `')`
	//nolint:gosec // likewise
	statement := `SELECT n, outcome, v.decided_by, calls, agents, asked, ended, took, longest FROM (
		SELECT (time - ?) / ? AS n, outcome, verdict, count(*) AS calls, sum(` + ofAgent + `) AS agents,
		sum(asked <> 0 AND ` + ofAgent + `) AS asked, count(duration_us) AS ended,
		coalesce(sum(duration_us), 0) AS took, coalesce(max(duration_us), 0) AS longest
		FROM ` + callsTable(tail) + ` WHERE time >= ? AND time < ? GROUP BY 1, 2, 3) JOIN audit_verdicts v USING (verdict)`
	rows, err := tx.QueryContext(ctx, statement, bounds...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n, calls, agents, asked, ended int
		var outcome, by string
		var took, longest int64
		if err := rows.Scan(&n, &outcome, &by, &calls, &agents, &asked, &ended, &took, &longest); err != nil {
			return err
		}
		s := &out[n]
		s.Outcomes[outcome] += calls
		s.Deciders[by] += calls
		if by == "model" {
			s.Model += agents
		} else {
			s.Person += asked
		}
		s.Ended += ended
		s.Took += time.Duration(took) * time.Microsecond
		s.Longest = max(s.Longest, time.Duration(longest)*time.Microsecond)
	}
	return rows.Err()
}
