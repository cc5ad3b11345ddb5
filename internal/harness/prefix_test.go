package harness

import (
	"slices"
	"strings"
	"testing"

	"mycelium/internal/harness/shellwords"
)

// wrapped are lines as Claude Code wrote them, with the command in them.
var wrapped = []struct{ line, command string }{
	{ // 2.1.197
		`source /h/.claude/shell-snapshots/snapshot-bash-1795598130061-kjj2tx.sh 2>/dev/null || true && { shopt -u extglob || setopt ` +
			`NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && eval 'cd sub && echo '"'"'it'"'"''"'"'s "q"'"'"' $HOME' ` +
			`< /dev/null && pwd -P >| /tmp/claude-8f8b-cwd`,
		`cd sub && echo 'it''s "q"' $HOME`,
	},
	{ // 2.1.330
		`source /h/.claude/shell-snapshots/snapshot-bash-1795598298048-48fmoc.sh 2>/dev/null || true && { \builtin shopt -u extglob || ` +
			`\builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS; } >/dev/null 2>&1 || true && ` +
			`{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && { \builtin unalias -- 'unsetenv'; ` +
			`\builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true && eval 'cat <<'"'"'EOF'"'"' | wc -l
a'"'"'b
EOF
' && pwd -P >| '/tmp/a b/claude-a59f-cwd'`,
		"cat <<'EOF' | wc -l\na'b\nEOF\n",
	},
}

// TestUnwrap: what Claude Code wraps is taken apart, and every other line is refused, also one that differs by a few characters.
func TestUnwrap(t *testing.T) {
	agent, _ := Named("claude")
	for _, tc := range wrapped {
		w, err := agent.Launch.Prefix.Unwrap(tc.line)
		if err != nil || w.Command != tc.command || w.Shell != "bash" || !strings.HasSuffix(w.Folder, "-cwd") {
			t.Errorf("%q: %+v %v", tc.line, w, err)
		}
		for _, change := range [][2]string{
			{" && eval ", " && touch x && eval "}, {" && pwd -P", "; touch x && pwd -P"}, {"eval '", "eval $(touch x)'"}, {"-cwd", "-x"},
			{"snapshot-bash", "other"}, {"shell-snapshots", "x"}, {"source ", ". "}, {"|| true &&", "|| touch x &&"}, {"eval '", "eval "},
			{"/tmp/", "/tmp/../"}, {"-cwd", "-cwd x"},
		} {
			line := strings.Replace(tc.line, change[0], change[1], 1)
			if line == tc.line {
				t.Fatalf("%q has no %q", line, change[0])
			}
			if got, err := agent.Launch.Prefix.Unwrap(line); err == nil {
				t.Errorf("%q was taken for %+v", line, got)
			}
		}
	}
	codex, _ := Named("codex")
	if _, err := codex.Launch.Prefix.Unwrap(wrapped[0].line); err == nil {
		t.Error("an agent without a prefix wraps something")
	}
}

// TestUnwrapWithoutSnapshot: a line without the snapshot, which a busy machine does not write in time, is taken apart all the same.
func TestUnwrapWithoutSnapshot(t *testing.T) {
	agent, _ := Named("claude")
	for _, tc := range wrapped {
		_, line, _ := strings.Cut(tc.line, " || true && ")
		w, err := agent.Launch.Prefix.Unwrap(line)
		if err != nil || w.Command != tc.command || w.Shell != "bash" || w.Snapshot != "" {
			t.Errorf("%q: %+v %v", line, w, err)
		}
		for _, other := range []string{"touch x && " + line, "; " + line, line + " x",
			strings.Replace(line, " && eval ", " && touch x && eval ", 1)} {
			if got, err := agent.Launch.Prefix.Unwrap(other); err == nil {
				t.Errorf("%q was taken for %+v", other, got)
			}
		}
	}
}

// TestShellWords: words that mean themselves are read, and a line with anything else is not.
func TestShellWords(t *testing.T) {
	got, ok := shellwords.Split(`/x/myc -C '/a b' 'it'"'"'s' --state=/s`)
	if want := []string{"/x/myc", "-C", "/a b", "it's", "--state=/s"}; !ok || !slices.Equal(got, want) {
		t.Errorf("%q %t", got, ok)
	}
	for _, line := range []string{"", "a ", " a", "a  b", "a;b", "a$b", "'a", `"a"`, "a`b`", "a\nb", "a>b", "~/x", "a*"} {
		if got, ok := shellwords.Split(line); ok {
			t.Errorf("%q was read as %q", line, got)
		}
	}
}
