package shell_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpusDir is explained by its own README.
const corpusDir = "testdata/corpus"

// freshDir holds commands that nobody tuned anything on before they were measured.
const freshDir = "testdata/fresh"

// heldOutDir holds commands that nothing is ever tuned on.
const heldOutDir = "testdata/heldout"

// labelled is one line of the corpus.
type labelled struct {
	file    string
	line    int
	label   string // allow, notallow, ask or deny
	command string
	reason  string
}

// harmless reports whether a refusal would be a mistake.
func (l labelled) harmless() bool { return l.label == "allow" }

// readCorpus reads every file of the folder, in the order of their names.
func readCorpus(t testing.TB, dir string) []labelled {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []labelled
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "#") || line == "" {
				continue
			}
			all = append(all, readLabelled(t, f.Name(), n, line))
		}
	}
	return all
}

func readLabelled(t testing.TB, file string, n int, line string) labelled {
	t.Helper()
	label, rest, ok := strings.Cut(line, " ")
	i := strings.LastIndex(rest, " ## ")
	if !ok || i <= 0 || i+4 == len(rest) || !slices.Contains([]string{"allow", "notallow", "ask", "deny"}, label) {
		t.Fatalf("%s:%d: %q is not LABEL COMMAND ## REASON", file, n, line)
	}
	return labelled{file: file, line: n, label: label, command: strings.ReplaceAll(rest[:i], "⏎", "\n"), reason: rest[i+4:]}
}

// rowsAndWrappers are the rows of the table "Shell commands" of the threats and the wrappers that its text names: a file each.
var rowsAndWrappers = []string{
	"row1-chains", "row2-pipe-to-shell", "row3-git-subcommands", "row4-git-output", "row5-rm", "row6-push", "row7-paths", "row8-env",
	"wrapper-sudo", "wrapper-env", "wrapper-nohup", "wrapper-timeout", "wrapper-time", "wrapper-nice", "wrapper-stdbuf", "wrapper-xargs",
	"wrapper-find-exec", "wrapper-sh-c", "wrapper-bash-lc",
}

func TestCorpusFormat(t *testing.T) {
	all := readCorpus(t, corpusDir)
	if len(all) < 800 {
		t.Errorf("%d commands; at least 800 are promised", len(all))
	}
	harmless, dangerous, where := map[string]int{}, map[string]int{}, map[string]labelled{}
	for _, l := range all {
		if l.harmless() {
			harmless[l.file]++
		} else {
			dangerous[l.file]++
		}
		if other, ok := where[l.command]; ok && other.harmless() != l.harmless() {
			t.Errorf("%s:%d and %s:%d say opposite things of %q", l.file, l.line, other.file, other.line, l.command)
		}
		where[l.command] = l
	}
	for _, f := range rowsAndWrappers {
		if harmless[f]+dangerous[f] < 40 || harmless[f] < 15 || dangerous[f] < 15 {
			t.Errorf("%s has %d harmless and %d dangerous commands; at least 40, of both sides, are promised", f, harmless[f], dangerous[f])
		}
	}
}
