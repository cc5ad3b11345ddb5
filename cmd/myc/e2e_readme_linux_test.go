package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/hook"
	"mycelium/internal/model/fake"
)

// readmeStandIns are the shell functions that stand in for what a test cannot do as it is written: it does not write to /usr/local/bin,
// because its programs lie in a folder for temporary files already, its agents have a prompt instead of a person, and the terminal of
// one's own in which approvals are watched is a process that the script ends. The gateway is told where the state is, because a program that an agent starts looks for it in the home of its user, whatever HOME
// says, and the home of a test is another.
const readmeStandIns = `
make() { echo "stand-in: make $*"; }
cp() { echo "stand-in: cp $*"; }
myc() {
	case "$1 $2" in
	"claude "*) shift; echo "Do what the script says." | command myc claude --unsafe-program "$@" ;;
	"hook install") command myc "$@" --unsafe-program ;;
	"approvals watch") command myc "$@" </dev/null & watcher=$! ;;
	*) command myc "$@" ;;
	esac
}
claude() {
	case "$1 $2 $3 $4 $5" in
	"mcp add mycelium -- myc") shift 5; command claude mcp add mycelium -- myc --state "$root" "$@" ;;
	*) command claude "$@" ;;
	esac
}
`

// TestReadme runs the recipes of README.md as they are written, with the real Claude Code and a scripted model: under `myc claude`, and
// then as a person starts it, under the hook. Both have their hands: a file is written by the agent's own tool, and one by the gateway's.
// Commands run in the sandbox under `myc claude`, without a question; under the hook of a plain `claude` too.
func TestReadme(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, nil)
	dir := filepath.Join(p.home, "your-project")
	bin := filepath.Join(p.home, "bin")
	for _, d := range []string{dir, bin} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"go.mod": "module example.com/shop\n\ngo 1.24\n", "shop.go": "package shop\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, p.myc, filepath.Join(bin, "myc"))
	copyFile(t, filepath.Join(filepath.Dir(p.myc), hook.Small), filepath.Join(bin, hook.Small))
	run := "governed" // the script begins anew with each run of the agent, so it asks which run this is
	s := fake.New(
		fake.Step{Func: func(fake.Request) fake.Step {
			if _, err := os.Stat(filepath.Join(dir, run)); err == nil {
				run = "started"
			}
			input := map[string]any{"file_path": filepath.Join(dir, run), "content": run}
			return fake.Step{ToolUses: []fake.ToolUse{{Name: "Write", Input: input}}}
		}},
		fake.Step{Func: func(fake.Request) fake.Step {
			return use("files__write_file", map[string]any{"path": run + "-mcp", "content": run + "-mcp"})
		}},
		bashStep("go test ./..."),
		fake.Step{Func: func(fake.Request) fake.Step { return fake.Step{Text: "The run has ended: " + run + "."} }},
	)
	defer s.Close()
	script := "set -ex\nroot='" + string(stateIn(p.home, "").Root) + "'\n" + readmeStandIns
	for _, b := range shellBlocks(t, "../../README.md") {
		if b.where == "Use it" {
			script += b.text
		}
	}
	script += "kill $watcher\nwait $watcher || true\nclaude -p 'Do what the script says.'\nmyc stop || true\n"
	cmd := exec.CommandContext(p.ctx, "bash", "-c", script)
	cmd.WaitDelay = time.Second // the watcher has its output
	cmd.Dir, cmd.Env = p.home, append(p.agentEnv("claude", s), "PATH="+bin+":"+filepath.Dir(realAgent(t, "claude"))+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The run has ended: governed.", "The hook blocks.", "The run has ended: started."} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the recipes do not print %q", want)
		}
	}
	for _, name := range []string{"governed", "governed-mcp", "started", "started-mcp"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != name {
			t.Errorf("the file %s has %q, %v", name, got, err)
		}
	}
	readmeSandbox(t, string(stateIn(p.home, "").Root))
	for i, turn := range s.Turns() {
		t.Logf("turn %d: %s; it is offered %q", i, results(turn), offered(turn))
	}
}

// readmeSandbox checks in the log of the one project below a state root where the two agents of the recipes ran its tests.
func readmeSandbox(t *testing.T, root string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(root, "projects", "your-project-*", "audit", "*.jsonl"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("the segments of the log: %q, %v", segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		var r struct{ Tool, Effect, Rule, Reason, Sandbox string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Tool != "agent__Bash" || r.Effect == "" {
			continue
		}
		got = append(got, r.Effect+" "+r.Sandbox)
		if r.Rule != "go-packages" {
			t.Errorf("%+v", r)
		}
	}
	if want := []string{"allow project", "allow project"}; !slices.Equal(got, want) {
		t.Errorf("go test ran as %q, want %q", got, want)
	}
}
