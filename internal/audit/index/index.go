// Package index answers queries about the audit log from the project's database: entries, statistics, exports. The index is built from the
// log and can be rebuilt from it.
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"

	"mycelium/internal/audit"
	"mycelium/internal/store"
)

// Index is the index of one log. The daemon calls [Index.Follow] as the log grows. Every query also reads the end of the log that is not in
// the index yet, so answers are never stale. Several processes may use one database at once.
type Index struct {
	db *store.DB
	o  audit.Options
}

// New returns the index that db holds of the log o.
func New(db *store.DB, o audit.Options) *Index { return &Index{db, o} }

const (
	linesPerTx = 4000 // lines of one transaction of Follow; other writers get their turn between two
	yieldEvery = 100  // lines after which Follow yields the processor to calls
)

// Follow brings the index up to the end of the log. If the log is not the one that the index was built from (its folder was moved away, for
// example), Follow rebuilds the index.
func (x *Index) Follow(ctx context.Context) error {
	for {
		more := false
		err := x.db.Tx(ctx, func(tx *sql.Tx) (err error) {
			more, err = x.step(ctx, tx, linesPerTx)
			return err
		})
		if err != nil || !more {
			return wrap("bring the audit index up to date", err)
		}
	}
}

// Rebuild clears the index and reads the whole log again.
func (x *Index) Rebuild(ctx context.Context) error {
	if err := x.db.Tx(ctx, func(tx *sql.Tx) error { return clearIndex(ctx, tx) }); err != nil {
		return wrap("rebuild the audit index", err)
	}
	return x.Follow(ctx)
}

func clearIndex(ctx context.Context, tx *sql.Tx) error {
	return execAll(ctx, tx, "DELETE FROM audit_calls", "DELETE FROM audit_scopes", "DELETE FROM audit_verdicts", "DELETE FROM audit_names",
		"DELETE FROM audit_reaches", "DELETE FROM audit_changes", "DELETE FROM audit_thinking",
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

// position returns the end of the index in the log. same is false if the log is not the one that the index was built from.
func (x *Index) position(ctx context.Context, from interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (p audit.Position, same bool, err error) {
	var mac string
	err = from.QueryRowContext(ctx, "SELECT segment, offset, mac FROM audit_position").Scan(&p.Segment, &p.Offset, &mac)
	if errors.Is(err, sql.ErrNoRows) {
		return audit.Position{}, true, nil
	}
	return p, audit.MacBefore(x.o, p) == mac, err
}

// step adds up to limit further lines to the index, and reports whether there may be more.
func (x *Index) step(ctx context.Context, tx *sql.Tx, limit int) (more bool, err error) {
	from, same, err := x.position(ctx, tx)
	if err != nil {
		return false, err
	}
	if !same {
		if err := clearIndex(ctx, tx); err != nil {
			return false, err
		}
		from = audit.Position{}
	}
	// A statement with a cancellable context starts a goroutine, and there is a statement for every few lines. Scan watches ctx instead.
	free := context.WithoutCancel(ctx)
	w, err := newIndexer(free, tx)
	if err != nil {
		return false, err
	}
	defer w.close()
	var last audit.Line
	n := 0
	for line, err := range audit.Scan(ctx, x.o, from) {
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
		if n%yieldEvery == 0 {
			runtime.Gosched()
		}
	}
	if err := errors.Join(ctx.Err(), w.flush(free)); err != nil {
		return false, err
	}
	if n == 0 {
		return false, nil
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO audit_position (one, segment, offset, seq, mac) VALUES (1, ?, ?, ?, ?)",
		last.Segment, last.Offset, last.Seq, last.Mac)
	return n == limit, err
}

// Lag returns how many bytes of the log the index has not read yet.
func (x *Index) Lag(ctx context.Context) (int64, error) {
	var at audit.Position
	err := x.db.QueryRowContext(ctx, "SELECT segment, offset FROM audit_position").Scan(&at.Segment, &at.Offset)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, wrap("read the position of the audit index", err)
	}
	return audit.Remaining(x.o, at)
}
