package book

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/store"
	"mycelium/internal/text"
)

// Book has the sessions of a project. It is safe for concurrent use, also by several processes.
type Book struct {
	db  *store.DB
	now func() time.Time
}

// New returns the book in a database.
func New(db *store.DB) *Book { return &Book{db: db, now: time.Now} }

// AbsentError means that there is no session.
type AbsentError struct{ ID string } // empty: none is open

func (e *AbsentError) Error() string {
	if e.ID == "" {
		return "no swarm session is open"
	}
	return fmt.Sprintf("there is no swarm session %q", e.ID)
}

// HeldError means that somebody else drives a session.
type HeldError struct {
	Holder string
	Until  time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s drives this session (its lease ends at %s unless it is renewed)", e.Holder, e.Until.Local().Format("15:04:05"))
}

// occupied refuses a session beside the one that is open.
func occupied(id string) error {
	return text.Hinted(fmt.Errorf("session %s is open, and a project has one at a time", id),
		"end it first: myc swarm merge takes over what has landed, myc swarm reset gives it up")
}

// Free refuses as [Book.Begin] does while a session is open, for what costs something before that.
func (b *Book) Free(ctx context.Context) error {
	s, err := b.Current(ctx)
	if absent := (*AbsentError)(nil); errors.As(err, &absent) {
		return nil
	}
	if err == nil && s.Open() {
		return occupied(s.ID)
	}
	return err
}

// Begin records a new session. It is refused while another one is open.
func (b *Book) Begin(ctx context.Context, s *Session) error {
	now := b.now()
	s.Began, s.Changed = now, now
	return b.db.Tx(ctx, func(tx *sql.Tx) error {
		var id string
		switch err := tx.QueryRowContext(ctx, "SELECT id FROM swarm_sessions WHERE open = 1").Scan(&id); {
		case err == nil:
			return occupied(id)
		case !errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("read the swarm: %w", err)
		}
		doc, err := json.Marshal(s, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("write the swarm: %w", err)
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO swarm_sessions (id, open, doc, began, changed) VALUES (?, 1, ?, ?, ?)", s.ID, doc,
			now.UnixMicro(), now.UnixMicro())
		if err == nil {
			began := []Event{{Kind: "session", Text: "the session began with " + text.Count(len(s.Features), "feature")}}
			for _, lack := range s.Lacks {
				began = append(began, Event{Kind: "session", Text: lack})
			}
			err = b.write(ctx, tx, s, began)
		}
		return err
	})
}

// Current returns the session that is open, else the last one.
func (b *Book) Current(ctx context.Context) (*Session, error) {
	return b.read(ctx, "ORDER BY open DESC, began DESC LIMIT 1", "")
}

// Read returns the session with an id.
func (b *Book) Read(ctx context.Context, id string) (*Session, error) {
	return b.read(ctx, "WHERE id = ?", id, id)
}

// Ended returns the sessions that are not open, in the order in which they began.
func (b *Book) Ended(ctx context.Context) (out []*Session, err error) {
	rows, err := b.db.QueryContext(ctx, "SELECT id FROM swarm_sessions WHERE open = 0 ORDER BY began")
	if err != nil {
		return nil, fmt.Errorf("read the swarm: %w", err)
	}
	var ids []string
	for rows.Next() {
		var id string
		if err = rows.Scan(&id); err != nil {
			break
		}
		ids = append(ids, id)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("read the swarm: %w", err)
	}
	for _, id := range ids {
		s, err := b.Read(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (b *Book) read(ctx context.Context, where, id string, args ...any) (*Session, error) {
	tx, err := b.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one state of both tables
	if err != nil {
		return nil, fmt.Errorf("read the swarm: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	return load(ctx, tx, where, id, args...)
}

func load(ctx context.Context, tx *sql.Tx, where, id string, args ...any) (*Session, error) {
	var doc []byte
	err := tx.QueryRowContext(ctx, "SELECT doc FROM swarm_sessions "+where, args...).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &AbsentError{id}
	}
	s := &Session{}
	if err == nil {
		err = json.Unmarshal(doc, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read the swarm: %w", err)
	}
	rows, err := tx.QueryContext(ctx, "SELECT doc FROM swarm_features WHERE session = ? ORDER BY n", s.ID)
	if err != nil {
		return nil, fmt.Errorf("read the swarm: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		f := &Feature{}
		if err := rows.Scan(&doc); err != nil {
			return nil, fmt.Errorf("read the swarm: %w", err)
		}
		if err := json.Unmarshal(doc, f); err != nil {
			return nil, fmt.Errorf("read a feature of the swarm: %w", err)
		}
		s.Features = append(s.Features, f)
	}
	return s, rows.Err()
}

// Hold makes a holder the one who drives a session, for a time. The same holder renews its lease so. The error is a *HeldError while
// somebody else has one.
//
// Hold, Release, Driver and the holder of [Book.Change] are the narrow interface of the claims of work: who drives a session has claimed
// every feature of it, gives them to workers, and each change that it makes is refused once it has lost its lease. With several nodes a
// queue of jobs on PostgreSQL (River) stands behind these four, and nothing else asks who works on what.
func (b *Book) Hold(ctx context.Context, id, holder string, lease time.Duration) error {
	now := b.now()
	return b.db.Tx(ctx, func(tx *sql.Tx) error {
		if err := held(ctx, tx, id, holder, now); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE swarm_sessions SET holder = ?, until = ? WHERE id = ?", holder, now.Add(lease).UnixMicro(), id)
		return err
	})
}

// Release gives a lease back.
func (b *Book) Release(ctx context.Context, id, holder string) error {
	return b.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE swarm_sessions SET holder = '', until = 0 WHERE id = ? AND holder = ?", id, holder)
		return err
	})
}

// Driver returns who drives a session now; "" if nobody does.
func (b *Book) Driver(ctx context.Context, id string) (string, error) {
	var holder string
	err := b.db.QueryRowContext(ctx, "SELECT holder FROM swarm_sessions WHERE id = ? AND until > ?", id, b.now().UnixMicro()).Scan(&holder)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return holder, err
}

// held refuses a holder while another one's lease runs.
func held(ctx context.Context, tx *sql.Tx, id, holder string, now time.Time) error {
	var who string
	var until int64
	err := tx.QueryRowContext(ctx, "SELECT holder, until FROM swarm_sessions WHERE id = ?", id).Scan(&who, &until)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return &AbsentError{id}
	case err != nil:
		return fmt.Errorf("read the swarm: %w", err)
	case who != "" && who != holder && until > now.UnixMicro():
		return &HeldError{who, time.UnixMicro(until)}
	}
	return nil
}

// Change changes a session in one transaction: f is given what is true now, changes it, and returns what happened. Without an event
// nothing is written. A holder that is not empty must have the lease. The session is returned as it is then.
func (b *Book) Change(ctx context.Context, id, holder string, f func(*Session) ([]Event, error)) (s *Session, err error) {
	err = b.db.Tx(ctx, func(tx *sql.Tx) error {
		if holder != "" {
			if err := held(ctx, tx, id, holder, b.now()); err != nil {
				return err
			}
		}
		if s, err = load(ctx, tx, "WHERE id = ?", id, id); err != nil {
			return err
		}
		events, err := f(s)
		if err != nil || len(events) == 0 {
			return err
		}
		return b.write(ctx, tx, s, events)
	})
	return s, err
}

// maxText bounds the text of an event, in bytes.
const maxText = 4000

// write writes a session whole.
func (b *Book) write(ctx context.Context, tx *sql.Tx, s *Session, events []Event) error {
	now := b.now()
	s.Changed = now
	doc, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write the swarm: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE swarm_sessions SET doc = ?, open = ?, changed = ? WHERE id = ?", doc, s.Open(), now.UnixMicro(),
		s.ID); err != nil {
		return fmt.Errorf("write the swarm: %w", err)
	}
	for n, f := range s.Features {
		if doc, err = json.Marshal(f, json.Deterministic(true)); err != nil {
			return fmt.Errorf("write feature %s: %w", f.ID, err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO swarm_features (session, n, id, doc) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET id = excluded.id, doc = excluded.doc WHERE doc != excluded.doc`, s.ID, n, f.ID, doc); err != nil {
			return fmt.Errorf("write feature %s: %w", f.ID, err)
		}
	}
	for _, e := range events {
		if _, err := tx.ExecContext(ctx, "INSERT INTO swarm_events (session, at, kind, feature, attempt, text) VALUES (?, ?, ?, ?, ?, ?)",
			s.ID, now.UnixMicro(), e.Kind, e.Feature, e.Attempt, text.Truncate(e.Text, maxText)); err != nil {
			return fmt.Errorf("write an event of the swarm: %w", err)
		}
	}
	return nil
}

// Events returns what happened in a session after an event, in order. A limit of 0 is no limit; else the last ones are returned.
func (b *Book) Events(ctx context.Context, id string, after int64, limit int) ([]Event, error) {
	if limit <= 0 {
		limit = -1
	}
	rows, err := b.db.QueryContext(ctx, `SELECT seq, at, kind, feature, attempt, text FROM (SELECT * FROM swarm_events
		WHERE session = ? AND seq > ? ORDER BY seq DESC LIMIT ?) ORDER BY seq`, id, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events of the swarm: %w", err)
	}
	defer rows.Close()
	out := []Event{}
	for rows.Next() {
		var e Event
		var at int64
		if err := rows.Scan(&e.Seq, &at, &e.Kind, &e.Feature, &e.Attempt, &e.Text); err != nil {
			return nil, fmt.Errorf("read events of the swarm: %w", err)
		}
		e.At = time.UnixMicro(at).UTC()
		out = append(out, e)
	}
	return out, rows.Err()
}
