package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms are the rooms of this program: the hook and what the hook may import, the inside of the sandbox, and the program before the
// shell of an agent.
var rooms = []string{"hook", "harness", "harness/rewrite", "harness/shellwords", "daemon", "rpc", "rawjson", "text", "atomicfile", "state",
	"worktree", "op", "sandbox/jail", "node/agentshell/shim"}

// libraries are all that it has besides the standard library.
var libraries = []string{"github.com/go-json-experiment/json", "golang.org/x/sys", "golang.org/x/term",
	"github.com/clipperhouse",
	"github.com/rogpeppe/go-internal/diff"}

// initialised is how many packages may do something when the program starts; an idle `myc` has 232. Each costs time before every tool.
const initialised = 48

func TestPackages(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		room, ours := strings.CutPrefix(path, "mycelium/internal/")
		switch {
		case path == "mycelium/cmd/myc-hook" || ours && slices.Contains(rooms, room):
		case slices.ContainsFunc(libraries, func(l string) bool { return path == l || strings.HasPrefix(path, l+"/") }):
		default:
			t.Errorf("%s is linked in", path)
		}
	}
}

// TestProgram looks at the program as `make build` makes it.
func TestProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "myc-hook")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("static", func(t *testing.T) {
		f, err := elf.Open(path)
		if err != nil {
			return // another system's format: macOS links every program dynamically
		}
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("it is linked dynamically: %v", p.Type)
			}
		}
	})
	run := func(env []string, stdin string, args ...string) (stdout, stderr string, code int) {
		cmd := exec.Command(path, args...)
		var out, errs bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.TempDir(), append(os.Environ(), env...), strings.NewReader(stdin), &out, &errs
		_ = cmd.Run()
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	t.Run("initialised", func(t *testing.T) {
		_, stderr, _ := run([]string{"GODEBUG=inittrace=1"}, "{}", "claude", "--event", "PreToolUse")
		if n := strings.Count("\n"+stderr, "\ninit "); n == 0 || n > initialised {
			t.Errorf("%d packages are initialised, at most %d may be:\n%s", n, initialised, stderr)
		}
	})
	// Without a daemon and without myc beside it nobody can decide: that denies what precedes a tool, whatever the arguments are.
	event := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`
	for name, args := range map[string][]string{
		"an entry": {"claude", "--event", "PreToolUse"}, "no folder": {"claude", "--event", "PreToolUse", "-C", "/nowhere"},
		"nothing": {}, "another agent": {"copilot"}, "a wrong flag": {"claude", "--evnt", "PreToolUse"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := run(nil, event, args...)
			if denied := code == 0 && strings.Contains(stdout, `"permissionDecision":"deny"`); !denied &&
				(code != 2 || !strings.Contains(stderr, "denied")) {
				t.Errorf("exit %d, %q, %q", code, stdout, stderr)
			}
		})
	}
	if stdout, _, code := run(nil, `{"hook_event_name":"Stop"}`, "claude", "--event", "Stop"); code != 0 || strings.Contains(stdout, "deny") {
		t.Errorf("at a stop: exit %d, %q", code, stdout)
	}
}
