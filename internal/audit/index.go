package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"

	"mycelium/internal/store"
)

// Index answers queries about the log from the project's database. The daemon lets it follow the log; every query reads the
// tail past it, so that an answer is never stale. Several processes may use indexes of one database at once.
type Index struct {
	db *store.DB
	o  Options
}

// NewIndex uses the database; o names the log.
func NewIndex(db *store.DB, o Options) *Index { return &Index{db, o} }

// batch is how many lines one transaction of Follow takes: others may write between two. breath is after how many of them it lets calls
// go first.
const (
	batch  = 4000
	breath = 100
)

// Follow brings the index up to the end of the log. A log that is another one than the index was made of (its folder was moved
// away, say) makes the index begin anew.
func (x *Index) Follow(ctx context.Context) error {
	for {
		more := false
		err := x.db.Tx(ctx, func(tx *sql.Tx) (err error) {
			more, err = x.step(ctx, tx, batch)
			return err
		})
		if err != nil || !more {
			return wrap("bring the audit index up to date", err)
		}
	}
}

// Rebuild drops the index and reads the whole log again.
func (x *Index) Rebuild(ctx context.Context) error {
	if err := x.db.Tx(ctx, func(tx *sql.Tx) error { return clearIndex(ctx, tx) }); err != nil {
		return wrap("rebuild the audit index", err)
	}
	return x.Follow(ctx)
}

func clearIndex(ctx context.Context, tx *sql.Tx) error {
	return execAll(ctx, tx, "DELETE FROM audit_calls", "DELETE FROM audit_scopes", "DELETE FROM audit_verdicts", "DELETE FROM audit_thinking",
		"DELETE FROM audit_position", "INSERT INTO audit_text (audit_text) VALUES ('delete-all')")
}

func execAll(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// position reads how far the index is; false if the log is another one.
func (x *Index) position(ctx context.Context, tx *sql.Tx) (p Position, same bool, err error) {
	var mac string
	err = tx.QueryRowContext(ctx, "SELECT segment, offset, mac FROM audit_position").Scan(&p.Segment, &p.Offset, &mac)
	if errors.Is(err, sql.ErrNoRows) {
		return Position{}, true, nil
	}
	return p, macBefore(x.o, p) == mac, err
}

// step takes up to limit further lines into the index.
func (x *Index) step(ctx context.Context, tx *sql.Tx, limit int) (more bool, err error) {
	from, same, err := x.position(ctx, tx)
	if err != nil {
		return false, err
	}
	if !same {
		if err := clearIndex(ctx, tx); err != nil {
			return false, err
		}
		from = Position{}
	}
	// A statement whose context can end starts a goroutine, and there is one for every few lines; the loop looks at ctx instead.
	free := context.WithoutCancel(ctx)
	w, err := newIndexer(free, tx)
	if err != nil {
		return false, err
	}
	defer w.close()
	var last Line
	n := 0
	for line, err := range read(ctx, x.o, from, false, new(scanner).line) {
		if err != nil {
			return false, err
		}
		if err := w.add(free, &line); err != nil {
			return false, fmt.Errorf("%s, record %d: %w", line.Segment, line.Seq, err)
		}
		last = line
		if n++; n == limit {
			break
		}
		if n%breath == 0 {
			runtime.Gosched()
		}
	}
	if err := errors.Join(ctx.Err(), w.flush(free)); err != nil {
		return false, err
	}
	if n == 0 {
		return false, nil
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO audit_position (one, segment, offset, seq, mac) VALUES (1, ?, ?, ?, ?)", last.Segment, last.Offset, last.Seq, last.Mac)
	return n == limit, err
}
