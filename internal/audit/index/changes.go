package index

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"mycelium/internal/audit"
	"mycelium/internal/rawjson"
)

// Changes returns the records of the lives of sessions that a query selects, newest first: beginnings and ends, changes of the role and of
// the skills. Of the query hold role, sessions, places, times, limit and offset.
func (x *Index) Changes(ctx context.Context, q Query) ([]audit.Record, error) {
	var out []audit.Record
	err := x.read(ctx, func(tx *sql.Tx, tail bool) error {
		statement, args := selectChanges(q, tail)
		rows, err := tx.QueryContext(ctx, statement, args...)
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
			at := audit.Position{Segment: audit.SegmentName(segment), Offset: end - length}
			for line, err := range audit.Read(ctx, x.o, at, false) {
				if err != nil {
					return err
				}
				out = append(out, line.Record)
				break
			}
		}
		return rows.Err()
	})
	return out, wrap("read the changes of sessions in the audit log", err)
}

// selectChanges makes the statement of [Index.Changes]: the places of the lines.
func selectChanges(q Query, tail bool) (statement string, args []any) {
	table := "audit_changes"
	if tail {
		table = "(SELECT * FROM main.audit_changes UNION ALL SELECT * FROM temp.audit_changes)"
	}
	where := []string{"1"}
	add := func(part string, value any) {
		where, args = append(where, part), append(args, value)
	}
	if q.Role != "" {
		add("role GLOB ?", globOf(q.Role))
	}
	if len(q.Also) > 0 {
		part, values := q.sessions()
		where, args = append(where, part), append(args, values...)
	} else if q.Session != "" {
		add("session GLOB ?", globOf(q.Session))
	}
	if q.Before != 0 {
		add("seq < ?", q.Before)
	}
	if q.After != 0 {
		add("seq > ?", q.After)
	}
	if !q.Since.IsZero() {
		add("time >= ?", q.Since.UnixMicro())
	}
	if !q.Until.IsZero() {
		add("time < ?", q.Until.UnixMicro())
	}
	return "SELECT segment, line_end, line_length FROM " + table + " WHERE " + strings.Join(where, " AND ") +
		" ORDER BY seq DESC LIMIT ? OFFSET ?", append(args, cmp.Or(q.Limit, defaultLimit), max(0, q.Offset))
}

// maxBelow bounds how many changes of sessions [Index.Below] reads.
const maxBelow = 5000

// Below returns the sessions of sub-agents that a session has started, and those that they have started, in the order of their beginnings.
func (x *Index) Below(ctx context.Context, session string) (ids []string, err error) {
	first, err := x.Changes(ctx, Query{Session: session, Limit: maxBelow})
	if err != nil || len(first) == 0 {
		return nil, err
	}
	changes, err := x.Changes(ctx, Query{Since: first[len(first)-1].Time, Limit: maxBelow})
	if err != nil {
		return nil, err
	}
	below := map[string]bool{session: true}
	for _, r := range slices.Backward(changes) { // a session begins before those that it starts
		if above := rawjson.TextAt(r.Args, "above"); above != "" && below[above] && !below[r.Session] {
			below[r.Session] = true
			ids = append(ids, r.Session)
		}
	}
	return ids, nil
}
