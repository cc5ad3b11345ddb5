package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/audit"
	"mycelium/internal/rawjson"
)

// Entry is one call, its decision joined with its outcome, in the form of `myc audit query --json`.
type Entry struct {
	ID         string          `json:"id"`
	Time       time.Time       `json:"time"`
	Session    string          `json:"session"`
	Principal  string          `json:"principal"`
	Role       string          `json:"role"`
	Surface    string          `json:"surface"`
	Agent      string          `json:"agent"` // the program whose own tool it is: claude, codex …; else ""
	Tool       string          `json:"tool"`
	Server     string          `json:"server"`
	Args       []byte          `json:"-"` // raw JSON, written as "args"; nil without arguments, written as null
	Effect     string          `json:"effect"`
	Rule       string          `json:"rule"`
	Reason     string          `json:"reason"`
	DecidedBy  string          `json:"decidedBy"`
	Sandbox    string          `json:"sandbox,omitempty"` // the profile in which an allowed call runs; "": none, or its line is gone
	Outside    string          `json:"outside,omitempty"` // why an allowed command runs outside of the wall; "": it does not, or its line is gone
	Outcome    string          `json:"outcome"`           // ok, error, denied; "unfinished" when no outcome was recorded
	DurationMs float64         `json:"durationMs"`
	Thinking   *audit.Thinking `json:"thinking,omitempty"`
	Seq        int64           `json:"-"` // the number of the decision's line in the log
	Error      string          `json:"-"` // what went wrong, of a call that failed
	ToolUse    string          `json:"-"` // the agent's own id of the call; "": none, or its line is gone
}

// MarshalJSON writes the members in the order of the command line's contract.
func (e Entry) MarshalJSON() ([]byte, error) {
	args := jsontext.Value(e.Args)
	if len(args) == 0 {
		args = jsontext.Value("null")
	}
	return json.Marshal(struct {
		ID         string          `json:"id"`
		Time       time.Time       `json:"time"`
		Session    string          `json:"session"`
		Principal  string          `json:"principal"`
		Agent      string          `json:"agent"`
		Role       string          `json:"role"`
		Surface    string          `json:"surface"`
		Tool       string          `json:"tool"`
		Server     string          `json:"server"`
		Args       jsontext.Value  `json:"args"`
		Effect     string          `json:"effect"`
		Rule       string          `json:"rule"`
		Reason     string          `json:"reason"`
		DecidedBy  string          `json:"decidedBy"`
		Sandbox    string          `json:"sandbox,omitempty"`
		Outside    string          `json:"outside,omitempty"`
		Outcome    string          `json:"outcome"`
		DurationMs float64         `json:"durationMs"`
		Thinking   *audit.Thinking `json:"thinking,omitempty"`
	}{e.ID, e.Time, e.Session, e.Principal, e.Agent, e.Role, e.Surface, e.Tool, e.Server, args, e.Effect, e.Rule, e.Reason, e.DecidedBy,
		e.Sandbox, e.Outside, e.Outcome, e.DurationMs, e.Thinking})
}

// Query selects entries, newest first. In a name, * stands for any text.
//
// Before and After page through a long log: they hold a place while the log grows, and the last page costs no more than the first. An
// offset does neither.
type Query struct {
	Role, Tool, Session, Outcome, Effect string
	Rule, By                             string   // of the decision that counts
	Also                                 []string // with Session: further sessions, by their whole ids
	Filter
	Since, Until  time.Time // Since <= time < Until; zero: no bound
	HasThinking   *bool
	ThinkingType  string
	Text          string // words of the reasoning; Japanese works
	Limit, Offset int    // Limit 0: 100; below 0: all
	Before, After int64  // only entries with a smaller or a larger Seq; 0: no bound
	OldestFirst   bool   // the other order: with After, the entries next to it
}

const defaultLimit = 100

// Query returns the matching entries. Every word of q.Text must match the beginning of a word, in any case.
func (x *Index) Query(ctx context.Context, q Query) ([]Entry, error) {
	out := []Entry{}
	err := x.each(ctx, q, func(e Entry) error {
		out = append(out, e)
		return nil
	})
	return out, err
}

// Denials returns the newest denied calls (A47's getRecentDenials); limit 0 is 10.
func (x *Index) Denials(ctx context.Context, limit int) ([]Entry, error) {
	if limit == 0 {
		limit = 10
	}
	return x.Query(ctx, Query{Outcome: "denied", Limit: limit})
}

// each calls f for every matching entry.
func (x *Index) each(ctx context.Context, q Query, f func(Entry) error) error {
	return wrap("query the audit index", x.read(ctx, func(tx *sql.Tx, tail bool) error {
		sifted := q // if the lines of the log decide, the limit counts what they let through
		if !q.empty() {
			sifted.Limit, sifted.Offset = -1, 0
		}
		statement, args := selectEntries(sifted, tail)
		rows, err := tx.QueryContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		log := lineReader{dir: x.o.Dir}
		defer log.close()
		pass := q.window()
		for rows.Next() {
			e, rest, err := scanEntry(rows, &log)
			if err != nil {
				return err
			}
			if !q.empty() && !q.matches(&e, rest.facts) {
				continue
			}
			take, more := pass()
			if take {
				if err := f(e); err != nil {
					return err
				}
			}
			if !more {
				return nil
			}
		}
		return rows.Err()
	}))
}

// selectEntries makes the statement of a query. Without a tail it reads the index. With one it merges the calls of the index that are not
// in the tail with those that are: each side is read in the order of an index, and no further than the limit.
func selectEntries(q Query, tail bool) (statement string, args []any) {
	where, args := conditions(q, tail)
	side := func(schema, more string) string {
		all := where
		if more != "" {
			all = append(slices.Clone(where), more)
		}
		text := `SELECT c.seq AS seq, c.id, c.time, s.session, s.principal, s.role, s.surface, s.tool, s.server, v.effect, v.rule, c.reason,
			v.decided_by, c.outcome, c.error, coalesce(c.duration_us, 0), t.thinking, c.segment, c.line_end, c.line_length FROM ` +
			joined(schema+"audit_calls", schema+"audit_thinking")
		if len(all) > 0 {
			text += " WHERE " + strings.Join(all, " AND ")
		}
		return text
	}
	if statement = side("main.", ""); tail {
		statement = side("main.", "c.id NOT IN (SELECT id FROM temp.audit_calls)") + " UNION ALL " + side("temp.", "")
		args = append(args, args...)
	}
	limit := q.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	order := " ORDER BY seq DESC LIMIT ? OFFSET ?"
	if q.OldestFirst {
		order = " ORDER BY seq LIMIT ? OFFSET ?"
	}
	return statement + order, append(args, limit, max(0, q.Offset))
}

func scanEntry(rows *sql.Rows, log *lineReader) (e Entry, line rest, err error) {
	var micros, duration, end int64
	var segment, length int
	var thinking sql.NullString
	err = rows.Scan(&e.Seq, &e.ID, &micros, &e.Session, &e.Principal, &e.Role, &e.Surface, &e.Tool, &e.Server, &e.Effect, &e.Rule, &e.Reason,
		&e.DecidedBy,
		&e.Outcome, &e.Error, &duration, &thinking, &segment, &end, &length)
	if err != nil {
		return e, line, err
	}
	e.Time = time.UnixMicro(micros).UTC()
	e.DurationMs = float64(duration) / 1e3
	line, err = log.rest(e.ID, segment, end, length)
	e.Args, e.Agent, e.Sandbox, e.Outside, e.ToolUse = line.args, line.agent, line.sandbox, line.outside, line.toolUse
	if err == nil && thinking.Valid {
		e.Thinking = &audit.Thinking{}
		err = json.Unmarshal([]byte(thinking.String), e.Thinking)
	}
	return e, line, err
}

// maxLine bounds the bytes of a line of the log. It is larger than any record.
const maxLine = 4 << 20

// lineReader reads lines of the log by their place.
type lineReader struct {
	dir  string
	n    int      // number of the open segment
	file *os.File // nil: no segment is open
}

func (l *lineReader) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}

// rest is what the index does not hold of a call.
type rest struct {
	args, facts []byte // raw JSON; nil: it has none

	agent, sandbox, outside, toolUse string
}

// rest returns what the index does not hold of the call with that id. It is empty if the segment is gone.
func (l *lineReader) rest(id string, segment int, end int64, length int) (r rest, err error) {
	if l.file == nil || l.n != segment {
		l.close()
		if l.file, err = os.Open(filepath.Join(l.dir, audit.SegmentName(segment))); errors.Is(err, fs.ErrNotExist) {
			l.file = nil
			return r, nil
		} else if err != nil {
			l.file = nil
			return r, fmt.Errorf("read the arguments of a call: %w", err)
		}
		l.n = segment
	}
	if length <= 1 || length > maxLine {
		return r, nil
	}
	raw := make([]byte, length)
	if _, err := l.file.ReadAt(raw, end-int64(length)); err != nil && !errors.Is(err, io.EOF) {
		return r, fmt.Errorf("read the arguments of a call: %w", err)
	}
	line := raw[:length-1]
	if rawjson.TextAt(line, "id") != id { // the line is not the one that was indexed: verify reports that
		return r, nil
	}
	if r.args = rawjson.Member(line, "args"); !rawjson.Valid(r.args) {
		r.args = nil
	}
	r.facts, r.agent = rawjson.Member(line, "facts"), rawjson.TextAt(line, "agent")
	r.sandbox, r.outside = rawjson.TextAt(line, "sandbox"), rawjson.TextAt(line, "outside")
	r.toolUse = rawjson.TextAt(line, "toolUse")
	return r, nil
}

// conditions makes the parts of the WHERE clause of a query.
func conditions(q Query, tail bool) (parts []string, args []any) {
	add := func(part string, values ...any) {
		parts = append(parts, part)
		args = append(args, values...)
	}
	for _, c := range [][2]string{{"c.role", q.Role}, {"c.tool", q.Tool}} {
		if strings.Contains(c[1], "*") {
			add(c[0]+" IN (SELECT name_id FROM audit_names WHERE name GLOB ?)", globOf(c[1]))
		} else if c[1] != "" {
			add(c[0]+" = (SELECT name_id FROM audit_names WHERE name = ?)", c[1])
		}
	}
	if strings.Contains(q.Session, "*") {
		add("c.scope IN (SELECT scope FROM audit_scopes WHERE session GLOB ?)", globOf(q.Session))
	} else if q.Session != "" { // it has few scopes
		part, values := q.sessions()
		add("c.scope IN (SELECT scope FROM audit_scopes WHERE "+part+")", values...)
	}
	q.prefilter(add)
	if q.Rule != "" {
		add("v.rule GLOB ?", globOf(q.Rule))
	}
	for _, c := range [][2]string{{"c.outcome", q.Outcome}, {"v.effect", q.Effect}, {"v.decided_by", q.By}, {"t.type", q.ThinkingType}} {
		if c[1] != "" {
			add(c[0]+" = ?", c[1])
		}
	}
	if q.Outcome != "" && q.Outcome != "ok" {
		add("c.outcome <> 'ok'") // makes SQLite use the partial index of these rows
	}
	for _, c := range []struct {
		part  string
		bound int64
	}{{"c.seq < ?", q.Before}, {"c.seq > ?", q.After}} {
		if c.bound != 0 {
			add(c.part, c.bound)
		}
	}
	if !q.Since.IsZero() {
		add("c.time >= ?", q.Since.UnixMicro())
	}
	if !q.Until.IsZero() {
		add("c.time < ?", q.Until.UnixMicro())
	}
	if q.HasThinking != nil {
		add("(t.thinking IS NOT NULL) = ?", *q.HasThinking)
	}
	if q.Text != "" {
		if m := matchExpression(q.Text); m == "" {
			add("0") // only punctuation: nothing matches
		} else if tail {
			add("c.seq IN (SELECT rowid FROM main.audit_text(?) UNION ALL SELECT rowid FROM temp.audit_text(?))", m, m)
		} else {
			add("c.seq IN (SELECT rowid FROM audit_text(?))", m)
		}
	}
	return parts, args
}

// sessions is the condition that a row is about one of the sessions of the query.
func (q *Query) sessions() (part string, values []any) {
	values = []any{q.Session}
	for _, id := range q.Also {
		values = append(values, id)
	}
	return "session IN (?" + strings.Repeat(", ?", len(q.Also)) + ")", values
}

// joined is the FROM clause of queries: calls c with their scope s, verdict v and reasoning t. CROSS JOIN fixes the order of the join,
// because the newest calls come first.
func joined(calls, thinking string) string {
	return calls + " c CROSS JOIN audit_scopes s USING (scope) CROSS JOIN audit_verdicts v USING (verdict) LEFT JOIN " + thinking +
		" t ON t.seq = c.seq"
}

// thinkingTable is the table of reasoning, as callsTable is that of calls.
func thinkingTable(tail bool) string {
	if !tail {
		return "audit_thinking"
	}
	return "(SELECT * FROM main.audit_thinking WHERE seq NOT IN (SELECT seq FROM temp.audit_thinking) " +
		"UNION ALL SELECT * FROM temp.audit_thinking)"
}

// callsTable is the table of calls; with a tail, the calls of the tail replace those of the index.
func callsTable(tail bool) string {
	if !tail {
		return "audit_calls"
	}
	return "(SELECT * FROM main.audit_calls WHERE id NOT IN (SELECT id FROM temp.audit_calls) UNION ALL SELECT * FROM temp.audit_calls)"
}

// longTail is how many bytes of the log a query reads by itself, about 2,000 calls. Beyond that it brings the index up to date first: the
// daemon leaves it behind for half a minute while there are many calls, and the next query would read them all again.
const longTail = 2 << 20

// catchUp shortens a long tail. If it cannot, because the disk is full for example, the query reads the tail all the same.
func (x *Index) catchUp(ctx context.Context) {
	if lag, err := x.Lag(ctx); err != nil || lag <= longTail {
		return
	}
	if _, same, err := x.position(ctx, x.db); err == nil && same {
		_ = x.Follow(ctx)
	}
}

// read runs f on one state of the index. If the log is ahead of the index, its tail is put into temporary tables for the time of f. So the
// same queries work, no reader waits for a writer unless the tail is long, and the log can be read when the disk is full.
func (x *Index) read(ctx context.Context, f func(tx *sql.Tx, tail bool) error) (err error) {
	x.catchUp(ctx)
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// Connections of the reading pool may not write, not even to temporary tables.
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0; PRAGMA temp_store = MEMORY"); err != nil {
		return err
	}
	defer func() {
		_, e := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = 1")
		err = errors.Join(err, e)
	}()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // the temporary tables end with it
	tail, err := x.loadTail(ctx, tx)
	if err != nil {
		return err
	}
	return f(tx, tail)
}

// loadTail makes the temporary tables if the log has a tail, and reports whether it has.
func (x *Index) loadTail(ctx context.Context, tx *sql.Tx) (bool, error) {
	from, same, err := x.position(ctx, tx)
	if err != nil {
		return false, err
	}
	if !same {
		return false, errors.New("the index belongs to another log; run \"myc audit reindex\" to rebuild it")
	}
	var w *indexer
	ctx, stop := context.WithoutCancel(ctx), ctx // as in step
	for line, err := range audit.Scan(stop, x.o, from) {
		if err != nil {
			return false, err
		}
		if w == nil {
			if w, err = tempTables(ctx, tx); err != nil {
				return false, err
			}
			defer w.close()
		}
		if line.Kind == audit.Outcome || line.Kind == audit.Decided { // its call may be in the index already
			for _, c := range w.copies {
				if _, err := c.ExecContext(ctx, line.ID); err != nil {
					return false, err
				}
			}
		}
		if err := w.add(ctx, &line); err != nil {
			return false, fmt.Errorf("%s, record %d: %w", line.Segment, line.Seq, err)
		}
	}
	if w != nil {
		return true, errors.Join(stop.Err(), w.flush(ctx))
	}
	return false, stop.Err()
}

// tempTables makes temporary tables with the names of the index's tables, and returns an indexer that writes to them.
func tempTables(ctx context.Context, tx *sql.Tx) (*indexer, error) {
	for _, table := range []string{"audit_calls", "audit_scopes", "audit_verdicts", "audit_names", "audit_reaches", "audit_changes",
		"audit_thinking", "audit_text"} {
		var made string
		if err := tx.QueryRowContext(ctx, "SELECT sql FROM main.sqlite_schema WHERE name = ?", table).Scan(&made); err != nil {
			return nil, err
		}
		if err := execAll(ctx, tx, strings.Replace(made, "TABLE "+table, "TABLE temp."+table, 1)); err != nil {
			return nil, err
		}
	}
	// These have few rows. With copies, the calls of the index and of the tail join with one table.
	if err := execAll(ctx, tx, "INSERT INTO temp.audit_scopes SELECT * FROM main.audit_scopes",
		"INSERT INTO temp.audit_verdicts SELECT * FROM main.audit_verdicts",
		"INSERT INTO temp.audit_names SELECT * FROM main.audit_names",
		"INSERT INTO temp.audit_reaches SELECT * FROM main.audit_reaches"); err != nil {
		return nil, err
	}
	w, err := newIndexer(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, text := range []string{"INSERT OR IGNORE INTO temp.audit_calls SELECT * FROM main.audit_calls WHERE id = ?",
		"INSERT OR IGNORE INTO temp.audit_thinking SELECT * FROM main.audit_thinking " +
			"WHERE seq = (SELECT seq FROM main.audit_calls WHERE id = ?)"} {
		c, err := tx.PrepareContext(ctx, text)
		if err != nil {
			w.close()
			return nil, err
		}
		w.copies = append(w.copies, c)
	}
	return w, nil
}
