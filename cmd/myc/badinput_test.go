package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var updateBadInput = flag.Bool("update", false, "write what the program says into testdata/badinput and docs/proofs/bad-input.md")

// badTable is one file of testdata/badinput: rows of malformed input of one kind, with the exact answer of every surface that
// each can reach. An answer's "…" stands for any text. The forms of a row are told by the player of its kind; text in double
// braces is replaced: {{5000x ab}} repeats, {{hex ff 00}} is bytes, {{name}} a value of the world.
type badTable struct {
	file  string
	title string // the first line of the archive's comment
	intro string // the rest of it
	kind  string // its last line, "kind: …"
	rows  []*badRow
}

type badRow struct {
	name  string
	lines []string
}

// badKinds play tables: each gets a world of its own.
var badKinds = map[string]func(t *testing.T, tab *badTable){
	"message": playMessages,
	"http":    playRequests,
	"value":   playValues,
	"command": playCommands,
	"live":    playLive,
}

func readBadTables(t *testing.T) []*badTable {
	t.Helper()
	files, err := filepath.Glob("testdata/badinput/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out []*badTable
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		comment := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
		tab := &badTable{file: file, title: comment[0], intro: strings.TrimSpace(strings.Join(comment[1:len(comment)-1], "\n"))}
		tab.kind, _ = strings.CutPrefix(comment[len(comment)-1], "kind: ")
		if badKinds[tab.kind] == nil {
			t.Fatalf("%s: no kind %q", file, tab.kind)
		}
		for _, f := range archive.Files {
			tab.rows = append(tab.rows, &badRow{f.Name, strings.Split(strings.TrimRight(string(f.Data), "\n"), "\n")})
		}
		out = append(out, tab)
	}
	return out
}

func (tab *badTable) write(t *testing.T) {
	archive := &txtar.Archive{Comment: []byte(tab.title + "\n" + tab.intro + "\nkind: " + tab.kind + "\n")}
	for _, r := range tab.rows {
		archive.Files = append(archive.Files, txtar.File{Name: r.name, Data: []byte(strings.Join(r.lines, "\n") + "\n")})
	}
	if err := os.WriteFile(tab.file, txtar.Format(archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBadInput plays every table of testdata/badinput against the real command.
func TestBadInput(t *testing.T) {
	tables := readBadTables(t)
	rows, seen := 0, map[string]bool{}
	for _, tab := range tables {
		rows += len(tab.rows)
		for _, r := range tab.rows {
			if seen[r.name] {
				t.Errorf("two rows are called %q", r.name)
			}
			seen[r.name] = true
		}
	}
	if rows < 80 {
		t.Errorf("the tables have %d rows, fewer than the 80 that were asked for", rows)
	}
	t.Cleanup(func() { // after the parallel tables
		if *updateBadInput {
			for _, tab := range tables {
				tab.write(t)
			}
		}
		checkBadDoc(t, tables)
	})
	for _, tab := range tables {
		t.Run(strings.TrimSuffix(filepath.Base(tab.file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			badKinds[tab.kind](t, tab)
		})
	}
}

// badMatch compares an answer with what a row wants, and returns what the row shall say.
func badMatch(t *testing.T, what, want, got string) string {
	t.Helper()
	parts := strings.Split(want, "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	if want == got || want != "" && regexp.MustCompile("^(?s:"+strings.Join(parts, ".*")+")$").MatchString(got) {
		return want
	}
	if !*updateBadInput {
		t.Errorf("%s answered\n  %s\nwant\n  %s", what, got, want)
	}
	return got
}

var badMacro = regexp.MustCompile(`\{\{[0-9]+x [^ ]+?\}\}|\{\{[^{}]+\}\}`)

// expand replaces what stands in double braces.
func expandBad(t *testing.T, text string, vars map[string]string) string {
	t.Helper()
	return badMacro.ReplaceAllStringFunc(text, func(m string) string {
		inner := m[2 : len(m)-2]
		if v, ok := vars[inner]; ok {
			return v
		}
		if hexes, ok := strings.CutPrefix(inner, "hex "); ok {
			var b []byte
			for _, h := range strings.Fields(hexes) {
				n, err := strconv.ParseUint(h, 16, 8)
				if err != nil {
					t.Fatalf("%s: %v", m, err)
				}
				b = append(b, byte(n))
			}
			return string(b)
		}
		count, what, ok := strings.Cut(inner, "x ")
		n, err := strconv.Atoi(count)
		if !ok || err != nil {
			t.Fatalf("nothing is called %s", m)
		}
		return strings.Repeat(what, n)
	})
}

// answers are what a row wants of each surface: lines "surface, surface: answer".
type badAnswers struct {
	want map[string]string
}

// splitAnswers takes the answer lines out of a row.
func (r *badRow) splitAnswers(surfaces []string) (rest []string, a badAnswers) {
	a.want = map[string]string{}
	for _, line := range r.lines {
		names, answer, ok := strings.Cut(line, ": ")
		list := strings.Split(names, ", ")
		if !ok || !slices.ContainsFunc(surfaces, func(s string) bool { return s == list[0] }) {
			rest = append(rest, line)
			continue
		}
		for _, s := range list {
			a.want[s] = answer
		}
	}
	return rest, a
}

// joinAnswers puts the answers back, surfaces that say the same on one line.
func (r *badRow) joinAnswers(rest, surfaces []string, got map[string]string) {
	r.lines = rest
	done := map[string]bool{}
	for i, s := range surfaces {
		answer, ok := got[s]
		if !ok || done[s] {
			continue
		}
		names := []string{s}
		for _, other := range surfaces[i+1:] {
			if v, ok := got[other]; ok && v == answer {
				names = append(names, other)
				done[other] = true
			}
		}
		r.lines = append(r.lines, fmt.Sprintf("%s: %s", strings.Join(names, ", "), answer))
	}
}

// directive takes a line "key: value" out of a row; ok tells whether it was there.
func directive(lines []string, key string) (rest []string, value string, ok bool) {
	for _, line := range lines {
		if v, is := strings.CutPrefix(line, key+":"); is && !ok {
			value, ok = strings.TrimSpace(v), true
			continue
		}
		rest = append(rest, line)
	}
	return rest, value, ok
}
