package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// playCommands plays rows that have the project to themselves, without a daemon. Their lines are done in order:
//
//	FILE| text     the file gets this line (its first line begins it anew)
//	FILE: VERB     cut: the file loses its last byte; half, short: its second half, of bytes or of lines; edited: a word of its
//	               second line; append TEXT; garbage; gone; folder, file: what stands in its place
//	< text         a line of the next command's input
//	$ myc …        runs; words in quotes as a shell has them
//	exit N         what it said: the exit code, lines of stdout (1>) and of stderr (2>)
//	= FILE         the file is as the lines above left it: nothing was silently mended
func playCommands(t *testing.T, tab *badTable) {
	w := newBadWorld(t)
	for _, row := range tab.rows {
		t.Run(row.name, func(t *testing.T) {
			w.at(t, func() {
				w.play(row)
				w.restore(true)
			})
		})
	}
}

// playLive plays the same rows while a daemon serves the project: what was good stays in force until the files are good again.
func playLive(t *testing.T, tab *badTable) {
	w := newBadWorld(t)
	w.serve()
	talks := w.talks()
	for _, row := range tab.rows {
		t.Run(row.name, func(t *testing.T) {
			w.at(t, func() {
				sessions := w.sessions()
				w.play(row)
				for _, s := range badSurfaces {
					if err := talks[s].still(); err != nil {
						t.Errorf("%s while the files are bad: %v", s, err)
					}
				}
				w.restore(false)
				if o := w.run("", "skill", "reload"); o.code != 0 {
					t.Errorf("the files are good again: %+v", o)
				}
				if now := w.sessions(); now != sessions {
					t.Errorf("%s sessions before and %s after", sessions, now)
				}
			})
		})
	}
	w.intact()
}

// at lets failures be those of a row.
func (w *badWorld) at(t *testing.T, f func()) {
	outer := w.t
	w.t = t
	defer func() { w.t = outer }()
	f()
}

// play does a row's lines.
func (w *badWorld) play(row *badRow) {
	w.t.Helper()
	var out []string
	var stdin strings.Builder
	begun := map[string]bool{}
	mine := map[string]string{} // what the row itself made of files that it names with "="
	for i := 0; i < len(row.lines); i++ {
		line := row.lines[i]
		text := expandBad(w.t, line, w.vars)
		out = append(out, line)
		switch {
		case strings.HasPrefix(text, "$ "):
			n := i + 1
			for n < len(row.lines) && isOutput(row.lines[n]) {
				n++
			}
			before := w.snapshot(w.dir)
			o := w.run(stdin.String(), words(text[2:])[1:]...)
			w.unchanged(before)
			out = append(out, w.judge(text, row.lines[i+1:n], o)...)
			stdin.Reset()
			i = n - 1
		case strings.HasPrefix(text, "< "):
			stdin.WriteString(text[2:] + "\n")
		case strings.HasPrefix(text, "= "):
			for _, path := range w.glob(text[2:]) {
				if b, _ := os.ReadFile(path); string(b) != mine[path] {
					w.t.Errorf("%s was changed: %.200q", path, b)
				}
			}
		default:
			// A daemon must not load a part of a file: the lines of one are written together.
			for name, _, some := strings.Cut(text, "| "); some && i+1 < len(row.lines) && strings.HasPrefix(row.lines[i+1], name+"|"); i++ {
				next := strings.TrimPrefix(strings.TrimPrefix(expandBad(w.t, row.lines[i+1], w.vars), name+"|"), " ")
				out = append(out, row.lines[i+1])
				text += "\n" + next
			}
			w.prepare(text, begun, mine)
		}
	}
	row.lines = out
}

func isOutput(line string) bool {
	return strings.HasPrefix(line, "exit ") || strings.HasPrefix(line, "1> ") || strings.HasPrefix(line, "2> ")
}

// judge compares what a command said with the row, line by line.
func (w *badWorld) judge(what string, want []string, o badOutput) []string {
	w.t.Helper()
	got := []string{fmt.Sprintf("exit %d", o.code)}
	for _, s := range []struct{ mark, text string }{{"1> ", o.out}, {"2> ", o.errout}} {
		for line := range strings.SplitSeq(strings.TrimRight(s.text, "\n"), "\n") {
			if line != "" {
				got = append(got, strings.TrimRight(s.mark+line, " "))
			}
		}
	}
	return strings.Split(badMatch(w.t, what, strings.Join(want, "\n"), strings.Join(got, "\n")), "\n")
}

// prepare does one line that makes input bad.
func (w *badWorld) prepare(line string, begun map[string]bool, mine map[string]string) {
	w.t.Helper()
	if name, text, ok := strings.Cut(line, "| "); ok || strings.HasSuffix(line, "|") {
		name = strings.TrimSuffix(name, "|")
		old := ""
		if begun[name] {
			b, err := os.ReadFile(w.path(name))
			if err != nil {
				w.t.Fatal(err)
			}
			old = string(b)
		}
		begun[name] = true
		w.replace(name, old+text+"\n")
		mine[w.path(name)] = old + text + "\n"
		return
	}
	name, act, ok := strings.Cut(line, ": ")
	files := w.glob(name)
	if !strings.Contains(name, "*") {
		files = []string{w.path(name)}
	}
	if !ok || len(files) == 0 {
		w.t.Fatalf("what is %q?", line)
	}
	for _, path := range files {
		if err := spoil(path, act); err != nil {
			w.t.Fatal(err)
		}
		b, _ := os.ReadFile(path)
		mine[path] = string(b)
	}
}

// replace writes a file of the project whole: nobody sees a part of it.
func (w *badWorld) replace(name, text string) {
	w.t.Helper()
	fresh := filepath.Join(w.root, "fresh")
	path := w.path(name)
	for _, err := range []error{os.WriteFile(fresh, []byte(strings.ReplaceAll(text, "DIR", w.dir)), 0o600),
		os.MkdirAll(filepath.Dir(path), 0o700), os.Rename(fresh, path)} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *badWorld) glob(name string) []string {
	found, err := filepath.Glob(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func spoil(path, act string) error {
	b, readErr := os.ReadFile(path)
	if strings.HasSuffix(path, ".db") { // a write-ahead log that a process could not fold in brings a whole database back, and rightly
		for _, part := range []string{path + "-wal", path + "-shm"} {
			if err := os.RemoveAll(part); err != nil {
				return err
			}
		}
	}
	verb, text, _ := strings.Cut(act, " ")
	switch verb {
	case "cut":
		return os.WriteFile(path, b[:max(0, len(b)-1)], 0o600)
	case "half":
		return os.WriteFile(path, b[:len(b)/2], 0o600)
	case "append":
		return os.WriteFile(path, append(slices.Clip(b), text+"\n"...), 0o600)
	case "short":
		lines := strings.SplitAfter(string(b), "\n")
		return os.WriteFile(path, []byte(strings.Join(lines[:len(lines)/2], "")), 0o600)
	case "edited":
		head, rest, _ := strings.Cut(string(b), "\n")
		return os.WriteFile(path, []byte(head+"\n"+strings.Replace(rest, "guest", "admin", 1)), 0o600)
	case "garbage":
		return os.WriteFile(path, []byte(strings.Repeat("garbage ", 1000)), 0o600)
	case "gone":
		return os.RemoveAll(path)
	case "folder":
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return os.MkdirAll(filepath.Join(path, "in-its-place"), 0o700)
	case "file":
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return os.WriteFile(path, []byte("in its place\n"), 0o600)
	}
	return fmt.Errorf("%s: what is %q? (%w)", path, act, readErr)
}

// words splits a command line: single and double quotes hold words together, and nothing else is special.
func words(line string) []string {
	var out []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, in = r, true
		case quote == 0 && r == ' ':
			if in {
				out = append(out, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}
