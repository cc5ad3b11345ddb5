package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(context.Background(), "sqlite://"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func insert(id string) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO sessions (id, principal, created_at) VALUES (?, 'p', 1)", id)
		return err
	}
}

func count(t *testing.T, db *DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM sessions").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenCreatesPrivateFiles(t *testing.T) {
	for _, name := range []string{"plain.db", "with space?and#and%41.db", "日本語.db"} {
		path := filepath.Join(t.TempDir(), "state", name)
		db := open(t, path)
		if err := db.Tx(context.Background(), insert("a")); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			st, err := os.Stat(path + suffix)
			if err != nil || st.Mode().Perm() != 0o600 {
				t.Errorf("%s%s: %v, %v; want mode 0600", name, suffix, st, err)
			}
		}
		entries, _ := os.ReadDir(filepath.Dir(path))
		if len(entries) != 3 {
			t.Errorf("files: %v, want the database and its two companions", entries)
		}
	}
}

func TestOpenClosesWideModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := Open(context.Background(), "sqlite://"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
}

func TestSettings(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	err := db.Tx(context.Background(), func(tx *sql.Tx) error {
		for pragma, want := range map[string]string{"journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "5000", "synchronous": "2",
			"user_version": fmt.Sprint(version)} {
			var got string
			if err := tx.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %s, %v; want %s", pragma, got, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var fk string
	if err := db.QueryRow("PRAGMA foreign_keys").Scan(&fk); err != nil || fk != "1" {
		t.Errorf("reading pool: foreign_keys %s, %v", fk, err)
	}
	if _, err := db.Exec("INSERT INTO sessions (id, principal, created_at) VALUES ('x', 'p', 1)"); err == nil {
		t.Error("the reading pool wrote")
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) != version {
		t.Errorf("%d migrations, %v; version is %d", len(files), err, version)
	}
}

func TestTxRollsBack(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	ctx := context.Background()
	mine := errors.New("mine")
	err := db.Tx(ctx, func(tx *sql.Tx) error {
		if err := insert("a")(tx); err != nil {
			return err
		}
		return mine
	})
	if !errors.Is(err, mine) || err.Error() != "mine" {
		t.Errorf("error of f: %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of f was swallowed")
			}
		}()
		_ = db.Tx(ctx, func(tx *sql.Tx) error { insert("b")(tx); panic("f") })
	}()
	if n := count(t, db); n != 0 {
		t.Errorf("%d rows after two failures", n)
	}
	if err := db.Tx(ctx, insert("c")); err != nil || count(t, db) != 1 {
		t.Errorf("after a panic: %v, %d rows", err, count(t, db))
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := db.Tx(ended, insert("d")); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

func TestManyWritersManyHandles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	const handles, each = 4, 25
	var wg sync.WaitGroup
	for h := range handles { // all of them find no schema, or half of it
		wg.Go(func() {
			db, err := Open(context.Background(), "sqlite://"+path)
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			for i := range each {
				if err := db.Tx(context.Background(), insert(fmt.Sprint(h, "-", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := count(t, open(t, path)); n != handles*each {
		t.Errorf("%d rows, want %d", n, handles*each)
	}
}

func TestReadsDoNotWaitForAWriter(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	err := db.Tx(context.Background(), func(tx *sql.Tx) error {
		if err := insert("a")(tx); err != nil {
			return err
		}
		if n := count(t, db); n != 0 {
			t.Errorf("a reader saw %d rows that are not committed", n)
		}
		return nil
	})
	if err != nil || count(t, db) != 1 {
		t.Errorf("%v, %d rows", err, count(t, db))
	}
}

func TestBadDatabases(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	content := bytes.Repeat([]byte("not a database at all\n"), 500)
	if err := os.WriteFile(garbage, content, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "damaged.db")
	db, err := Open(context.Background(), "sqlite://"+damaged)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	raw, _ := os.ReadFile(damaged)
	copy(raw[100:], bytes.Repeat([]byte{0xff}, 4000)) // the root of the schema, behind the header
	copy(raw[60:64], []byte{0, 0, 0, 0})              // and the user_version with it
	os.WriteFile(damaged, raw, 0o600)
	newer := filepath.Join(dir, "newer.db")
	db, err = Open(context.Background(), "sqlite://"+newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Tx(context.Background(), func(tx *sql.Tx) error { _, err := tx.Exec("PRAGMA user_version = 99"); return err }); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if err := os.Mkdir(filepath.Join(dir, "folder.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, want string }{
		{"sqlite://" + garbage, "damaged"},
		{"sqlite://" + damaged, "damaged"},
		{"sqlite://" + newer, "newer myc (schema 99"},
		{"sqlite://" + filepath.Join(dir, "folder.db"), "not a regular file"},
		{"sqlite://" + filepath.Join(dir, "no", "such", "x.db"), "folder"},
		{"sqlite://relative.db", "absolute"},
		{"postgres://user:hunter2@host/db", `"postgres" databases are not supported`},
		{"", "not supported"},
	} {
		db, err := Open(context.Background(), c.url)
		if err == nil {
			db.Close()
			t.Errorf("%s: opened", c.url)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v; want %q", c.url, err, c.want)
		}
	}
	if got, _ := os.ReadFile(garbage); !bytes.Equal(got, content) {
		t.Error("the file that is no database was changed")
	}
	if got, _ := os.ReadFile(damaged); !bytes.Equal(got, raw) {
		t.Error("the damaged database was changed")
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.db")
	open(b, path)
	for b.Loop() {
		db, err := Open(context.Background(), "sqlite://"+path)
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		db, err := Open(context.Background(), fmt.Sprintf("sqlite://%s/%d.db", dir, n))
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}
