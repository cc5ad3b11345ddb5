package approval

import (
	"context"
	"fmt"
	"time"

	"mycelium/internal/store"
)

// Wait is how long settled requests of a part of a time waited for their answers.
type Wait struct {
	Requests int
	Total    time.Duration
	Longest  time.Duration
}

// Waited adds up how long requests waited that were made between two times, in parts of one length, by the number of the part. Settled
// requests are kept for a while only; see keepSettled.
func Waited(ctx context.Context, db *store.DB, since, until time.Time, step time.Duration) (map[int]Wait, error) {
	rows, err := db.QueryContext(ctx, `SELECT (created_at - ?) / ?, count(*), sum(settled_at - created_at), max(settled_at - created_at)
		FROM approvals WHERE settled_at IS NOT NULL AND created_at >= ? AND created_at < ? GROUP BY 1`,
		since.UnixMicro(), step.Microseconds(), since.UnixMicro(), until.UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("add up how long requests waited: %w", err)
	}
	defer rows.Close()
	out := map[int]Wait{}
	for rows.Next() {
		var n int
		var w Wait
		var total, longest int64
		if err := rows.Scan(&n, &w.Requests, &total, &longest); err != nil {
			return nil, fmt.Errorf("add up how long requests waited: %w", err)
		}
		w.Total, w.Longest = time.Duration(total)*time.Microsecond, time.Duration(longest)*time.Microsecond
		out[n] = w
	}
	return out, rows.Err()
}
