package memory

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// byHand is a file as a person leaves it: other headings, an entry without a comment, broken ones, and text in between.
const byHand = "# Memory: frontend\r\n\n> Last modified: 2025-01-01T10:00:00.000Z\n> Total entries: 9\nA note.\n\n## Preferences\n\n" +
	"### [mem_abc123]\nUser prefers React over Vue.\n\n" +
	"<!-- {\"createdAt\":\"2025-01-01T10:00:00.000Z\", \"type\":\"preference\", \"x\":1} -->\n\n" +
	"## Facts\nloose\n### [mem_def456]\nAPI endpoint is at /api/v2/\n```\n\\## no heading\n```\n" +
	"### [mem_def456]\nthe id again\n### [mem bad]\nx\n### [mem_empty]\n\n<!-- {} -->\nafter it\n" +
	"### [mem_json]\ny\n<!-- {\"type\": fact} -->\n### [mem_type]\nz\n<!-- {\"type\":\"idea\"} -->\n" +
	"### [mem_time]\nz\n<!-- {\"createdAt\":\"today\"} -->\n## Other\n### [mem_other]\nlast"

// TestParse: what is an entry is found, and what is none is reported with its line and stays.
func TestParse(t *testing.T) {
	d := Parse("frontend", []byte(byHand))
	want := []Entry{
		{ID: "mem_abc123", Role: "frontend", Type: "preference", Content: "User prefers React over Vue.", Line: 9,
			Created: time.Date(2025, 1, 1, 10, 0, 0, 0, time.UTC)},
		{ID: "mem_def456", Role: "frontend", Type: "fact", Content: "API endpoint is at /api/v2/\n```\n## no heading\n```", Line: 16},
		{ID: "mem_other", Role: "frontend", Type: "context", Content: "last", Line: 39},
	}
	if diff := cmp.Diff(want, d.Entries()); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, p := range d.Problems {
		got = append(got, strings.TrimSpace(strings.TrimPrefix(p.Message, "this entry is not recalled:")))
	}
	if diff := cmp.Diff([]string{"this text belongs to no entry, and is not recalled", "this text belongs to no entry, and is not recalled",
		"the id mem_def456 stands twice", "its heading is not of the form ### [mem_x], with letters, digits, _ and -", "it has no text",
		"this text belongs to no entry, and is not recalled", "its comment, <!-- {…} -->, is no valid JSON on one line",
		`its type "idea" is not one of fact, preference, context, episode, learned`,
		`its createdAt "today" is no time such as 2026-01-31T09:00:00Z`}, got); diff != "" {
		t.Error(diff)
	}
	if string(d.Bytes()) != byHand {
		t.Error("a file that is read and written is another one")
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := Entry{ID: "mem_new", Type: "preference", Content: "Tabs.", Created: now}
	if err := d.Add(now, e); err != nil {
		t.Fatal(err)
	}
	out := string(d.Bytes())
	if at := strings.Index(out, "### [mem_new]"); at < strings.Index(out, "mem_abc123") || at > strings.Index(out, "## Facts") {
		t.Errorf("the entry is not in its section:\n%s", out)
	}
	if !strings.Contains(out, "> Total entries: 4\n") || !strings.Contains(out, "> Last modified: 2026-01-01T00:00:00.000Z\n") {
		t.Errorf("the head is not up to date:\n%s", out)
	}
	for line := range strings.Lines(byHand) {
		if !strings.HasPrefix(line, "> ") && !strings.Contains(out, line) {
			t.Errorf("%q is gone", line)
		}
	}
}

// entries draws entries with unfriendly texts.
func entries() *rapid.Generator[[]Entry] {
	part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"## Facts\n", "### [mem_x]\n", "<!-- {\"a\":1} -->\n", "-->",
		"\\## ", "\\\\### [",
		"\n", "\r\n", "# Memory: x\n", "> Total entries: 3\n", "日本語", "```\n", " ", "##\n"}))
	return rapid.Custom(func(t *rapid.T) []Entry {
		var out []Entry
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at"))
			e, err := New("x"+strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "content"), ""), rapid.SampledFrom(Types()).Draw(t, "type"),
				rapid.SliceOfN(rapid.StringN(0, 8, 32), 0, 3).Draw(t, "tags"), rapid.StringN(0, 9, 40).Draw(t, "source"), at)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
		return out
	})
}

// TestLawWhatIsAddedIsRead: an entry is read as it was added, whatever its text and whatever the file says already; and every byte of the
// file before stays.
func TestLawWhatIsAddedIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := entries().Draw(t, "entries")
		before := rapid.SampledFrom([]string{"", byHand, "\n", "text", "# Memory: r\n", "## Facts"}).Draw(t, "file")
		d := Parse("r", []byte(before))
		old := len(d.Entries())
		problems := len(d.Problems)
		if err := d.Add(time.UnixMilli(1), list...); err != nil {
			t.Fatal(err)
		}
		again := Parse("r", d.Bytes())
		if len(again.Problems) != problems || len(again.Entries()) != old+len(list) {
			t.Fatalf("%d entries and %d became %d; problems %+v\n%s", old, len(list), len(again.Entries()), again.Problems, d.Bytes())
		}
		found := map[string]Entry{}
		for _, e := range again.Entries() {
			e.Line = 0
			found[e.ID] = e
		}
		for _, e := range list {
			e.Role = "r"
			if diff := cmp.Diff(e, found[e.ID]); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// FuzzParse: any file is read without loss, and what is read from it is written as it was.
func FuzzParse(f *testing.F) {
	f.Add(byHand, "a text", "a tag")
	f.Add("### [a]\nb", "## x\n### [mem_a]\n<!-- {", "")
	f.Add("", "\\<!-- {}", "x")
	f.Fuzz(func(t *testing.T, file, content, tag string) {
		d := Parse("r", []byte(file))
		if string(d.Bytes()) != file {
			t.Fatalf("%q became %q", file, d.Bytes())
		}
		had := len(d.Entries())
		e, err := New(content, "", []string{tag}, tag, time.UnixMilli(5))
		if err != nil {
			return
		}
		if err := d.Add(time.UnixMilli(6), e); err != nil {
			t.Fatal(err)
		}
		again := Parse("r", d.Bytes())
		list := again.Entries()
		if len(list) != had+1 {
			t.Fatalf("%d entries became %d: %q", had, len(list), d.Bytes())
		}
		for _, got := range list {
			if got.ID == e.ID {
				got.Line, e.Role = 0, "r"
				if diff := cmp.Diff(e, got); diff != "" {
					t.Fatal(diff)
				}
				return
			}
		}
		t.Fatalf("the entry is not read again: %q", d.Bytes())
	})
}

// TestMerge: what a person edited counts, and what was added meanwhile stays.
func TestMerge(t *testing.T) {
	now := time.UnixMilli(1e12)
	base := Parse("r", nil)
	if err := base.Add(now, Entry{ID: "a", Type: "fact", Content: "A."}, Entry{ID: "b", Type: "fact", Content: "B."}); err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(base.Bytes()), "A.", "A!", 1)
	edited, _, _ = strings.Cut(edited, "### [b]")
	meanwhile := Parse("r", base.Bytes())
	if err := meanwhile.Add(now, Entry{ID: "c", Type: "fact", Content: "C."}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now  *Doc
		want string
	}{{base, "A!"}, {meanwhile, "A! C."}} {
		out, err := Merge("r", base.Bytes(), []byte(edited), c.now, now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range out.Entries() {
			got = append(got, e.Content)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}
