package memory

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/store"
)

func newIndex(t testing.TB) Index {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return Index{Folder: Folder{Dir: filepath.Join(dir, "memory"), Locks: filepath.Join(dir, "locks")}, DB: db}
}

// put saves entries of a role, one a text, one minute after the other. A tag follows the text after a "#".
func (x Index) put(t testing.TB, role string, texts ...string) {
	t.Helper()
	var list []Entry
	for i, s := range texts {
		content, tag, _ := strings.Cut(s, "#")
		kind, rest, typed := strings.Cut(content, ": ")
		if !typed {
			kind, rest = "", content
		}
		e, err := New(rest, kind, []string{tag}, "", time.Unix(int64(1e9+60*i), 0))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	if err := x.Folder.Save(role, time.Now(), list...); err != nil {
		t.Fatal(err)
	}
}

func (x Index) find(t testing.TB, q Query) (out []string) {
	t.Helper()
	found, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found.Entries {
		out = append(out, e.Content)
	}
	return out
}

// TestSearch: words in any order and form, Japanese without spaces, types, tags and limits; the most relevant first, then the newest.
func TestSearch(t *testing.T) {
	x := newIndex(t)
	x.put(t, "a", "preference: User prefers dark mode#ui", "fact: API endpoint is at /api/v2/#api", "The user's editor is vi",
		"preference: ユーザーはダークモードを好む#UI", "fact: データベースの設定を変更した", "learned: Café closes early",
		"猫が好き", "fact: release_notes are in docs#api",
		"fact: The API is slow on Mondays")
	x.put(t, "b", "fact: API of b")
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{Text: "user preference"}, []string{"User prefers dark mode", "The user's editor is vi"}},
		{Query{Text: "preferences"}, []string{"User prefers dark mode"}},
		{Query{Text: "MODE dark"}, []string{"User prefers dark mode"}},
		{Query{Text: "endp"}, []string{"API endpoint is at /api/v2/"}},
		{Query{Text: "cafe"}, []string{"Café closes early"}},
		{Query{Text: "notes"}, []string{"release_notes are in docs"}},
		{Query{Text: "ダークモード"}, []string{"ユーザーはダークモードを好む"}},
		{Query{Text: "ﾀﾞｰｸﾓｰﾄﾞの設定"}, []string{"ユーザーはダークモードを好む", "データベースの設定を変更した"}},
		{Query{Text: "設定変更"}, []string{"データベースの設定を変更した"}},
		{Query{Text: "猫"}, []string{"猫が好き"}},
		{Query{Text: "ＡＰＩ"}, []string{"The API is slow on Mondays", "release_notes are in docs", "API endpoint is at /api/v2/"}},
		{Query{Text: "api", Type: "fact", Tags: []string{"API", "other"}}, []string{"release_notes are in docs", "API endpoint is at /api/v2/"}},
		{Query{Tags: []string{"ui"}}, []string{"ユーザーはダークモードを好む", "User prefers dark mode"}},
		{Query{Type: "learned"}, []string{"Café closes early"}},
		{Query{Limit: 2}, []string{"The API is slow on Mondays", "release_notes are in docs"}},
		{Query{Text: "*", Limit: 1}, []string{"The API is slow on Mondays"}},
		{Query{Text: `" OR words : "api`, Type: "learned"}, nil},
		{Query{Text: "nothing of it zzz"}, []string{"Café closes early"}[:0]},
	} {
		c.q.Roles = []string{"a"}
		got := x.find(t, c.q)
		if strings.Contains(c.q.Text, "ﾀﾞ") || strings.Contains(c.q.Text, "nothing") { // further ones may follow
			got = got[:min(len(got), len(c.want))]
		}
		if !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
	if got := x.find(t, Query{Text: "api", Roles: []string{"b", "absent"}}); !slices.Equal(got, []string{"API of b"}) {
		t.Error(got)
	}
	if got := x.find(t, Query{Text: "api"}); got != nil {
		t.Errorf("without roles: %q", got)
	}
}

// TestOrderTellsNothingOfOthers: the order of what is found depends on the memories that are searched only.
func TestOrderTellsNothingOfOthers(t *testing.T) {
	x := newIndex(t)
	x.put(t, "a", "fact: alpha", "fact: beta", "fact: alpha again")
	before := x.find(t, Query{Text: "alpha beta", Roles: []string{"a"}})
	for range 20 {
		x.put(t, "b", "fact: beta")
	}
	x.find(t, Query{Text: "beta", Roles: []string{"b"}}) // indexed
	if after := x.find(t, Query{Text: "alpha beta", Roles: []string{"a"}}); !slices.Equal(before, after) {
		t.Errorf("%q, and before others wrote %q", after, before)
	}
}

// TestIndexIsDerived: an edited file is read anew, a file that is gone is forgotten, and rows that somebody deleted come back.
func TestIndexIsDerived(t *testing.T) {
	x := newIndex(t)
	x.put(t, "a", "one onion", "two onions")
	q := Query{Text: "onion", Roles: []string{"a"}}
	if got := x.find(t, q); len(got) != 2 {
		t.Fatal(got)
	}
	data, err := os.ReadFile(x.Folder.Path("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(x.Folder.Path("a"), []byte(strings.Replace(string(data), "one onion", "one leek", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := x.find(t, q); !slices.Equal(got, []string{"two onions"}) {
		t.Errorf("after an edit: %q", got)
	}
	err = x.DB.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `DELETE FROM memory_words; DELETE FROM memory_files`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := x.find(t, q); !slices.Equal(got, []string{"two onions"}) {
		t.Errorf("after the index was deleted: %q", got)
	}
	if err := os.Remove(x.Folder.Path("a")); err != nil {
		t.Fatal(err)
	}
	left := -1
	if got := x.find(t, q); len(got) != 0 {
		t.Errorf("after the file was deleted: %q", got)
	}
	if err := x.DB.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM memory_entries) + (SELECT count(*) FROM memory_words)`).
		Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
}

// BenchmarkSearch searches 10,000 entries, by the index and by a plain scan of the parsed file.
func BenchmarkSearch(b *testing.B) {
	x := newIndex(b)
	var texts []string
	for i := range 10_000 {
		texts = append(texts, fmt.Sprintf("fact: The service %d of team %d listens on port %d and writes to db%d 設定%d", i,
			i%97, 1000+i, i%13, i))
	}
	x.put(b, "a", texts...)
	q := Query{Text: "port of service 4711 in team 5", Roles: []string{"a"}}
	x.find(b, q)
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			x.find(b, q)
		}
	})
	b.Run("rare", func(b *testing.B) {
		for b.Loop() {
			x.find(b, Query{Text: "4711", Roles: []string{"a"}})
		}
	})
	d, _, err := x.Folder.Read("a")
	if err != nil {
		b.Fatal(err)
	}
	list := d.Entries()
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for _, e := range list {
				for _, w := range strings.Fields(q.Text) {
					if strings.Contains(strings.ToLower(e.Content), w) {
						n++
					}
				}
			}
		}
	})
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			x.put(b, "a", "fact: one more")
		}
	})
	b.Run("save-and-search", func(b *testing.B) {
		for b.Loop() {
			x.put(b, "a", "fact: one more")
			x.find(b, q)
		}
	})
}
