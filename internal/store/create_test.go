package store

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
)

// TestCreatedAsByGoose: a database that we make ourselves is the one that goose would have made, and goose knows it for its own.
func TestCreatedAsByGoose(t *testing.T) {
	ours := open(t, filepath.Join(t.TempDir(), "ours.db"))
	theirs, err := pool(filepath.Join(t.TempDir(), "theirs.db"), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider := func(db *sql.DB) *goose.Provider {
		p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if _, err := provider(theirs).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(schema(t, theirs), schema(t, ours.writer)); diff != "" {
		t.Error(diff)
	}
	p := provider(ours.writer)
	if pending, err := p.HasPending(t.Context()); err != nil || pending {
		t.Errorf("goose has something to do: %v, %v", pending, err)
	}
	if v, err := p.GetDBVersion(t.Context()); err != nil || v != version {
		t.Errorf("goose knows version %d, %v", v, err)
	}
	if v, err := schemaVersion(t.Context(), ours.DB); err != nil || v != version {
		t.Errorf("user_version is %d, %v", v, err)
	}
}

// schema is every column of every table, and every index.
func schema(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(),
		`SELECT m.type || ' ' || m.name || ' ' || coalesce(c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk, '')
		FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c ORDER BY m.type, m.name, c.cid`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil || len(all) < 20 {
		t.Fatalf("%d columns and indexes, %v", len(all), err)
	}
	return all
}
