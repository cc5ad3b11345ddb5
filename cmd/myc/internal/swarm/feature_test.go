package swarm

import (
	"strings"
	"testing"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
)

// Five files are shown, and the number of the others; a binary file is marked; what was not committed is named.
func TestProofRows(t *testing.T) {
	var files []ground.File
	for _, name := range strings.Fields("a b c d e f g") {
		files = append(files, ground.File{Path: name, Added: 2, Deleted: 1, Binary: name == "b"})
	}
	p := book.NewProof("1", "2", files, "x")
	p.Uncommitted = []string{"left"}
	var got []string
	for _, row := range proofRows(p) {
		got = append(got, strings.Join(row, ": "))
	}
	want := "before: 1|after: 2|branch: was not there, or the worktree not on it|changed: 7 files, 14 lines added, 7 deleted|" +
		"files: a, b (binary), c, d, e and 2 more|uncommitted: left|diff: sha256:x"
	if strings.Join(got, "|") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "|"), want)
	}
	if got := few([]string{"a", "b", "c", "d", "e"}, 5); got != "a, b, c, d, e" {
		t.Errorf("five are shown as %q", got)
	}
}
