package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal starts a command at a terminal of its own, with further variables, and returns the side of the person: what is typed is written
// to it, and what is shown is read from it. It ends with an error when the command is gone.
func (p *project) terminal(cmd *exec.Cmd, more ...string) *os.File {
	p.t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	needed(p.t, err, "a pseudo-terminal")
	p.t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		p.t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		p.t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	coloured := slices.DeleteFunc(slices.Clone(cmd.Env), func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") })
	cmd.Env = append(append(coloured, "TERM=xterm-256color"), more...)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return person
}

// shown is what a command shows at a terminal, and its exit code.
func (p *project) shown(more []string, args ...string) (string, int) {
	p.t.Helper()
	cmd := p.command(args...)
	person := p.terminal(cmd, more...)
	text, _ := io.ReadAll(person) // it ends with an error, because the terminal is gone
	_ = cmd.Wait()
	return string(text), cmd.ProcessState.ExitCode()
}

// TestServerThatCannotStartIsRed: status and doctor show a server that cannot start in red at a terminal, with and without a daemon. On a
// pipe, with NO_COLOR and with --no-color nothing has a colour.
func TestServerThatCannotStartIsRed(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(map[string]string{"mycelium.yaml": "session: {defaultRole: guest, roles: [guest, developer]}\n" +
		"mcpServers: {gone: {command: no-such-program}}\n"}))
	for _, daemon := range []string{"no", "a"} {
		if daemon == "a" {
			p.serve()
		}
		for _, c := range []struct {
			red  string
			exit int
			args []string
		}{
			{"\x1b[31mfailed", 0, []string{"status"}},
			{"\x1b[31m✗\x1b[0m server gone: ", 4, []string{"doctor"}},
		} {
			name := fmt.Sprintf("%s with %s daemon", c.args[0], daemon)
			text, exit := p.shown(nil, c.args...)
			if exit != c.exit || !strings.Contains(text, c.red) || !strings.Contains(text, "no-such-pro") {
				t.Errorf("%s: exit %d: %q", name, exit, text)
			}
			if text, _ := p.shown([]string{"NO_COLOR=1"}, c.args...); strings.Contains(text, "\x1b") || !strings.Contains(text, "gone") {
				t.Errorf("%s, NO_COLOR: %q", name, text)
			}
			if text, _ := p.shown(nil, append([]string{"--no-color"}, c.args...)...); strings.Contains(text, "\x1b") {
				t.Errorf("%s, --no-color: %q", name, text)
			}
			text, _, _ = p.run(c.args...)
			if strings.Contains(text, "\x1b") || !strings.Contains(text, "gone") || strings.Contains(text, "PATH=") {
				t.Errorf("%s, on a pipe: %q", name, text)
			}
		}
	}
}

// TestServerAddAsksAtATerminal: what is not a yes changes no file, and a yes writes the plan.
func TestServerAddAsksAtATerminal(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(map[string]string{"tools.json": `[{"name":"echo","inputSchema":{"type":"object"},` +
		`"annotations":{"readOnlyHint":true}}]`}))
	entry := filepath.Join(p.dir, "skills", "fix", "SKILL.yaml")
	for _, c := range []struct {
		word, says string
		exit       int
	}{{"n", "no file was changed", 3}, {"", "no file was changed", 3}, {"y", "added fix", 0}} {
		cmd := p.command("server", "add", "fix", "--role", "guest", "--", "deffile", "tools.json")
		person := p.terminal(cmd)
		screen, asked := bufio.NewReader(person), ""
		for !strings.HasSuffix(asked, "[y/N] ") {
			r, _, err := screen.ReadRune()
			if asked += string(r); err != nil {
				t.Fatalf("it did not ask: %q", asked)
			}
		}
		if !strings.Contains(asked, "  - fix__echo") {
			t.Errorf("the plan is not shown: %q", asked)
		}
		if _, err := os.Stat(entry); err == nil {
			t.Error("the skill was written before the answer")
		}
		if _, err := person.WriteString(c.word + "\n"); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(screen)
		_ = cmd.Wait()
		if exit := cmd.ProcessState.ExitCode(); exit != c.exit || !strings.Contains(string(rest), c.says) {
			t.Errorf("after %q: exit %d: %q", c.word, exit, rest)
		}
	}
	if out := p.must("tools", "--role", "guest"); !strings.Contains(out, "fix__echo") {
		t.Error(out)
	}
}

// TestWatchNamesLiveSessions: `myc watch` beside a running daemon names the session that loses a tool.
func TestWatchNamesLiveSessions(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	p.serve()
	s := p.mint("--role", "developer")
	cmd := p.command("watch", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() { // the state at the start
		t.Fatal(lines.Err())
	}
	p.write("skills/writing/SKILL.md", "---\nname: writing\ndescription: Writes files.\nallowedRoles: [admin]\n"+
		"allowedTools: [files__write_file]\n---\n\nWrite small files.\n")
	for lines.Scan() {
		var e struct {
			Sessions []struct {
				ID, Role string
				Lost     []string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Sessions) == 0 {
			continue // another part of the change
		}
		if l := e.Sessions[0]; len(e.Sessions) != 1 || l.ID != s.ID || l.Role != "developer" || !slices.Contains(l.Lost, "files__write_file") {
			t.Errorf("%+v, and the session is %s", e.Sessions, s.ID)
		}
		return
	}
	t.Fatal("no change named the session", lines.Err())
}

// TestApprovalsAsOverHTTP: an answer over HTTP can be about more than the call, where the call can be approved as that.
func TestApprovalsAsOverHTTP(t *testing.T) {
	t.Parallel()
	p := &team{project: newProject(t, world(map[string]string{"docs/a/a.md": "A.", "docs/b/b.md": "B.",
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest]}\npolicy: {fallback: {mcp: ask}}\n"}))}
	p.url = p.serve()
	host := strings.TrimPrefix(strings.TrimSuffix(p.url, "/mcp"), "http://")
	operator := strings.TrimSpace(p.must("approvals", "token"))
	s := p.mint("--role", "guest")
	call := p.start(s.Token, "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"docs/a"}`)
	r := p.waiting(1, 1)[0]
	answer := func(body string) (int, string) {
		status, said, _ := p.fetch("POST", "http://"+host+"/api/approvals/"+r.ID, fmt.Sprintf(body, r.Digest), host,
			"Content-Type", "application/json", "Authorization", "Bearer "+operator)
		return status, said
	}
	if status, said := answer(`{"allow":true,"for":"session","as":"host","digest":%q}`); status != 400 ||
		!strings.Contains(said, "cannot be approved as host") {
		t.Errorf("as a host: %d %s", status, said)
	}
	if status, said := answer(`{"allow":true,"for":"once","as":"folder","digest":%q}`); status != 400 ||
		!strings.Contains(said, "only an approval for the session or as a rule") {
		t.Errorf("once: %d %s", status, said)
	}
	if status, said := answer(`{"allow":true,"for":"session","as":"folder","digest":%q}`); status != 200 {
		t.Fatalf("%d %s", status, said)
	}
	if err := <-call.ended; err != nil || !strings.Contains(call.out.String(), "a.md") {
		t.Errorf("%v\n%s", err, call.err.String())
	}
	next := p.start(s.Token, "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"docs/a"}`)
	if err := <-next.ended; err != nil || !strings.Contains(next.out.String(), "a.md") {
		t.Errorf("another call in the folder: %v\n%s", err, next.err.String())
	}
	beside := p.start(s.Token, "call", "--ask", "deny", "files__list_directory", "--args", `{"path":"skills"}`)
	if err := <-beside.ended; err == nil {
		t.Errorf("a call beside the folder is allowed: %s", beside.out.String())
	}
}
