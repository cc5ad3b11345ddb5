package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/model/fake"
)

// headlessWorld is a project in which a developer's Bash and the gateway's file tool ask.
func headlessWorld(more string) map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [guest, developer]}\napproval: {deadline: 100s" + more + "}\n",
		"skills/coding/SKILL.yaml": "name: coding\ndescription: Runs commands.\nallowedRoles: [developer]\n" +
			"allowedTools: [agent__Bash]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: ask-c, action: ask, tool: Bash, args: {command: ['touch c.txt']}, reason: c is asked for}\n" +
			"  - {name: ask-w, action: ask, tool: files__write_file, reason: writes are asked for}\n",
	})
}

// waitsLine is what myc claude says on stderr while a call of its agent waits.
var waitsLine = regexp.MustCompile(`^myc: agent__Bash waits for an approval, for [0-9ms]+ at most; ` +
	`answer it with myc approvals watch, or myc approvals approve ([a-z2-9]+)$`)

// headless runs `myc claude -p` with further arguments. When it says that a call waits, heard is called with the id that it names. It
// returns what the model reads of its calls, and all that stood on stderr.
func (p *project) headless(heard func(id string), script []fake.Step, args ...string) (read, stderr string) {
	p.t.Helper()
	s := fake.New(append(script, fake.Step{Text: "done"})...)
	defer s.Close()
	cmd := exec.CommandContext(p.ctx, p.myc, append([]string{"claude", "--unsafe-program", "-p", "Do what the script says."}, args...)...)
	cmd.Dir, cmd.Env = p.dir, p.agentEnv("claude", s)
	var stdout, said bytes.Buffer
	cmd.Stdout = &stdout
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(io.TeeReader(pipe, &said))
	for lines.Scan() {
		if m := waitsLine.FindStringSubmatch(lines.Text()); m != nil {
			heard(m[1])
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(stdout.String(), "done") {
		p.t.Fatalf("%v: %v\n%s%s", args, err, stdout.String(), said.String())
	}
	for _, turn := range s.Turns() {
		read += results(turn) + "\n"
	}
	return read, said.String()
}

// TestHeadlessAsks: a call of a headless Claude Code that needs an approval waits where somebody can be reached, and stderr says so while
// it waits. Else it is denied at once, with why and how to change that. --ask says it otherwise, for its own tools and the gateway's.
func TestHeadlessAsks(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	nobody := func(id string) { t.Errorf("the request %s waits", id) }
	touch := []fake.Step{bashStep("touch c.txt")}
	both := slices.Concat(touch, []fake.Step{use("files__write_file", agentFile)})
	t.Run("nobody can be reached", func(t *testing.T) {
		p := newProject(t, headlessWorld(""))
		if got, _ := p.headless(nobody, both); strings.Count(got, "nobody can be reached now") != 2 ||
			strings.Count(got, "with --ask wait") != 2 {
			t.Errorf("the model reads %q", got)
		}
		got, stderr := p.headless(func(id string) { p.must("approvals", "deny", id, "--reason", "not today") }, touch, "--ask", "wait")
		if !strings.Contains(got, "not today") || !strings.Contains(stderr, "waits for an approval") {
			t.Errorf("with --ask wait the model reads %q\n%s", got, stderr)
		}
		if exists(p, "c.txt") || exists(p, "by-claude.txt") {
			t.Error("it ran")
		}
	})
	t.Run("a push", func(t *testing.T) {
		pushed := make(chan string, 16)
		push := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			pushed <- string(b)
		}))
		defer push.Close()
		p := newProject(t, headlessWorld(`, notify: {ntfy: {url: "`+push.URL+`/topic"}}`))
		answered := false
		got, _ := p.headless(func(id string) {
			for !strings.Contains(<-pushed, "waits for approval: agent__Bash") { //nolint:revive // the notices before it
			}
			p.must("approvals", "approve", id, "--sure")
			answered = true
		}, touch)
		if !answered || !exists(p, "c.txt") {
			t.Errorf("it was answered: %t; the model reads %q", answered, got)
		}
		if got, _ := p.headless(nobody, both, "--ask=deny"); strings.Count(got, "--ask deny") != 2 {
			t.Errorf("with --ask deny the model reads %q", got)
		}
		if exists(p, "by-claude.txt") {
			t.Error("it ran")
		}
	})
}
