package find

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func terms(s string) []string {
	out := []string{}
	for _, w := range split(s) {
		out = append(out, strings.Join(w.terms, "|"))
	}
	return out
}

// TestSplit: names are taken apart, forms of a word are one, acronyms stay, and Japanese becomes English where the lexicon knows it.
func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tt := range [...]struct{ in, want string }{
		{"searchIssuesUsingJql", "[search issu using jql]"}, {"getURLFor", "[get url for]"},
		{"list_pull-requests", "[list pull request pull_request]"},
		{"GitHub PRs", "[github pr]"}, {"AWS S3 DNS", "[aws s3 dns]"}, {"creating created creates", "[creat creat creat]"},
		{"queries query", "[queri queri]"}, {"translation translate", "[translat translat]"}, {"running", "[run]"},
		{"ファイルを読んで", "[fil read]"}, {"ﾌｧｲﾙ", "[fil]"}, {"ＤＮＳ", "[dns]"}, {"データベース", "[databas]"},
		{"覚えた", "[remember]"}, {"main.go", "[main fil go]"}, {"3 * 4", "[3 calculat 4]"},
		{"環境省庁", "[environment 省庁]"}, {"", "[]"},
	} {
		if got := fmt.Sprint(terms(tt.in)); got != tt.want {
			t.Errorf("%q is %s, want %s", tt.in, got, tt.want)
		}
	}
}

// TestClauses: where a request of several steps is taken apart, and where it is not.
func TestClauses(t *testing.T) {
	t.Parallel()
	for _, tt := range [...]struct {
		in   string
		want []string
	}{
		{"find Jim and Ann", []string{"find Jim and Ann"}},
		{"read the file and delete it", []string{"read the file", "delete it"}},
		{"Read main.go. Then run it.", []string{"Read main.go", "Then run it"}},
		{"ファイルを検索して移動する", []string{"ファイルを検索して", "移動する"}},
		{"止めてから削除し、起動してください", []string{"止めてから", "削除し", "起動してください"}},
		{", ,", nil},
	} {
		got := clauses(tt.in)
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
	if n := len(clauses(strings.Repeat("read it, ", 100))); n > maxClauses {
		t.Errorf("%d clauses", n)
	}
}

// TestBestAlternative: of the words that mean nearly the same the best counts, at half weight, and never their sum.
func TestBestAlternative(t *testing.T) {
	t.Parallel()
	x := New([]Doc{{Name: "erase"}, {Name: "erase_remove_destroy_drop"}, {Name: "delete"}, {Name: "paint"}})
	hits := x.Find("delete", 9, nil)
	if len(hits) != 3 || hits[0].Doc != 2 {
		t.Fatalf("hits %+v", hits)
	}
	for _, h := range hits[1:] {
		if h.Score > 0.75*hits[0].Score || h.Share != alternate {
			t.Errorf("an alternative counts %+v, the word itself %+v", h, hits[0])
		}
	}
}

// TestLearn: what was used after a request is found for its words, less and less; other documents are not touched.
func TestLearn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	x := New([]Doc{{Name: "alpha", Server: "s"}, {Name: "beta", Server: "s"}, {Name: "gamma", Server: "s"}})
	score := func(age time.Duration) float64 {
		hits := x.Find("zorble the quux", 3, Learn([]Use{{Request: "quux zorble", Name: "beta", Server: "s", At: now.Add(-age)},
			{Request: "quux", Name: "gone", Server: "s", At: now}}, now))
		if len(hits) != 1 || hits[0].Doc != 1 {
			t.Fatalf("after %s: %+v", age, hits)
		}
		return hits[0].Score
	}
	if fresh, old := score(0), score(90*24*time.Hour); old >= fresh/2 {
		t.Errorf("today %v, after 90 days %v", fresh, old)
	}
	if hits := x.Find("zorble", 3, nil); len(hits) != 0 {
		t.Errorf("found without a lesson: %+v", hits)
	}
}

// TestSaved: what fifteen of the tools of a catalog cost, against all of them. The definitions of a thousand tools are as large as those of
// testdata.
func TestSaved(t *testing.T) {
	t.Parallel()
	docs := thousand(t)
	size := func(d Doc) int { return len(d.Name) + len(d.Text) + len(strings.Join(append(d.Keys, d.Notes...), "")) }
	all := 0
	for _, d := range docs {
		all += size(d)
	}
	x := New(docs)
	_, numbers := catalog(t, "dev")
	for _, r := range requests(t, "dev", numbers) {
		found := 0
		for _, h := range x.Find(r.text, 15, nil) {
			found += size(docs[h.Doc])
		}
		if 10*found > all {
			t.Errorf("%q: %d of %d bytes", r.text, found, all)
		}
	}
}

// FuzzFind: any request gives at most limit documents, each once, the same every time.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"read the file and delete it", "ファイルを検索して、移動する",
		"ﾌｧｲﾙ\x00", "PRsURLs", "....", "3*4", "\xff\xfe", "てからてから",
	} {
		f.Add(s, s, 3)
	}
	f.Fuzz(func(t *testing.T, request, text string, limit int) {
		docs := []Doc{{Name: "read_file", Server: "fs", Text: "Reads a file."}, {Name: text, Text: request, Keys: []string{text}}, {Text: text}}
		x, learnt := New(docs), Learn([]Use{{Request: text, Name: "read_file", Server: "fs"}}, time.Unix(0, 0))
		hits := x.Find(request, limit, learnt)
		if len(hits) > max(limit, 0) || len(hits) > len(docs) {
			t.Fatalf("%d hits", len(hits))
		}
		seen := map[int]bool{}
		for _, h := range hits {
			if seen[h.Doc] || !(h.Score > 0) || h.Share < 0 || h.Share > 1 {
				t.Fatalf("hits %+v", hits)
			}
			seen[h.Doc] = true
		}
		if again := New(docs).Find(request, limit, learnt); !slices.Equal(again, hits) {
			t.Fatalf("%+v, then %+v", hits, again)
		}
	})
}
