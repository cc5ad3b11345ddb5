package written_test

import (
	"os/exec"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/written"
)

// TestProgramsWriteThat: what is taken for a number is one word without a slash, and what is taken for names of things begins with no
// hyphen. The programs themselves say so.
func TestProgramsWriteThat(t *testing.T) {
	for _, c := range []struct {
		command string
		kind    written.Kind
	}{
		{"date +%F", written.Number},
		{"date -u +%Y%m%dT%H%M%SZ", written.Number},
		{"date +%s", written.Number},
		{"date -d yesterday +%F", written.Thing},
		{"date -d nonsense +%F", written.Thing},
		{"nproc", written.Number},
		{"uname -s", written.Number},
		{"id -u", written.Number},
		{"seq 1 5", written.Number},
		{"seq 5 1", written.Thing},
		{"git rev-parse HEAD", written.Thing},
		{"git rev-parse --short HEAD~1", written.Thing},
		{"git merge-base HEAD HEAD", written.Thing},
		{"git rev-list -n 3 HEAD", written.Thing},
		{"git log --format=%H -n 2", written.Thing},
	} {
		argv := strings.Fields(c.command)
		w := program.Walk{Parts: []policy.Part{{Program: argv[0], Argv: argv}}}
		if got := written.By(&w, 0); got != c.kind {
			t.Errorf("%s: %v, want %v", c.command, got, c.kind)
		}
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		words := strings.Fields(string(out))
		if c.kind == written.Number && (err != nil || len(words) == 0) {
			t.Errorf("%s wrote nothing: %v", c.command, err)
		}
		for _, word := range words {
			if strings.HasPrefix(word, "-") || strings.ContainsAny(word, "/:$*?[") && c.kind == written.Thing || strings.Contains(word, "/") {
				t.Errorf("%s wrote %q", c.command, word)
			}
		}
	}
	for _, command := range []string{
		"date", "date +%p", "date +%D", "date +-%F", "date -f x +%F", "date +%F%n/x", "uname -a", "seq -f x 1", "git rev-parse -- -x",
		"git rev-parse HEAD:.env",
		"git rev-parse .env", "git log --format=%s", "git log --format=%H%n%B", "git rev-list --objects HEAD", "git rev-list --format=%B HEAD",
		"docker ps", "docker ps -q --format x", "kubectl get secrets -o name", "kubectl get pods -o yaml",
		"gh pr list --json title --jq .[0].title",
		"pgrep -l x", "git -C /x rev-parse HEAD",
	} {
		argv := strings.Fields(command)
		w := program.Walk{Parts: []policy.Part{{Program: argv[0], Argv: argv}}}
		if got := written.By(&w, 0); got != written.Anything {
			t.Errorf("%s: %v, want anything", command, got)
		}
	}
}
