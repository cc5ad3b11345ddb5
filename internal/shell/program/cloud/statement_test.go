package cloud

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"
)

// pieces are what statements are made of at random: whole ones, and what may hide one from a reader.
var pieces = []string{
	"select ", "1", ", ", " from t", " as ", "x", "'", "''", `"`, "`", "[", "]", "--", "/*", "*/", "\n", ";", "(", ")", "count(*)", "max(a)",
	"'a'", `"b"`, "delete from t", "insert into t values (9)", "update t set a = 7", "drop table t", "replace into t values (8)",
	"create table u (b)", "with c as (select 1) ", "select * from c", "pragma user_version = 7", "pragma user_version",
	"pragma table_info(t)", "explain ", "vacuum", "attach ':memory:' as m", "pragma application_id(5)", " where a = 'it''s'",
	" union select 2", "values (1)", "#", "$",
}

// TestWhatAsksChangesNothing gives random statements to SQLite: none of those that asksSQL takes for questions changes the database.
func TestWhatAsksChangesNothing(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table t (a, x); insert into t values (1, 2)"); err != nil {
		t.Fatal(err)
	}
	asked, before := 0, content(t, db)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(rt, "pieces"), "")
		if rapid.Bool().Draw(rt, "question") {
			text = "select 1" + text
		}
		if !asksSQL(text, "sqlite3") {
			return
		}
		asked++
		if rows, err := db.Query(text); err == nil { // many are no SQL
			for rows.Next() || rows.NextResultSet() {
			}
			_ = rows.Close()
		}
		if after := content(t, db); after != before {
			rt.Fatalf("%q is taken for a question: before\n%s\nafter\n%s", text, before, after)
		}
	})
	if asked == 0 {
		t.Error("no statement was taken for a question")
	}
}

// content is all that a statement could change.
func content(t *testing.T, db *sql.DB) string {
	t.Helper()
	var b strings.Builder
	for _, q := range []string{"select group_concat(name || coalesce(sql, '')) from sqlite_master",
		"select group_concat(a || '/' || x) from t",
		"select group_concat(name) from pragma_database_list", "select user_version from pragma_user_version",
		"select application_id from pragma_application_id", "select total_changes()"} {
		var s any
		if err := db.QueryRow(q).Scan(&s); err != nil {
			t.Fatal(q, err)
		}
		fmt.Fprintln(&b, s)
	}
	return b.String()
}

// TestWhatIsNoQuestion: what a reader could overlook.
func TestWhatIsNoQuestion(t *testing.T) {
	for _, text := range []string{"", ";", "delete from t", "select 1; delete from t", "select load_extension('x')", "select 1 -- x",
		"select /* x */ 1", `select "it's", f('x'), 'y'`, "select 1 as ['], f(1), 2 as [']", "select $$'$$, f(1), $$'$$",
		`select E'\'', f(1), '`,
		"select * into u from t", "explain analyze delete from t", "with c as (delete from t returning *) select * from c", "select f (1)",
		"select \"f\"(1)", "pragma user_version = 1", "pragma journal_mode(wal)", "select 'a", ".shell x", "select 1;\n.shell x"} {
		if asksSQL(text, "sqlite3") {
			t.Errorf("%q is taken for a question", text)
		}
	}
	for _, text := range []string{"select 1", "SELECT count(*) FROM t WHERE a = 'delete';", "show tables\\G", "explain select 1",
		"pragma user_version", "select a from t where b in (1, 2) and (c = 2)", "with c as (select 1) select * from c",
		"select json_extract(a, '$.b[0]') from t", "select '-- # /*'", "select 1; select 2;"} {
		if !asksSQL(text, "sqlite3") {
			t.Errorf("%q is not taken for a question", text)
		}
	}
}

// TestMongoQuestions: only methods that are known to ask, and no code.
func TestMongoQuestions(t *testing.T) {
	for _, text := range []string{"db.users.drop()", "db.dropDatabase()", "db['users']['drop']()", "db.x.find({$where: 'x'})",
		"db.x.find().forEach(f)",
		"db.x.find(); db.x.drop()", "db.x.aggregate([{$out: 'y'}])", "require('fs')", "db.x = 1", "db.x.find`a`", "db.eval('x')"} {
		if asksMongo(text) {
			t.Errorf("%q is taken for a question", text)
		}
	}
	for _, text := range []string{"db.users.find({age: {$gt: 3}}).limit(5)", "db.users.countDocuments({});",
		"show collections", "db.getCollectionNames()"} {
		if !asksMongo(text) {
			t.Errorf("%q is not taken for a question", text)
		}
	}
}
