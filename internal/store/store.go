// Package store is the project's database: SQLite, embedded, one file in the state of the project.
//
// It owns the schema and opens the connections. The packages that keep data in it own their queries.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DB is an open database with the current schema. The embedded pool only reads; [DB.Tx] writes, one transaction at a time.
type DB struct {
	*sql.DB
	writer *sql.DB // one connection
	path   string
}

// busyTimeout is how long a connection waits for a writer in another process, in milliseconds. Transactions take milliseconds; a process
// that was stopped inside one must not stop the others forever.
const busyTimeout = "5000"

// Open opens or creates the database that url names ("sqlite:///abs/path.db") and migrates it. The file gets mode 0600, and so
// do the files that SQLite keeps beside it; the last folder of the path is made if it is missing. A file that is damaged, is no
// database, or was written by a newer program is an error that says what to do, and is left as it is.
func Open(ctx context.Context, url string) (*DB, error) {
	path, err := pathOf(url)
	if err != nil {
		return nil, err
	}
	created, err := prepare(path)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db := &DB{path: path}
	// A transaction of the reading pool starts deferred: it never waits for a writer.
	if db.DB, err = pool(path, "_query_only=1"); err != nil {
		return nil, db.explain("open", err)
	}
	// synchronous FULL: a session that has ended must not return after a power cut.
	if db.writer, err = pool(path, "_txlock=immediate&_synchronous=FULL&_journal_mode=WAL"); err != nil {
		return nil, errors.Join(db.explain("open", err), db.DB.Close())
	}
	db.writer.SetMaxOpenConns(1)
	if err := db.migrate(ctx, created); err != nil {
		return nil, errors.Join(db.explain("open", err), db.Close())
	}
	return db, nil
}

// Tx runs f in an immediate write transaction, and commits it unless f fails. Other transactions, in any process, wait for it: f must be
// short and must not call Tx.
func (db *DB) Tx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return db.explain("write", err)
	}
	defer tx.Rollback() // after an error or panic of f; no effect after Commit
	if err := f(tx); err != nil {
		return db.explain("write", err)
	}
	if err := tx.Commit(); err != nil {
		return db.explain("write", err)
	}
	return nil
}

// Close closes all connections. The last one merges the write-ahead log into the file.
func (db *DB) Close() error {
	return errors.Join(db.DB.Close(), db.writer.Close())
}

// pathOf returns the path in the URL of a database.
func pathOf(raw string) (string, error) {
	path, ok := strings.CutPrefix(raw, "sqlite://")
	if !ok {
		scheme, _, _ := strings.Cut(raw, "://") // only the scheme: a URL of another kind may contain a password
		return "", fmt.Errorf("open database: %q databases are not supported; use sqlite:///path/to/file.db", scheme)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("open database %q: the path after sqlite:// must be absolute (three slashes: sqlite:///path/to/file.db)", raw)
	}
	return filepath.Clean(path), nil
}

// prepare creates the file, or sets its mode, before SQLite opens it, and reports whether the file is new. SQLite gives the mode of the
// file to the write-ahead log and the shared memory. prepare must not open an existing file: closing it would release the locks that
// another connection of this process holds on it.
func prepare(path string) (created bool, err error) {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("make its folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return true, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		st, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		if !st.Mode().IsRegular() {
			return false, fmt.Errorf("%s is not a regular file", name)
		}
		if st.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(name, 0o600); err != nil {
				return false, fmt.Errorf("close it to other users: %w", err)
			}
		}
	}
	return false, nil
}

// pool prepares a pool of connections; the first use opens one.
func pool(path, params string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_busy_timeout=" + busyTimeout +
		"&_foreign_keys=1&_dqs=0&_error_rc=1&_pragma=cache_size(-512)&" + params}
	c, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// explain adds the name of the database to an error, and for a damaged one what to do.
func (db *DB) explain(verb string, err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff { // the low byte is the primary code
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%s database %s: it is damaged, or not an SQLite database (%w); it was left as it is: stop myc, move the file and "+
				"its -wal and -shm away, "+
				"and start again (sessions have to be made anew; \"myc audit reindex\" brings the audit index back)", verb, db.path, err)
		case sqlite3.SQLITE_BUSY:
			return fmt.Errorf("%s database %s: another process has been writing for longer than %s ms: %w", verb, db.path, busyTimeout, err)
		case sqlite3.SQLITE_FULL:
			return fmt.Errorf("%s database %s: the disk is full: %w", verb, db.path, err)
		}
		return fmt.Errorf("%s database %s: %w", verb, db.path, err)
	}
	if verb == "open" {
		return fmt.Errorf("open database %s: %w", db.path, err)
	}
	return err // an error of f, unchanged
}
