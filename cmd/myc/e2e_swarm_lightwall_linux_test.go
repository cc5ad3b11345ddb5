package main

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/model/fake"
)

// workerAttempts are those of [wallAttempts] from the tree of a worker, which has the project's folder in $P.
const workerAttempts = `S=$HOME/.local/state/mycelium
P=%s
t() { n=$1; shift; if sh -c "$*" >/dev/null 2>&1; then echo "open:$n"; fi; }
t state "touch $S/x"
t accepted "for f in $S/projects/*/accepted/*; do touch \$f || exit 1; done"
t driver "for f in $S/projects/*/swarm/git/*; do touch \$f/x || exit 1; done"
t program "echo >> $S/bin/myc-hook"
t user-settings "echo '{\"env\": {\"BASH_ENV\": \"/tmp/x\"}}' > $HOME/.claude/settings.json"
t settings-of-hook "echo {} > $P/.claude/settings.local.json"
t rules "echo >> $P/rules.yaml"
t rules-replaced "cp $P/rules.yaml $P/x && mv $P/x $P/rules.yaml"
t project-moved "mv $P $HOME/x && mv $HOME/x $P"
t rules-of-tree "echo >> rules.yaml"
t settings-made-in-tree "mkdir -p .claude && echo {} > .claude/settings.json"
t tree-moved "mv $PWD $PWD.x && mv $PWD.x $PWD"
t objects "for f in $S-trees/*/.objects/*; do touch \$f/x || exit 1; done"
`

// worksBehind gives a project [workerAttempts] as a script, and a hook of Claude Code whose settings they try to change.
func worksBehind(t *testing.T) *project {
	t.Helper()
	p := swarmWorld(t)
	p.write("try.sh", fmt.Sprintf(workerAttempts, p.dir))
	p.git("add", "try.sh")
	p.git("commit", "-qm", "try")
	p.write("../.claude/settings.json", "{}\n")
	p.must("hook", "install", "claude", "--unsafe-program")
	p.write("plan.yaml", "features:\n  - {id: alpha, description: Add alpha}\n")
	return p
}

// tried fails the test if one of [workerAttempts] comes to something behind the wall, or if one comes to nothing without: then it shows nothing.
// swarm are names of attempts on a file that is there for a swarm only.
func tried(t *testing.T, said string, walled bool, swarm ...string) {
	t.Helper()
	if !strings.Contains(said, "tried") {
		t.Errorf("the attempts: %q", said)
	}
	for line := range strings.Lines(workerAttempts) {
		call, ok := strings.CutPrefix(line, "t ")
		name, _, _ := strings.Cut(call, " ")
		if open := strings.Contains(said, "open:"+name+"\n"); ok && open == walled && !slices.Contains(swarm, name) {
			t.Errorf("the attempt %s comes to something: %t", name, open)
		}
	}
}

// TestSwarmLightWall: the commands of a worker that is the real Claude Code, and that a person let run outside of the sandbox, change nothing of
// what governs it, whatever they try: in the project, in the tree of the worker and in the state. The worker does its work. The same holds for a
// worker at a terminal. Without the wall the same attempts come to something, and where none can be built, the log of the worker says so.
func TestSwarmLightWall(t *testing.T) {
	realAgent(t, "claude")
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	if !withoutNetwork(t) {
		return
	}
	const auto, none = `"$0" swarm auto --unsafe-program --unsandboxed`, "no light wall stands around this agent (make the namespaces: "
	for _, c := range []struct {
		name, runner, command string
		walled                bool
		told                  string
	}{
		{"headless", "claude", auto, true, ""},
		{"terminal", "claude-tmux", auto, true, ""},
		{"no wall", "claude", auto + " --wall no", false, ""},
		{"none can be built", "claude", `exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces || exit; ` + auto +
			`; "$0" swarm logs alpha --json' "$0"`, false, none},
		{"there must be one", "claude", `exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces || exit; ` + auto +
			` --wall yes; "$0" swarm status --json' "$0"`, false, "the light wall cannot be built here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := worksBehind(t)
			s := fake.New()
			defer s.Close()
			environ := p.agentEnv("claude", s)
			s.Play(bashStep("sh try.sh; echo tried"),
				bashStep("echo x > made.txt && mv made.txt moved.txt && git add -A && git commit -qm 'feat: alpha' && echo worked"),
				fake.Step{Text: "done"})
			if stdout, stderr, code := p.as(environ, "swarm", "init", "plan.yaml", "--runner", c.runner, "--retries", "0", "--no-reviews"); code != 0 {
				t.Fatalf("myc swarm init: exit %d\n%s%s", code, stdout, stderr)
			}
			cmd := exec.CommandContext(p.ctx, "sh", "-c", c.command, p.myc)
			cmd.Dir, cmd.Env = p.dir, environ
			person := p.terminal(cmd)
			if _, err := io.WriteString(person, "y\n"); err != nil {
				t.Fatal(err)
			}
			out, _ := io.ReadAll(person) // it ends with an error, because the terminal is gone
			said := string(out)
			if err := cmd.Wait(); err != nil && c.walled { // without the wall the attempts leave a changed tree
				t.Errorf("myc swarm auto: %v", err)
			}
			if c.told != "" && !strings.Contains(said, c.told) || strings.Contains(said, none) != (c.told == none) {
				t.Errorf("a person is not told %q, or of something else", c.told)
			}
			turns := s.Turns()
			next := "worked"
			if !c.walled { // the hook sees what the attempts have changed
				next = "no wall keeps it, so nothing runs"
			}
			switch must := strings.Contains(c.command, "--wall yes"); {
			case must && len(turns) > 0:
				t.Error("it was started without the wall that it was to have")
			case must:
			case len(turns) < 3:
				t.Errorf("%d turns", len(turns))
			default:
				tried(t, results(turns[1]), c.walled)
				if got := results(turns[2]); !strings.Contains(got, next) {
					t.Errorf("the work of the worker: %q, want %q", got, next)
				}
			}
			if t.Failed() {
				t.Log(said)
			}
		})
	}
}

// TestEngineLightWall: the same holds for the Claude Code that our own agent drives.
func TestEngineLightWall(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	for _, walled := range []bool{true, false} {
		t.Run(fmt.Sprint(walled), func(t *testing.T) {
			t.Parallel()
			p := worksBehind(t)
			s := fake.New(bashStep("sh try.sh; echo tried"), fake.Step{Text: "done"})
			defer s.Close()
			args := []string{"run", "-p", "Do what the script says.", "--engine", "claude", "--role", "developer", "--unsafe-program"}
			if !walled {
				args = append(args, "--wall", "no")
			}
			stdout, stderr, code := p.as(p.agentEnv("claude", s), args...)
			turns := s.Turns()
			if code != 0 || len(turns) < 2 {
				t.Fatalf("myc run: exit %d, %d turns\n%s%s", code, len(turns), stdout, stderr)
			}
			tried(t, results(turns[1]), walled, "driver", "objects")
		})
	}
}
