package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/approval/telegram/telegramtest"
	"mycelium/internal/audit"
)

// beside makes another project of the same person, which names no bot unless its files do.
func (f *phone) beside(name string, files map[string]string) *project {
	f.t.Helper()
	p := &project{t: f.t, ctx: f.ctx, home: f.home, dir: filepath.Join(f.home, "more", name), myc: f.myc, env: f.env}
	for file, text := range files {
		p.write(file, text)
	}
	p.must("trust", "--yes")
	f.t.Cleanup(func() {
		if f.t.Failed() {
			b, _ := os.ReadFile(p.state().DaemonLog())
			f.t.Logf("the daemon of %s:\n%s", name, b)
		}
		_, _, _ = p.run("stop", "-f")
	})
	return p
}

// askingFiles are the files of a project in which each command of an agent is asked about, in a chat if there is one.
func askingFiles(more string) map[string]string {
	return map[string]string{
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest]}\npolicy: {fallback: {agent: ask}}\n" + more,
		"skills/own/SKILL.yaml": "name: own\ndescription: The agent's own tools.\nallowedRoles: [guest]\n" +
			"allowedTools: [agent__Bash, agent__AskUserQuestion]\n",
	}
}

// asks has the hook of an agent in a project ask about a command. The channel gets the answer of the hook.
func (p *project) asks(session, command string) <-chan string {
	cmd := p.command("hook", "claude", "--event", "PreToolUse")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"PreToolUse","permission_mode":"default",`+
		`"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":%q}`, session, p.dir, command, "toolu_"+session))
	answered := make(chan string, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			out = fmt.Appendf(out, "\n%v", err)
		}
		answered <- string(out)
	}()
	return answered
}

// tap presses a button below a message and returns what the bot says to that.
func (f *phone) tap(m telegramtest.Message, button string) telegramtest.Tapped {
	f.t.Helper()
	id, err := f.api.Tap(tgUser, m.ID, button)
	if err != nil {
		f.t.Fatal(err)
	}
	said, err := f.api.WaitTap(f.ctx, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return said
}

// decided returns who answered a call of a command, and why it ran or did not, by the log of a project.
func (p *project) decided(command string) (by []string) {
	calls := map[string]bool{}
	for _, r := range p.logged() {
		if r.Kind != audit.Decided {
			continue
		}
		calls[r.ID] = calls[r.ID] || strings.Contains(string(r.Args), command)
		if calls[r.ID] && r.DecidedBy != "policy" {
			by = append(by, r.DecidedBy+": "+r.Reason)
		}
	}
	return by
}

// attached waits until a bot asks for this project, whose files name none.
func (p *project) attached() {
	p.t.Helper()
	p.eventually("a bot asks for the project", func() bool { return strings.Contains(p.must("status"), "so the chat is asked") })
}

// startedFromPhone is a person's phone, and a project without a bot of its own in which /new has started an agent.
func startedFromPhone(t *testing.T) (f *phone, shop *project) {
	t.Helper()
	f = newPhone(t, "spawn: {searchPaths: [DIR/../more], command: [sh, DIR/agent.sh]}\n", nil)
	f.write("agent.sh", fmt.Sprintf(`%q -C "$PWD" serve --background --addr 127.0.0.1:0 > serve.log 2>&1
echo '{"session_id":"s","cwd":"'$PWD'","hook_event_name":"SessionStart","source":"startup"}' |
	%q hook claude --state %q --event SessionStart
exec cat
`, f.myc, f.myc, string(f.state().Root)))
	shop = f.beside("shop", askingFiles("approval: {idle: 0}\n"))
	f.serve()
	f.answer("/new shop", "Started as shop")
	return f, shop
}

// TestTelegramServesWhatNewStarted: what an agent asks in a project that the phone has started comes to that phone with the name of the
// project, and the answer is that project's.
func TestTelegramServesWhatNewStarted(t *testing.T) {
	t.Parallel()
	f, shop := startedFromPhone(t)
	shop.attached()
	first := shop.asks("s", "dd if=one of=x")
	m := f.message("dd if=one")
	if !strings.HasPrefix(m.Text, "📂 shop\n") {
		t.Errorf("the message does not begin with the project:\n%s", m.Text)
	}
	f.tap(m, "✅ Approve")
	if out := <-first; !strings.Contains(out, `"allow"`) {
		t.Errorf("the hook said %s", out)
	}
	f.message("✅ Approved by user4200")
	second := shop.asks("s", "dd if=two of=x")
	f.reply(f.message("dd if=two"), "no", "Denied")
	if out := <-second; !strings.Contains(out, `"deny"`) {
		t.Errorf("the hook said %s", out)
	}
	for _, command := range []string{"dd if=one", "dd if=two"} {
		if by := shop.decided(command); len(by) != 1 || !strings.HasPrefix(by[0], "person: ") || !strings.Contains(by[0], "pproved by user4200") {
			t.Errorf("%s was decided by %q", command, by)
		}
		if by := f.decided(command); len(by) != 0 {
			t.Errorf("the log of the bot's project has %s: %q", command, by)
		}
	}
	end := shop.command("hook", "claude", "--event", "SessionEnd")
	end.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"SessionEnd","reason":"other"}`, shop.dir))
	if out, err := end.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f.message("📂 shop\n✅ Completed: shop") // the notice of the other project's daemon
	f.answer("/status", "📂 shop")
	f.answer("/mode local", "Mode: local")
	if got := strings.TrimSpace(shop.must("approvals", "mode")); !strings.Contains(got, "local") {
		t.Errorf("the mode of shop is %s", got)
	}
}

// TestTelegramServesAfterDeaths: the daemon of the bot and that of the other project are killed while requests wait. What was asked is
// answered once, by the person, at the daemon that has it.
func TestTelegramServesAfterDeaths(t *testing.T) {
	t.Parallel()
	f, shop := startedFromPhone(t)
	shop.attached()
	first := shop.asks("s", "dd if=one of=x")
	m := f.message("dd if=one")
	f.kill(f.status().Daemon.PID, syscall.SIGKILL)
	f.serve()
	shop.attached()
	f.tap(m, "✅ Approve")
	if out := <-first; !strings.Contains(out, `"allow"`) {
		t.Errorf("after the death of the bot's daemon the hook said %s", out)
	}
	f.message("✅ Approved by user4200")

	second := shop.asks("s", "dd if=two of=x")
	m = f.message("dd if=two")
	shop.kill(shop.status().Daemon.PID, syscall.SIGKILL)
	f.eventually("the phone says that nobody can be asked", func() bool {
		said := f.tap(m, "✅ Approve")
		return said.Alert && strings.Contains(said.Text, "shop")
	})
	if out := <-second; strings.Contains(out, `"allow"`) {
		t.Errorf("after the death of its daemon the hook said %s", out)
	}
	shop.serve()
	shop.attached()
	third := shop.asks("s", "dd if=three of=x")
	f.tap(f.message("dd if=three"), "✅ Approve")
	if out := <-third; !strings.Contains(out, `"allow"`) {
		t.Errorf("after the next start the hook said %s", out)
	}
	if by := shop.decided("dd if=three"); len(by) != 1 || !strings.Contains(by[0], "approved by user4200 (telegram 4200) via telegram") {
		t.Errorf("decided by %q", by)
	}
}

// TestTelegramOneBotForTwo: of two projects whose files name one bot, the daemon that runs it asks for both. When it is killed, the other
// one takes the bot over, and buttons of before go on working. A project that names the bot with a PIN of its own is not asked for.
func TestTelegramOneBotForTwo(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "policy: {fallback: {agent: ask}}\n", map[string]string{
		"skills/own/SKILL.yaml": "name: own\ndescription: The agent's own tools.\nallowedRoles: [guest]\nallowedTools: [agent__Bash]\n",
	})
	same := ""
	for line := range strings.Lines(f.read("mycelium.yaml")) {
		if strings.HasPrefix(line, "approval:") {
			same = strings.Replace(line, "approval: {", "approval: {idle: 0, ", 1)
		}
	}
	web := f.beside("web", askingFiles(same))
	strict := f.beside("strict", askingFiles(strings.Replace(same, "telegram: {", "telegram: {pin: '12345', ", 1)))
	for _, p := range []*project{f.project, web, strict} {
		p.serve()
	}
	first := web.asks("s", "dd if=one of=x")
	m := f.message("dd if=one")
	if !strings.HasPrefix(m.Text, "📂 web\n") {
		t.Errorf("the message does not begin with the project:\n%s", m.Text)
	}
	own := f.asks("t", "dd if=own of=x")
	mine := f.message("dd if=own")
	if !strings.HasPrefix(mine.Text, "📂 project\n") {
		t.Errorf("the message does not begin with the project:\n%s", mine.Text)
	}
	f.eventually("the log says why a project is not asked for", func() bool {
		b, _ := os.ReadFile(f.state().DaemonLog())
		return strings.Contains(string(b), "names it with another chat, other people or another PIN") && strings.Contains(string(b), strict.dir)
	})
	f.kill(f.status().Daemon.PID, syscall.SIGKILL)
	f.tap(m, "✅ Approve") // the daemon of web answers
	if out := <-first; !strings.Contains(out, `"allow"`) {
		t.Errorf("after the bot has moved the hook said %s", out)
	}
	if by := web.decided("dd if=one"); len(by) != 1 || !strings.HasPrefix(by[0], "person: ") || !strings.Contains(by[0], "pproved by user4200") {
		t.Errorf("decided by %q", by)
	}
	if out := <-own; strings.Contains(out, `"allow"`) {
		t.Errorf("the hook of the killed daemon said %s", out)
	}
	f.eventually("the phone says that nobody can be asked", func() bool {
		said := f.tap(mine, "✅ Approve")
		return said.Alert && strings.Contains(said.Text, "no daemon runs for project")
	})
	f.serve()
	second := f.asks("t", "dd if=two of=x")
	f.tap(f.message("dd if=two"), "✅ Approve")
	if out := <-second; !strings.Contains(out, `"allow"`) {
		t.Errorf("served by the other daemon, the hook said %s", out)
	}
	if by := f.decided("dd if=two"); len(by) != 1 || !strings.HasPrefix(by[0], "person: ") || !strings.Contains(by[0], "pproved by user4200") {
		t.Errorf("decided by %q", by)
	}
}
