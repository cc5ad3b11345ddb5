package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/model"
)

// written keeps a conversation with everything in it, and returns its folder and its lines.
func written(t *testing.T) (dir, id string, raw []byte) {
	t.Helper()
	dir = t.TempDir()
	j, err := New(dir, Head{Engine: "api", Role: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	say := func(s string) []model.Block { return []model.Block{{Type: "text", Text: s}} }
	use := func(id string) model.Block {
		return model.Block{Type: "tool_use", ID: id, Name: "x", Input: []byte(`{}`)}
	}
	for _, l := range []Line{
		{Kind: Said, Text: "hello", Blocks: say("hello")}, {Kind: Thinking, Text: "hm"}, {Kind: Text, Text: "one "}, {Kind: Text, Text: "two"},
		{Kind: Answer, Blocks: append(say("one two"), use("a"), use("b"))},
		{Kind: Called, ID: "a", Tool: "x"}, {Kind: Called, ID: "b", Tool: "x"}, {Kind: Outcome, ID: "a", Text: "A", Blocks: say("A")},
		{Kind: Outcome, ID: "b", Text: "B", Blocks: say("B"), Failed: true},
		{Kind: Text, Text: "half an ans"}, {Kind: Cut}, {Kind: Text, Text: "wer"}, {Kind: Answer, Blocks: say("wer")},
		{Kind: Said, Text: "more", Blocks: say("more")}, {Kind: Answer, Blocks: []model.Block{use("c")}}, {Kind: Called, ID: "c", Tool: "x"},
		{Kind: Outcome, ID: "c", Text: "C", Blocks: say("C")}, {Kind: Summary, Text: "they talked", Keep: 2}, {Kind: Text, Text: "bye"},
		{Kind: Answer, Blocks: say("bye")},
	} {
		if err := j.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err = os.ReadFile(filepath.Join(dir, j.ID+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return dir, j.ID, raw
}

// sound fails if the API would refuse the messages: each call has one outcome, right after it, and no text is empty.
func sound(t *testing.T, all []model.Message) {
	t.Helper()
	for i, m := range all {
		var uses, results []string
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				uses = append(uses, b.ID)
			}
			if b.Type == "text" && b.Text == "" {
				t.Fatalf("message %d has an empty text", i)
			}
		}
		if i+1 < len(all) {
			for _, b := range all[i+1].Content {
				if b.Type == "tool_result" {
					results = append(results, b.ToolUseID)
				}
			}
		}
		if !slices.Equal(uses, results) {
			t.Fatalf("message %d calls %v, and the next has the outcomes of %v", i, uses, results)
		}
		if len(m.Content) == 0 {
			t.Fatalf("message %d is empty", i)
		}
	}
}

// Wherever a program is killed, at each end of a line and at many places inside of lines, the conversation goes on from there: each
// call has an outcome, one whose end
// is not known says so, and what was shown is there.
func TestKilledAnywhere(t *testing.T) {
	_, id, raw := written(t)
	dir := t.TempDir()
	path := filepath.Join(dir, id+suffix)
	first := bytes.IndexByte(raw, '\n') + 1
	for n := first; n <= len(raw); n++ {
		if raw[n-1] != '\n' && (n == len(raw) || raw[n] != '\n') && n%11 != 0 {
			continue
		}
		if err := os.WriteFile(path, raw[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir, id)
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		whole := string(raw[:bytes.LastIndexByte(raw[:n], '\n')+1])
		if n == len(raw) || raw[n] == '\n' {
			whole = string(raw[:n])
		}
		if err := j.Append(Line{Kind: Said, Text: "go on", Blocks: []model.Block{{Type: "text", Text: "go on"}}}); err != nil {
			t.Fatal(err)
		}
		sound(t, j.Messages())
		var shown strings.Builder
		for _, m := range j.Shown {
			shown.WriteString(m.Content)
		}
		for _, want := range []string{"hello", "one ", "two", "half an ans", "bye"} {
			if strings.Contains(whole, `"text":"`+want+`"`) && !strings.Contains(shown.String(), want) {
				t.Fatalf("cut after %d bytes: %q was shown and is gone", n, want)
			}
		}
		if begun, ended := strings.Contains(whole, `"id":"b","tool"`), strings.Contains(whole, `"text":"B"`); begun && !ended &&
			!strings.Contains(plain(j.Messages()), Unknown) {
			t.Fatalf("cut after %d bytes: a call whose outcome is not known does not say so", n)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := Read(dir, id) // what was appended after a torn line is read
		if err != nil || again.Shown[len(again.Shown)-1].Content != "go on" {
			t.Fatalf("cut after %d bytes: what is said next is not kept: %v", n, err)
		}
	}
}

func plain(all []model.Message) string {
	var b strings.Builder
	for _, m := range all {
		for _, block := range m.Content {
			b.WriteString(block.Text)
			for _, c := range block.Content {
				b.WriteString(c.Text)
			}
		}
	}
	return b.String()
}

// One process has a conversation at a time; one in which nothing was said leaves no file.
func TestOneProcess(t *testing.T) {
	dir, id, _ := written(t)
	j, err := Open(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, id); err == nil || !strings.Contains(err.Error(), "open in another process") {
		t.Errorf("opened twice: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	empty, err := New(dir, Head{})
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		t.Fatal(err)
	}
	if all, err := List(dir); err != nil || len(all) != 1 || all[0].ID != id {
		t.Errorf("%v %v", all, err)
	}
	for _, bad := range []string{"", "c-nonesuch", "../" + id, "c-../x", "x"} {
		if _, err := Read(dir, bad); err == nil {
			t.Errorf("%q is a conversation", bad)
		}
	}
	if last, err := Last(dir, "guest"); last != id || err != nil {
		t.Errorf("%q %v", last, err)
	}
	if last, err := Last(dir, "admin"); last != "" || err != nil {
		t.Errorf("of another role: %q %v", last, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"kind":"begin","head":{"id":"c-a"}}` + "\n" + `{"kind":"answer","blocks":[{"type":"tool_use","id":"a"}]}` + "\n"))
	f.Add([]byte(`{"kind":"called","id":"a"}` + "\n" + `{"kind":"outcome","id":"a","text":"x"}` + "\n" + `{"kind":"summary","keep":-1}`))
	f.Add([]byte(`{"kind":"text","text":"x"}` + "\n" + `{"kind":"cut"}` + "\n" + `{"kind":"answer"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		talk, err := read(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		talk.Messages()
	})
}
