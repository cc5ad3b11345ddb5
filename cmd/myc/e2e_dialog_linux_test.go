package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/model/fake"
	"mycelium/internal/tmux"
)

// agentTerminal is `myc claude` at a terminal, in a tmux of its own.
type agentTerminal struct {
	*project
	door    agentDoor
	program string // tmux
	server  tmux.Server
	pane    tmux.Pane
}

// needTerminals skips the test if tmux or a version of Claude Code is missing.
func needTerminals(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	for _, door := range doors(agentDoors) {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
}

// atTerminal returns the terminal of a version of Claude Code that talks to a fake. Nothing runs there until start. A person has trusted
// the folder dir: before that, Claude Code asks about it, and runs no status line.
func (p *project) atTerminal(door agentDoor, dir string, s *fake.Server) *agentTerminal {
	t := p.t
	t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := door.find("../..", "claude")
	if err != nil {
		t.Fatal(err)
	}
	environ := append(p.agentEnv("claude", s), "PATH="+filepath.Dir(agent)+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm-256color")
	for _, v := range p.env { // a daemon that myc claude starts has its environment
		if strings.HasPrefix(v, "TG_TOKEN=") {
			environ = append(environ, v)
		}
	}
	settings := filepath.Join(p.home, ".claude", ".claude.json")
	seeded := strings.Replace(readAll(t, settings), "{", fmt.Sprintf(`{"projects": {%q: {"hasTrustDialogAccepted": true}},`, dir), 1)
	if err := os.WriteFile(settings, []byte(seeded), 0o600); err != nil {
		t.Fatal(err)
	}
	server := tmux.Server{Socket: filepath.Join(p.home, "run", "t"), Config: "/dev/null", Env: environ}
	t.Cleanup(func() {
		_ = exec.Command(program, "-S", server.Socket, "kill-server").Run()
		var left map[int]string
		if !poll(p.ctx, patience, func() bool { // a gateway would start another daemon
			left = p.processes()
			maps.DeleteFunc(left, func(_ int, line string) bool { return strings.Contains(line, " serve ") })
			return len(left) == 0
		}) {
			t.Errorf("the agent and what it started live on: %v", left)
		}
	})
	return &agentTerminal{project: p, door: door, program: program, server: server}
}

// start starts `myc claude` in the project as a developer, with further arguments.
func (a *agentTerminal) start(args ...string) {
	a.t.Helper()
	a.open(a.dir, append([]string{a.myc, "claude", "--unsafe-program", "--role", "developer"}, args...)...)
}

// open starts a command in a folder.
func (a *agentTerminal) open(dir string, command ...string) {
	a.t.Helper()
	var err error
	a.pane, err = a.server.Open(a.ctx, tmux.Window{Session: "w", Name: "agent", Dir: dir, Command: command})
	if err != nil {
		a.t.Fatal(err)
	}
	a.tmux("resize-window", "-x", "160", "-y", "60") // so that no line is broken
}

// shows waits until all the texts stand on the screen, which it returns.
func (a *agentTerminal) shows(texts ...string) string {
	a.t.Helper()
	var screen string
	if !poll(a.ctx, patience, func() bool {
		screen, _ = a.server.Screen(a.ctx, a.pane.ID)
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	}) {
		a.t.Fatalf("%q never stood on the screen:\n%s", texts, screen)
	}
	a.t.Logf("%s:\n%s", a.door.name, screen)
	return screen
}

// types types a text and, once the text stands on the screen, Enter: Claude Code takes an Enter that comes with the text for a new line of
// a text that is pasted.
func (a *agentTerminal) types(text string) {
	a.t.Helper()
	shown := func() int {
		screen, _ := a.server.Screen(a.ctx, a.pane.ID)
		return strings.Count(screen, strings.TrimSpace(text))
	}
	before := shown()
	a.tmux("send-keys", "-l", "--", text)
	if !poll(a.ctx, patience, func() bool { return shown() > before }) {
		screen, _ := a.server.Screen(a.ctx, a.pane.ID)
		a.t.Fatalf("%q was typed and never stood on the screen:\n%s", text, screen)
	}
	a.key("Enter")
}

// key presses one key.
func (a *agentTerminal) key(name string) {
	a.t.Helper()
	a.tmux("send-keys", name)
}

// chooses presses the key of an option of a dialog, and waits for its effect. Claude Code 2.1.330 ignores keys for a moment after it has opened a
// dialog, so the key is pressed once more where nothing comes of it.
func (a *agentTerminal) chooses(key string, effect func() bool) {
	a.t.Helper()
	a.key(key)
	if !poll(a.ctx, 3*time.Second, effect) {
		a.key(key)
	}
	a.eventually("the option "+key+" has its effect", effect)
}

// tmux runs a command of tmux on the pane.
func (a *agentTerminal) tmux(command string, args ...string) {
	a.t.Helper()
	argv := append([]string{"-S", a.server.Socket, command, "-t", a.pane.ID}, args...)
	if out, err := exec.CommandContext(a.ctx, a.program, argv...).CombinedOutput(); err != nil {
		a.t.Fatalf("tmux %s: %v %s", command, err, out)
	}
}

// TestOwnDialog: what the real Claude Code of both versions shows and tells where its own terminal asks for us. About a command, its
// dialog says who asks, by which rule and how to change that, and offers no "don't ask again". About a file it does not say why, and offers
// to allow all edits. Who chooses that is told what it means here; the next edit asks all the same, and the rule that is offered means it.
// Outside of every project, Claude Code asks by itself; what "don't ask again" writes there is taken over by an import, in the same words.
func TestOwnDialog(t *testing.T) {
	needTerminals(t)
	if !withoutNetwork(t) {
		return
	}
	for _, door := range doors(agentDoors) {
		if !door.http {
			t.Run(door.name, func(t *testing.T) {
				t.Parallel()
				choosesAllEdits(t, door)
			})
			t.Run(door.name+", outside", func(t *testing.T) {
				t.Parallel()
				choosesNotToBeAskedAgain(t, door)
			})
		}
	}
}

func choosesAllEdits(t *testing.T, door agentDoor) {
	p := newProject(t, world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest, developer]}\napproval: {mode: local}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\n" +
			"allowedTools: [agent__Bash, agent__Write]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: ask-c, action: ask, tool: Bash, args: {command: ['touch c.txt']}, reason: c is asked for}\n",
	}))
	write := func(name string) fake.Step {
		input := map[string]any{"file_path": filepath.Join(p.dir, name), "content": "x\n"}
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Write", Input: input}}}
	}
	s := fake.New(bashStep("touch c.txt"), write("one.txt"), write("two.txt"), write("three.txt"), fake.Step{Text: "as you wish"})
	defer s.Close()
	a := p.atTerminal(door, p.dir, s)
	a.start("--permission-mode", "default")
	a.shows("❯")
	a.types("go")

	screen := a.shows("Do you want to proceed?", "Mycelium asks: c is asked for (rule: ask-c). To change that: myc edit rules.", "2. No")
	if strings.Contains(screen, "ask again") {
		t.Error("it offers not to ask again; docs/hook.md says that it does not")
	}
	a.chooses("1", func() bool { return exists(p, "c.txt") })
	screen = a.shows("Do you want to create one.txt?", "2. Yes, ", "3. No")
	if strings.Contains(screen, "It would write") {
		t.Error("it says why a file is asked about; docs/hook.md says that it does not")
	}
	a.chooses("2", func() bool { return exists(p, "one.txt") }) // all edits
	screen = a.shows("Do you want to create two.txt?", "Mycelium asks: It would write ", "its own mode acceptEdits now")
	const offered = `{name: all-edits, action: allow, tool: "Write|Edit|MultiEdit", match: {path: [{glob:`
	if !strings.Contains(strings.Join(strings.Fields(screen), " "), offered) {
		t.Error("the rule that means the same is not offered")
	}
	p.write("rules.yaml", p.read("rules.yaml")+"  - "+offered+" \"DIR/**\"}]}}\n")
	p.must("trust", "--yes")
	p.must("skill", "reload") // the daemon has read it
	a.chooses("1", func() bool { return exists(p, "two.txt") })
	a.shows("as you wish")
	for _, name := range []string{"c.txt", "one.txt", "two.txt", "three.txt"} {
		if !exists(p, name) {
			t.Errorf("%s is not there", name)
		}
	}
	var calls []struct {
		Effect    string `json:"effect"`
		DecidedBy string `json:"decidedBy"`
		Reason    string `json:"reason"`
	}
	p.decode(&calls, "audit", "query", "--tool", "agent__Write")
	var said []string
	for _, c := range calls {
		said = append(said, c.Effect+" "+c.DecidedBy+" "+c.Reason)
	}
	if got := strings.Join(said, "\n"); strings.Count(got, "allow person") != 2 || strings.Count(got, "allow policy") != 1 ||
		strings.Count(got, "the agent's own mode acceptEdits") != 1 {
		t.Errorf("the log says\n%s", got)
	}
}

func choosesNotToBeAskedAgain(t *testing.T, door agentDoor) {
	p := newProject(t, nil)
	dir := filepath.Join(p.home, "plain")
	p.write("../plain/notes.md", "Remember the milk.\n")
	p.write("../.config/mycelium/rules.yaml", "version: 1\nrules: []\n")
	p.must("trust", "--yes")
	p.must("hook", "install", "claude", "--user", "--unsafe-program")
	s := fake.New(bashStep("npm run build"), bashStep("npm run test"), fake.Step{Text: "as you wish"})
	defer s.Close()
	a := p.atTerminal(door, dir, s)
	a.open(dir, "claude", "--permission-mode", "default")
	a.shows("❯")
	a.types("go")
	a.shows("Do you want to proceed?", "2. Yes, and don’t ask again for: npm run *")
	a.key("2")
	a.shows("as you wish") // the second command was not asked about
	if got := readAll(t, filepath.Join(dir, ".claude", "settings.local.json")); !strings.Contains(got, `"Bash(npm run *)"`) {
		t.Errorf("Claude Code wrote %s", got)
	}
	if got := p.must("audit", "query", "--outside"); !strings.Contains(got, "npm run test") || strings.Contains(got, " deny ") {
		t.Errorf("the log says\n%s", got)
	}
	if stdout, stderr, code := p.as(p.env, "-C", dir, "init", "--from", "claude"); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	if got := readAll(t, filepath.Join(dir, "claude-rules.yaml")); !strings.Contains(got, "Bash(npm run *)") {
		t.Errorf("the import wrote %s", got)
	}
}
