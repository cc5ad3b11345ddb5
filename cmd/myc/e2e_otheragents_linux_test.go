package main

import (
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/model/fake"
)

// otherAttempts is a script that tries to change the files that govern an agent with a configuration of its own for the project.
const otherAttempts = `S=$HOME/.local/state/mycelium
t() { n=$1; shift; if sh -c "$*" >/dev/null 2>&1; then echo "open:$n"; fi; }
t state "touch $S/x"
t rules "echo >> rules.yaml"
t program "echo >> $S/bin/myc-hook"
for f in $S/projects/*/home/*/config.toml $S/projects/*/home/*/hooks.json $S/projects/*/home/*/system.json; do
  [ -e "$f" ] || continue
  t settings "echo >> $f"
  t replaced "cp $f $f.new && mv $f.new $f"
  t moved "mv $(dirname $f) $S/x"
done
echo tried
`

// TestCodexAndGemini: every command of the real Codex and of the real Gemini CLI that myc starts runs in the sandbox, unless a rule or a
// person has it run outside. A command outside changes no file that governs the agent.
func TestCodexAndGemini(t *testing.T) {
	for _, name := range []string{"codex", "gemini"} {
		realAgent(t, name)
	}
	if !withoutNetwork(t) {
		return
	}
	for name, args := range map[string][]string{"codex": {"exec", "--skip-git-repo-check", "--", "go"},
		"gemini": {"-m", "gemini-2.5-flash", "-p", "go"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			otherAgent(t, name, args)
		})
	}
}

func otherAgent(t *testing.T, name string, args []string) {
	p := newProject(t, nil)
	p.write("../.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n")
	p.write("../.ssh/x", "a key")
	p.write("../beside.txt", "of the person\n")
	p.write(".env", "TOKEN=MARKER-1\n")
	p.write("try.sh", otherAttempts)
	if out, stderr, err := p.run("init", "--sandbox", "yes"); err != nil {
		t.Fatalf("init: %v\n%s%s", err, out, stderr)
	}
	p.write("rules.yaml", strings.Replace(p.read("rules.yaml"), "\nrules:\n", "\nrules:\n"+
		"  - {name: out, action: allow, tool: Bash, args: {command: [{literal: 'sh try.sh > 3.txt'}]}, place: outside}\n"+
		"  - {name: typed, action: allow, tool: Bash, args: {command: [{literal: 'sh typed.sh'}]}, place: outside}\n"+
		"  - {name: asked, action: ask, tool: Bash, args: {command: [{literal: 'cp asked.txt 5.txt'}]}, place: outside}\n", 1))
	p.write("typed.sh", "touch typed.txt\n")
	p.write("asked.txt", "what is asked for\n")
	p.must("trust", "--yes")
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-qm", "begin")

	agent, _ := harness.Named(name)
	step := func(command string) fake.Step {
		tool, input := agent.Shell(command)
		return fake.Step{ToolUses: []fake.ToolUse{{Name: tool, Input: input}}}
	}
	onTerminal := step("cat .env")
	if name == "codex" { // its model could type into it
		onTerminal = fake.Step{ToolUses: []fake.ToolUse{{Name: "exec_command", Input: map[string]any{"cmd": "sh typed.sh", "tty": true}}}}
	}
	s := fake.New(
		step("python3 -c \"import os; print(open('.e' + 'nv').read()); print(open(os.path.expanduser('~/.s' + 'sh/x')).read())\" > 0.txt 2>&1"),
		step("echo \"it's $((6 * 7))\" > made.txt; pwd >> made.txt; eval 'echo x > \"$HOME\"/besi''de.txt'; exit 3"),
		step("cat > 2.txt <<'EOF'\n$(id) `id` \\\nEOF\nls -A \"$HOME\" >> 2.txt # of the sandbox"),
		step("sh try.sh > 3.txt"),
		step("cat .env"),
		fake.Step{Func: func(fake.Request) fake.Step {
			go func() {
				r := p.next("")
				if _, stderr, err := p.run("approvals", "approve", r.ID, "--sure"); err != nil {
					t.Errorf("approve: %v\n%s", err, stderr)
					_, _, _ = p.run("approvals", "deny", r.ID) // so that the agent does not wait for its whole time
				}
			}()
			return step("cp asked.txt 5.txt")
		}},
		onTerminal,
		fake.Step{Text: "done"})
	defer s.Close()
	environ := p.agentEnv(name, s)
	p.must("approvals", "mode", "remote")
	start := append([]string{name, "--unsafe-program"}, args...)
	stdout, stderr, code := p.as(environ, start...)
	if code != 0 {
		t.Fatalf("myc %q: exit %d\n%s%s", start, code, stdout, stderr)
	}
	turns := s.Turns()
	if len(turns) != 8 {
		t.Fatalf("%d turns\n%s%s", len(turns), stdout, stderr)
	}
	var told []string
	for _, r := range turns[1:] {
		told = append(told, results(r))
	}
	// Not every version of Gemini CLI waits for the last lines of a command, so the commands write into files.
	for file, want := range map[string]string{"0.txt": "No such file", "made.txt": "it's 42\n" + p.dir + "\n", "2.txt": "$(id) `id` \\\n",
		"3.txt": "tried", "5.txt": "what is asked for", "../beside.txt": "of the person\n"} {
		if got := p.read(file); !strings.Contains(got, want) || strings.Contains(got, "open:") || strings.Contains(got, "beside") {
			t.Errorf("%s has %q, want %q", file, got, want)
		}
	}
	if exists(p, "typed.txt") || name == "codex" && !strings.Contains(told[6], "call it without a terminal") {
		t.Errorf("a command outside had a terminal of the agent: %q", told[6])
	}
	if all := strings.Join(told, "\n") + p.read("0.txt"); !strings.Contains(told[4], "no-secrets") || strings.Contains(all, "a key") ||
		strings.Contains(all, "MARKER-1") {
		t.Errorf("the model was told %q", told)
	}
	inside := 0
	for _, r := range p.records() {
		if r.Sandbox == "project" {
			inside++
		}
	}
	if log := p.must("audit", "query", "--json"); inside != 3 || !strings.Contains(log, "made.txt") || strings.Contains(log, "myc-shell") {
		t.Errorf("the log has %d commands in the sandbox:\n%s", inside, log)
	}
	if exists(p, "x") || strings.Contains(stderr, "light wall") || strings.Contains(stderr, "no hook") {
		t.Errorf("the light wall: %s", stderr)
	}
	if left, err := filepath.Glob(p.state().Run("*")); err != nil || len(left) > 0 {
		t.Errorf("files of the run are left: %q %v", left, err)
	}
}
