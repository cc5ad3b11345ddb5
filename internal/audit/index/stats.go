package index

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// Stats are the figures of A47 and A48.
type Stats struct {
	Total         int            `json:"total"`
	ByOutcome     map[string]int `json:"byResult"`
	ByTool        []Count        `json:"topTools"` // the ten most called; by name where the counts are equal
	ByRole        []Count        `json:"topRoles"` // the same for roles
	DenialRate    float64        `json:"denialRate"`
	AvgDurationMs float64        `json:"avgExecutionTimeMs"` // of the calls with an outcome
	Thinking      ThinkingStats  `json:"thinkingStats"`
	Asks          Asks           `json:"asks"`
}

// Count is the number of calls with a name.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// ThinkingStats are the figures about calls with reasoning.
type ThinkingStats struct {
	Entries  int            `json:"entriesWithThinking"`
	Coverage float64        `json:"thinkingCoverageRate"` // of all calls, 0 to 1
	Tokens   int            `json:"totalThinkingTokens"`
	Average  float64        `json:"avgThinkingTokens"` // of the calls with reasoning
	ByType   map[string]int `json:"byType"`
}

// Stats counts the calls between two times; a zero time is no bound. Rates are between 0 and 1.
func (x *Index) Stats(ctx context.Context, since, until time.Time) (Stats, error) {
	s := Stats{ByTool: []Count{}, ByRole: []Count{}}
	err := x.read(ctx, func(tx *sql.Tx, tail bool) error {
		from := within(callsTable(tail), since, until)
		err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(avg(duration_us), 0) / 1000.0 FROM `+from).Scan(&s.Total, &s.AvgDurationMs)
		if err != nil {
			return err
		}
		with := joined(from, thinkingTable(tail)) + ` WHERE t.thinking IS NOT NULL`
		err = tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(t.tokens), 0) FROM `+with).Scan(&s.Thinking.Entries, &s.Thinking.Tokens)
		if err != nil {
			return err
		}
		outcomes, err := counts(ctx, tx, `SELECT outcome, count(*) FROM `+from+` GROUP BY 1`)
		if err != nil {
			return err
		}
		types, err := counts(ctx, tx, `SELECT t.type, count(*) FROM `+with+` AND t.type <> '' GROUP BY 1`)
		if err != nil {
			return err
		}
		s.ByOutcome, s.Thinking.ByType = byName(outcomes), byName(types)
		scopes := ` FROM (SELECT scope, count(*) AS n FROM ` + from + ` GROUP BY 1) JOIN audit_scopes s USING (scope)
			GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`
		if s.ByTool, err = counts(ctx, tx, `SELECT s.tool, sum(n)`+scopes); err != nil {
			return err
		}
		s.ByRole, err = counts(ctx, tx, `SELECT s.role, sum(n)`+scopes)
		return err
	})
	if err == nil {
		s.Asks, err = x.Asks(ctx, since, until)
	}
	if s.Total > 0 {
		s.DenialRate = float64(s.ByOutcome["denied"]) / float64(s.Total)
		s.Thinking.Coverage = float64(s.Thinking.Entries) / float64(s.Total)
	}
	if s.Thinking.Entries > 0 {
		s.Thinking.Average = float64(s.Thinking.Tokens) / float64(s.Thinking.Entries)
	}
	return s, wrap("count the audit log", err)
}

// within is a table of calls between two times; a zero time is no bound.
func within(calls string, since, until time.Time) string {
	if since.IsZero() && until.IsZero() {
		return calls
	}
	from, to := microsBetween(since, until)
	return fmt.Sprintf("(SELECT * FROM %s WHERE time >= %d AND time < %d)", calls, from, to)
}

// microsBetween returns two times in the unit of the index. A zero time becomes the first, or the last one that there is.
func microsBetween(since, until time.Time) (from, to int64) {
	to = math.MaxInt64
	if !since.IsZero() {
		from = since.UnixMicro()
	}
	if !until.IsZero() {
		to = until.UnixMicro()
	}
	return from, to
}

func counts(ctx context.Context, tx *sql.Tx, query string) ([]Count, error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Count{}
	for rows.Next() {
		var c Count
		if err := rows.Scan(&c.Name, &c.Count); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

func byName(list []Count) map[string]int {
	m := make(map[string]int, len(list))
	for _, c := range list {
		m[c.Name] = c.Count
	}
	return m
}

// ThinkingReport is the report about reasoning (A48).
type ThinkingReport struct {
	Stats   ThinkingStats   `json:"stats"`
	Entries []ThinkingEntry `json:"entries"`
}

// ThinkingEntry is one call with the beginning of its reasoning.
type ThinkingEntry struct {
	ID         string    `json:"id"`
	Time       time.Time `json:"time"`
	Session    string    `json:"session"`
	Role       string    `json:"role"`
	Tool       string    `json:"tool"`
	Outcome    string    `json:"outcome"`
	Type       string    `json:"type,omitempty"`
	ModelID    string    `json:"modelId,omitempty"`
	Tokens     int       `json:"thinkingTokens,omitempty"`
	Summary    string    `json:"summary,omitempty"`
	Preview    string    `json:"preview"`    // the first 500 characters
	FullLength int       `json:"fullLength"` // characters of the recorded reasoning
	Claimed    bool      `json:"claimed,omitempty"`
}

const previewLen = 500

// Thinking reports the newest calls with reasoning (A48); limit 0 is 50.
func (x *Index) Thinking(ctx context.Context, limit int) (ThinkingReport, error) {
	if limit == 0 {
		limit = 50
	}
	r := ThinkingReport{Entries: []ThinkingEntry{}}
	s, err := x.Stats(ctx, time.Time{}, time.Time{})
	if err != nil {
		return r, err
	}
	r.Stats = s.Thinking
	yes := true
	err = x.each(ctx, Query{HasThinking: &yes, Limit: limit}, func(e Entry) error {
		t := e.Thinking
		r.Entries = append(r.Entries, ThinkingEntry{e.ID, e.Time, e.Session, e.Role, e.Tool, e.Outcome, t.Type, t.ModelID, t.Tokens, t.Summary,
			preview(t.Thinking), utf8.RuneCountInString(t.Thinking), t.Claimed})
		return nil
	})
	return r, err
}

func preview(s string) string {
	n := 0
	for i := range s {
		if n == previewLen {
			return s[:i]
		}
		n++
	}
	return s
}

// Rules counts the calls that each rule decided, over the whole log. The count of calls that no rule decided is under "".
func (x *Index) Rules(ctx context.Context) (map[string]int, error) {
	var list []Count
	err := x.read(ctx, func(tx *sql.Tx, tail bool) (err error) {
		list, err = counts(ctx, tx, `SELECT v.rule, sum(n) FROM (SELECT verdict, count(*) AS n FROM `+callsTable(tail)+` GROUP BY 1)
			JOIN audit_verdicts v USING (verdict) GROUP BY 1`)
		return err
	})
	return byName(list), wrap("count what rules decided", err)
}
