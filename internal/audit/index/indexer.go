package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
)

// indexer puts lines into the tables of the index. If temporary tables of the same names exist, it writes to those.
type indexer struct {
	calls, call, outcome, thinking, text, unexplained, change *sql.Stmt

	copies []*sql.Stmt // of a call, from the index to the temporary tables; none without them

	// held has decisions whose outcome may still follow, by id. Most outcomes follow soon, and inserting a complete row costs half as
	// much as inserting and updating one.
	held map[string]*audit.Line
	free []*audit.Line // memory of released lines

	rows     []any // values of calls that are inserted together
	scopes   shared[scope]
	reaches  shared[reach]
	verdicts shared[verdict]
	names    shared[string]
}

// scope and verdict are combinations of values that many calls share.
type (
	scope   struct{ session, tool, role, principal, surface, agent, itemKind, server string }
	reach   struct{ programs, hosts string }
	verdict struct {
		effect, rule string
		unknown      bool
		decidedBy    string
	}
)

// shared finds or creates the row of a combination.
type shared[K comparable] struct {
	known        map[K]int64
	find, insert *sql.Stmt
}

func (s *shared[K]) row(ctx context.Context, key K, columns ...any) (n int64, err error) {
	if n, ok := s.known[key]; ok {
		return n, nil
	}
	rows, err := s.find.QueryContext(ctx, columns...)
	if err != nil {
		return 0, err
	}
	if rows.Next() {
		err = rows.Scan(&n)
	}
	if e := rows.Close(); err == nil {
		err = e
	}
	if err == nil && n == 0 {
		var res sql.Result
		if res, err = s.insert.ExecContext(ctx, columns...); err == nil {
			n, err = res.LastInsertId()
		}
	}
	if err == nil {
		s.known[key] = n
	}
	return n, err
}

const (
	rowsPerInsert = 16
	columns       = 16 // of a row of audit_calls
)

const (
	insertCall = `INSERT INTO audit_calls (seq, id, time, scope, tool, role, verdict, reach, reason, outcome, error, duration_us, segment,
		line_end, line_length, asked) VALUES ` + callRow
	callRow = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	// A call may be decided more than once: asked, then answered. The last decision counts; the first one has the arguments, and the first
	// one that asks says which rule asked.
	onConflict = ` ON CONFLICT (id) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason, outcome = excluded.outcome,
		error = excluded.error, duration_us = excluded.duration_us, asked = CASE asked WHEN 0 THEN excluded.asked ELSE asked END`
)

func newIndexer(ctx context.Context, tx *sql.Tx) (*indexer, error) {
	w := &indexer{held: map[string]*audit.Line{}}
	w.scopes.known, w.verdicts.known, w.names.known = map[scope]int64{}, map[verdict]int64{}, map[string]int64{}
	w.reaches.known = map[reach]int64{{}: 0}
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&w.call, insertCall + onConflict},
		{&w.calls, insertCall + strings.Repeat(", "+callRow, rowsPerInsert-1) + onConflict},
		{&w.outcome, `UPDATE audit_calls SET outcome = ?, error = ?, duration_us = ? WHERE id = ?`},
		{&w.thinking, `INSERT INTO audit_thinking (seq, thinking, type, tokens) VALUES (?, ?, ?, ?)`},
		{&w.unexplained, `SELECT seq FROM audit_calls WHERE id = ? AND seq NOT IN (SELECT seq FROM audit_thinking)`},
		{&w.text, `INSERT INTO audit_text (rowid, words, bigrams) VALUES (?, ?, ?)`},
		{&w.scopes.find, `SELECT scope FROM audit_scopes WHERE session = ? AND tool = ? AND role = ? AND principal = ? AND surface = ?
			AND agent = ? AND item_kind = ? AND server = ?`},
		{&w.scopes.insert, `INSERT INTO audit_scopes (session, tool, role, principal, surface, agent, item_kind, server)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.reaches.find, `SELECT reach FROM audit_reaches WHERE programs = ? AND hosts = ?`},
		{&w.reaches.insert, `INSERT INTO audit_reaches (programs, hosts) VALUES (?, ?)`},
		{&w.change, `INSERT INTO audit_changes (seq, time, session, role, segment, line_end, line_length) VALUES (?, ?, ?, ?, ?, ?, ?)`},
		{&w.verdicts.find, `SELECT verdict FROM audit_verdicts WHERE effect = ? AND rule = ? AND unknown = ? AND decided_by = ?`},
		{&w.names.find, `SELECT name_id FROM audit_names WHERE name = ?`},
		{&w.names.insert, `INSERT INTO audit_names (name) VALUES (?)`},
		{&w.verdicts.insert, `INSERT INTO audit_verdicts (effect, rule, unknown, decided_by) VALUES (?, ?, ?, ?)`},
	} {
		var err error
		if *s.to, err = tx.PrepareContext(ctx, s.text); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

func (w *indexer) close() {
	for _, s := range append(w.copies, w.calls, w.call, w.outcome, w.thinking, w.text, w.unexplained, w.change,
		w.reaches.find, w.reaches.insert,
		w.scopes.find, w.scopes.insert, w.verdicts.find, w.verdicts.insert, w.names.find, w.names.insert) {
		if s != nil {
			_ = s.Close()
		}
	}
}

// add adds one line; after the last one, call flush. Lines that are about no call and no change of a session are not in the index.
func (w *indexer) add(ctx context.Context, l *audit.Line) error {
	before := w.held[l.ID]
	switch l.Kind {
	case audit.Decided:
		w.held[l.ID] = w.hold(l)
		if before == nil {
			return nil
		}
		defer w.release(before)
		return w.insert(ctx, before, before)
	case audit.Outcome:
		if before != nil {
			delete(w.held, l.ID)
			defer w.release(before)
			return w.insert(ctx, before, l)
		}
		if err := w.write(ctx); err != nil {
			return err
		}
		res, err := w.outcome.ExecContext(ctx, outcomeOf(l), l.Error, l.Duration.Microseconds(), l.ID)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			if err == nil && l.Thinking != nil {
				err = w.lateThinking(ctx, l)
			}
			return err
		}
		return w.insert(ctx, l, l) // its decision is not in the log
	case audit.Session:
		_, err := w.change.ExecContext(ctx, l.Seq, l.Time.UnixMicro(), l.Session, l.Role,
			audit.SegmentNumber(l.Segment), l.Offset, l.Length)
		return err
	default:
		return nil
	}
}

func (w *indexer) hold(l *audit.Line) *audit.Line {
	held := new(audit.Line)
	if n := len(w.free); n > 0 {
		held, w.free = w.free[n-1], w.free[:n-1]
	}
	*held = *l
	return held
}

func (w *indexer) release(l *audit.Line) { w.free = append(w.free, l) }

// flush inserts the calls without outcome, in the order of the log.
func (w *indexer) flush(ctx context.Context) error {
	for _, l := range slices.SortedFunc(maps.Values(w.held), func(a, b *audit.Line) int { return cmp.Compare(a.Seq, b.Seq) }) {
		if err := w.insert(ctx, l, l); err != nil {
			return fmt.Errorf("%s, record %d: %w", l.Segment, l.Seq, err)
		}
	}
	clear(w.held)
	return w.write(ctx)
}

func outcomeOf(l *audit.Line) string {
	switch {
	case l.Kind == audit.Outcome && l.Outcome != "":
		return l.Outcome
	case l.Effect == "deny":
		return "denied"
	default:
		return "unfinished"
	}
}

// insert adds the call that l decides and end ends; without outcome, end is l.
func (w *indexer) insert(ctx context.Context, l, end *audit.Line) error {
	s, err := w.scopes.row(ctx, scope{l.Session, l.Tool, l.Role, l.Principal, l.Surface, l.Agent, l.ItemKind, l.Server},
		l.Session, l.Tool, l.Role, l.Principal, l.Surface, l.Agent, l.ItemKind, l.Server)
	if err != nil {
		return err
	}
	v, err := w.verdicts.row(ctx, verdict{l.Effect, l.Rule, l.Unknown, l.DecidedBy}, l.Effect, l.Rule, l.Unknown, l.DecidedBy)
	if err != nil {
		return err
	}
	reaches := reachOf(l)
	r, err := w.reaches.row(ctx, reaches, reaches.programs, reaches.hosts)
	if err != nil {
		return err
	}
	tool, err := w.names.row(ctx, l.Tool, l.Tool)
	if err != nil {
		return err
	}
	role, err := w.names.row(ctx, l.Role, l.Role)
	if err != nil {
		return err
	}
	var duration any
	if end.Kind == audit.Outcome {
		duration = end.Duration.Microseconds()
	}
	asked := int64(0)
	if l.Effect == "ask" {
		asked = v
	}
	w.rows = append(w.rows, l.Seq, l.ID, l.Time.UnixMicro(), s, tool, role, v, r, l.Reason, outcomeOf(end), end.Error, duration,
		audit.SegmentNumber(l.Segment), l.Offset, l.Length, asked)
	if len(w.rows) == rowsPerInsert*columns {
		_, err = w.calls.ExecContext(ctx, w.rows...)
		w.rows = w.rows[:0]
	}
	if t := cmp.Or(l.Thinking, end.Thinking); err == nil && t != nil {
		err = w.insertThinking(ctx, l.Seq, t)
	}
	return err
}

// lateThinking adds reasoning that came with the outcome of a call that is in the index already.
func (w *indexer) lateThinking(ctx context.Context, l *audit.Line) error {
	var seq int64
	err := w.unexplained.QueryRowContext(ctx, l.ID).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.insertThinking(ctx, seq, l.Thinking)
}

func (w *indexer) insertThinking(ctx context.Context, seq int64, t *audit.Thinking) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err := w.thinking.ExecContext(ctx, seq, string(raw), t.Type, t.Tokens); err != nil {
		return err
	}
	text := t.Thinking + "\n" + t.Summary
	_, err = w.text.ExecContext(ctx, seq, text, bigrams(text))
	return err
}

// write inserts the remaining rows one by one.
func (w *indexer) write(ctx context.Context) error {
	for row := range slices.Chunk(w.rows, columns) {
		if _, err := w.call.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	w.rows = w.rows[:0]
	return nil
}
