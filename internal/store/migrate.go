package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"golang.org/x/sys/unix"
)

//go:embed migrations/*.sql
var migrations embed.FS

// version is the version of the newest file in migrations/, which sets it as the database's user_version. Every start and every hook
// opens the database: reading that number takes microseconds, asking goose takes milliseconds.
const version = 14

// migrate updates the schema.
func (db *DB) migrate(ctx context.Context, created bool) error {
	if !created {
		have, err := schemaVersion(ctx, db.DB)
		if err != nil {
			return err
		}
		if have == version {
			return nil
		}
	}
	// Several processes may find the same old database at once, and goose has no lock for SQLite.
	unlock, err := lockFolder(ctx, filepath.Dir(db.path))
	if err != nil {
		return err
	}
	defer unlock()
	have, err := schemaVersion(ctx, db.writer)
	switch {
	case err != nil:
		return err
	case have == version:
		return nil // another process was faster
	case have > version:
		return fmt.Errorf("it was written by a newer myc (schema %d, this one knows %d); use that one, or another file", have, version)
	}
	empty := false
	if err := db.writer.QueryRowContext(ctx, "SELECT count(*) = 0 FROM sqlite_schema").Scan(&empty); err != nil {
		return err
	}
	if empty {
		return db.create(ctx)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db.writer, files, goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema up to date: %w", err)
	}
	return nil
}

// create creates the schema of an empty database in one transaction, and fills in goose's table. The first start of every project waits for
// this, and goose itself takes three times as long, and 4 MiB.
func (db *DB) create(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
				is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
				INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`); err != nil {
			return err
		}
		for i, name := range files {
			text, err := migrations.ReadFile(name)
			if err != nil {
				return err
			}
			up, _, _ := strings.Cut(string(text), "-- +goose Down")
			if _, err := tx.ExecContext(ctx, up); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

func schemaVersion(ctx context.Context, db *sql.DB) (v int, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// lockFolder locks the folder itself, without a lock file, until unlock is called.
func lockFolder(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock folder %s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("lock folder %s: %w", dir, ctx.Err())
		case <-again.C:
		}
	}
}
