package index

import (
	"context"
	"database/sql"
	"time"
)

// Activity is what a session did within a time.
type Activity struct {
	Calls, Denied int
	Minute        int // calls within the last minute of it
	LastTool      string
	LastTime      time.Time
}

// Activity returns what sessions did between two times, by their ids. Sessions without a call are left out.
func (x *Index) Activity(ctx context.Context, since, until time.Time) (map[string]Activity, error) {
	out := map[string]Activity{}
	err := x.read(ctx, func(tx *sql.Tx, tail bool) error {
		//nolint:gosec // the tables are ours
		// Of the columns beside max(), SQLite takes the row with the largest value.
		statement := `SELECT s.session, count(*), sum(c.outcome = 'denied'), sum(c.time >= ?), s.tool, max(c.time) FROM ` +
			callsTable(tail) + ` c JOIN audit_scopes s USING (scope) WHERE c.time >= ? AND c.time < ? AND s.session <> '' GROUP BY 1`
		rows, err := tx.QueryContext(ctx, statement,
			until.Add(-time.Minute).UnixMicro(), since.UnixMicro(), until.UnixMicro())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var session string
			var a Activity
			var last int64
			if err := rows.Scan(&session, &a.Calls, &a.Denied, &a.Minute, &a.LastTool, &last); err != nil {
				return err
			}
			a.LastTime = time.UnixMicro(last).UTC()
			out[session] = a
		}
		return rows.Err()
	})
	return out, wrap("count what sessions did", err)
}
