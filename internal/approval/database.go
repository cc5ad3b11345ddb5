package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The queries on the table approvals. Times are microseconds since 1970.

// keepSettled is how long a settled request is kept. The audit log keeps the decisions for ever.
const keepSettled = 30 * 24 * time.Hour

// encoding is the JSON form of stored requests.
var encoding = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true))

// insert stores a new request.
func (q *Queue) insert(ctx context.Context, e *entry) error {
	if q.o.DB == nil {
		return nil
	}
	raw, err := json.Marshal(&e.r, encoding)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	return q.o.DB.Tx(context.WithoutCancel(ctx), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO approvals (id, session, bound, state, created_at, request) VALUES (?, ?, ?, ?, ?, ?)`,
			e.r.ID, e.r.Session, append(e.bound[:len(e.bound):len(e.bound)], e.same[:]...), string(Pending), e.r.Created.UnixMicro(), string(raw))
		return err
	})
}

// update stores the final state of a request. It fails if the stored request is final already.
func (q *Queue) update(e *entry, r *Request, remember bool) error {
	if q.o.DB == nil {
		return nil
	}
	raw, answer, err := encoded(r)
	if err != nil {
		return err
	}
	return q.o.DB.Tx(context.WithoutCancel(q.ctx), func(tx *sql.Tx) error {
		res, err := tx.Exec(`UPDATE approvals SET state = ?, remembered = ?, settled_at = ?, request = ?, answer = ? WHERE id = ? AND state = ?`,
			string(r.State), remember, r.Answer.Time.UnixMicro(), raw, answer, e.r.ID, string(Pending))
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(errors.New("the request is not in the database any more"), err)
		}
		return nil
	})
}

// encoded returns a settled request and its answer as they are stored.
func encoded(r *Request) (request, answer string, err error) {
	raw, err := json.Marshal(r, encoding)
	if err != nil {
		return "", "", fmt.Errorf("write request: %w", err)
	}
	said, err := json.Marshal(r.Answer, encoding)
	if err != nil {
		return "", "", fmt.Errorf("write answer: %w", err)
	}
	return string(raw), string(said), nil
}

// forgetAnswers drops the stored answers for the rest of a session.
func (q *Queue) forgetAnswers(ctx context.Context, session string) error {
	if q.o.DB == nil {
		return nil
	}
	return q.o.DB.Tx(context.WithoutCancel(ctx), func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE approvals SET remembered = 0 WHERE session = ? AND remembered = 1`, session)
		return err
	})
}

// find reads a request that is no longer in memory.
func (q *Queue) find(ctx context.Context, id string) (r Request, err error) {
	if q.o.DB == nil {
		return r, ErrUnknown
	}
	var raw string
	err = q.o.DB.QueryRowContext(ctx, `SELECT request FROM approvals WHERE id = ?`, id).Scan(&raw)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, ErrUnknown
	case err != nil:
		return r, fmt.Errorf("read request %s: %w", id, err)
	}
	return r, decode(raw, &r)
}

func decode(raw string, r *Request) error {
	if err := json.Unmarshal([]byte(raw), r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	return nil
}

// Answered returns the requests that people, or a model, have answered, the newest answer first and at most n. Those whose time ran out
// are not among them. Without a database there are none.
func (q *Queue) Answered(ctx context.Context, n int) (list []Request, err error) {
	if q.o.DB == nil {
		return nil, nil
	}
	rows, err := q.o.DB.QueryContext(ctx, `SELECT request FROM approvals WHERE state IN (?, ?) ORDER BY settled_at DESC LIMIT ?`,
		string(Allowed), string(Denied), n)
	if err != nil {
		return nil, fmt.Errorf("read answered requests: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var raw string
		var r Request
		if err := rows.Scan(&raw); err != nil {
			return list, fmt.Errorf("read answered requests: %w", err)
		}
		if decode(raw, &r) == nil && r.Answer != nil { // one that an earlier version wrote otherwise is left out
			list = append(list, r)
		}
	}
	return list, rows.Err()
}

// load reads what the last process left: requests that wait, and answers for the rest of sessions.
func (q *Queue) load(ctx context.Context) error {
	if q.o.DB == nil {
		return nil
	}
	old := q.o.Now().Add(-keepSettled).UnixMicro()
	err := q.o.DB.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM approvals WHERE settled_at < ? AND remembered = 0`, old)
		return err
	})
	if err != nil {
		return err
	}
	rows, err := q.o.DB.QueryContext(ctx, `SELECT bound, state, request FROM approvals WHERE state = ? OR remembered = 1 ORDER BY created_at`,
		string(Pending))
	if err != nil {
		return err
	}
	defer rows.Close()
	q.mu.Lock()
	defer q.mu.Unlock()
	for rows.Next() {
		var bound []byte
		var state, raw string
		if err := rows.Scan(&bound, &state, &raw); err != nil {
			return err
		}
		e := &entry{done: make(chan struct{}), announced: make(chan struct{})}
		close(e.announced)
		if err := decode(raw, &e.r); err != nil || len(bound) < len(e.bound) {
			q.o.Logger.Error("a request in the database cannot be read, and is left alone", "error", err)
			continue
		}
		copy(e.same[:], bound[copy(e.bound[:], bound):])
		q.takeOver(e, State(state))
	}
	return rows.Err()
}

// takeOver adds a request of the last process to the queue. The lock is held.
func (q *Queue) takeOver(e *entry, state State) {
	if state != Pending {
		if e.r.Answer != nil {
			q.kept[e.key(e.r.Answer)] = kept{e.same, *e.r.Answer, e.r}
		}
		return
	}
	e.r.Waiting = 0
	q.open[e.r.ID], q.byBound[e.bound] = e, e
	left, by := rejoinTime, ByCaller
	if d := e.r.Deadline.Sub(q.o.Now()); !e.r.Deadline.IsZero() && d < left {
		left, by = d, ByDeadline
	}
	q.expireAfter(e, left, by)
}
