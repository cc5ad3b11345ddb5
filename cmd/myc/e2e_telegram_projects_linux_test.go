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
	"mycelium/internal/model/fake"
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

// event sends an event of an agent that works in the project.
func (p *project) event(session, event, fields string) {
	p.t.Helper()
	p.tells(event, fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q%s}`, session, p.dir, event, fields))
}

// bot is the section of the phone's mycelium.yaml that names its bot, with more keys.
func (f *phone) bot(more string) string {
	for line := range strings.Lines(f.read("mycelium.yaml")) {
		if rest, ok := strings.CutPrefix(line, "approval: {"); ok {
			return "approval: {" + more + rest
		}
	}
	return ""
}

// asked has an agent of a project ask about a command, and returns the message to the phone, which names the project.
func (f *phone) asked(p *project, session, command string) (m telegramtest.Message, answered <-chan string) {
	f.t.Helper()
	answered = p.asks(session, command)
	m = f.message(command)
	if name := filepath.Base(p.dir); !strings.HasPrefix(m.Text, "📂 "+name+"\n") {
		f.t.Errorf("the message does not begin with the project %s:\n%s", name, m.Text)
	}
	return m, answered
}

// approves has the person approve with a button, and demands that the hook lets the call run.
func (f *phone) approves(m telegramtest.Message, answered <-chan string) {
	f.t.Helper()
	f.tap(m, "✅ Approve")
	if out := <-answered; !strings.Contains(out, `"allow"`) {
		f.t.Errorf("the hook said %s", out)
	}
}

// byPhone demands that the log of the project says once that the person on the phone decided about a command.
func (p *project) byPhone(command string) {
	p.t.Helper()
	by := p.decided(command)
	if len(by) != 1 || !strings.HasPrefix(by[0], "person: ") || !strings.Contains(by[0], "pproved by user4200") {
		p.t.Errorf("%s was decided by %q", command, by)
	}
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
	f.approves(f.asked(shop, "s", "dd if=one of=x"))
	f.message("✅ Approved by user4200")
	m, second := f.asked(shop, "s", "dd if=two of=x")
	f.reply(m, "no", "Denied")
	if out := <-second; !strings.Contains(out, `"deny"`) {
		t.Errorf("the hook said %s", out)
	}
	for _, command := range []string{"dd if=one", "dd if=two"} {
		shop.byPhone(command)
		if by := f.decided(command); len(by) != 0 {
			t.Errorf("the log of the bot's project has %s: %q", command, by)
		}
	}
	shop.event("s", "SessionEnd", `,"reason":"other"`)
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
	m, first := f.asked(shop, "s", "dd if=one of=x")
	f.kill(f.status().Daemon.PID, syscall.SIGKILL)
	f.serve()
	shop.attached()
	f.approves(m, first)
	f.message("✅ Approved by user4200")

	m, second := f.asked(shop, "s", "dd if=two of=x")
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
	f.approves(f.asked(shop, "s", "dd if=three of=x"))
	shop.byPhone("dd if=three")
}

// TestTelegramOneBotForTwo: of two projects whose files name one bot, the daemon that runs it asks for both. When it is killed, the other
// one takes the bot over, and buttons of before go on working. A project that names the bot with a PIN of its own is not asked for.
func TestTelegramOneBotForTwo(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "policy: {fallback: {agent: ask}}\n", map[string]string{
		"skills/own/SKILL.yaml": "name: own\ndescription: The agent's own tools.\nallowedRoles: [guest]\nallowedTools: [agent__Bash]\n",
	})
	same := f.bot("idle: 0, ")
	web := f.beside("web", askingFiles(same))
	strict := f.beside("strict", askingFiles(strings.Replace(same, "telegram: {", "telegram: {pin: '12345', ", 1)))
	for _, p := range []*project{f.project, web, strict} {
		p.serve()
	}
	m, critical := f.asked(web, "s", "git push --force origin work")
	f.tap(m, "✅ Approve")
	again := f.message("This call is critical")
	if by := web.decided("git push"); len(by) != 0 {
		t.Errorf("one tap approved a critical call: %q", by)
	}
	f.tap(again, "Yes, I have read it: allow it")
	if out := <-critical; !strings.Contains(out, `"allow"`) {
		t.Errorf("after the second tap the hook said %s", out)
	}
	m, first := f.asked(web, "s", "dd if=one of=x")
	mine, own := f.asked(f.project, "t", "dd if=own of=x")
	f.eventually("the log says why a project is not asked for", func() bool {
		b, _ := os.ReadFile(f.state().DaemonLog())
		return strings.Contains(string(b), "names it with another chat, other people or another PIN") && strings.Contains(string(b), strict.dir)
	})
	f.kill(f.status().Daemon.PID, syscall.SIGKILL)
	f.approves(m, first) // the daemon of web has the bot
	web.byPhone("dd if=one")
	if out := <-own; strings.Contains(out, `"allow"`) {
		t.Errorf("the hook of the killed daemon said %s", out)
	}
	f.eventually("the phone says that nobody can be asked", func() bool {
		said := f.tap(mine, "✅ Approve")
		return said.Alert && strings.Contains(said.Text, "no daemon runs for project")
	})
	f.serve()
	f.approves(f.asked(f.project, "t", "dd if=two of=x"))
	f.byPhone("dd if=two")
}

// TestTelegramDrivesAnotherProject: the phone does in a project whose daemon does not run its bot all that it does in that of the bot. The
// real Claude Code works there: its own dialog is answered, texts reach it and are kept, its questions are answered, a critical call takes
// the PIN, a wider approval holds, it is ended, and its session is taken up.
func TestTelegramDrivesAnotherProject(t *testing.T) {
	needTerminals(t)
	if !withoutNetwork(t) {
		return
	}
	f := newPhone(t, "spawn: {searchPaths: [DIR/../more], command: [sh, DIR/agent.sh]}\n", nil)
	f.write("agent.sh", fmt.Sprintf(`printf '%%s ' "$@" > resumed
echo '{"session_id":"'$2'","cwd":"'$PWD'","hook_event_name":"SessionStart","source":"resume"}' |
	%q hook claude --state %q --event SessionStart
exec cat
`, f.myc, string(f.state().Root)))
	f.write("mycelium.yaml", strings.Replace(f.read("mycelium.yaml"), "telegram: {", "telegram: {pin: '12345', ", 1))
	f.must("trust", "--yes")
	files := askingFiles(f.bot("mode: local, "))
	files["mycelium.yaml"] = strings.Replace(files["mycelium.yaml"], "[guest]", "[guest, developer]", 1)
	files["skills/own/SKILL.yaml"] = strings.Replace(files["skills/own/SKILL.yaml"], "[guest]", "[guest, developer]", 1)
	shop := f.beside("shop", files)
	var told string
	question := fake.Step{ToolUses: []fake.ToolUse{{Name: "AskUserQuestion", Input: map[string]any{"questions": []any{map[string]any{
		"question": "Which colour?", "header": "Colour", "multiSelect": false,
		"options": []any{map[string]any{"label": "Red", "description": "r"}, map[string]any{"label": "Blue", "description": "b"}},
	}}}}}}
	s := fake.New(bashStep("touch no.txt"), bashStep("touch yes.txt"), fake.Step{Text: "it is made"}, question,
		fake.Step{Func: func(r fake.Request) fake.Step {
			told = results(r)
			return bashStep("git push --force origin work")
		}},
		bashStep("dd if=wide of=x"), bashStep("dd if=wide of=y"), fake.Step{Text: "all is done"}, bashStep("touch ended.txt"),
		fake.Step{Text: "as you wish"}, fake.Step{Text: "as you wish"})
	defer s.Close()
	f.serve()
	shop.serve()
	a := shop.atTerminal(agentDoors[1], shop.dir, s)
	a.start("--permission-mode", "default")
	a.shows("❯")
	a.types("go")

	a.shows("Do you want to proceed?", "touch no.txt")
	f.answer("/send agent make the other one", "Kept for agent · 📂 shop")
	f.answersDialog(f.message("touch no.txt"), "no", "Answered at its terminal") // the kept text is typed now, at an empty prompt
	f.message("typed, what was kept for it: make the other one")
	a.shows("Do you want to proceed?", "touch yes.txt")
	f.answersDialog(f.message("touch yes.txt"), "yes", "Answered at its terminal: 1. Yes")
	a.shows("it is made")
	f.eventually("its turn is over", func() bool { // else the end of the turn is asked about, too
		screen, err := a.server.Screen(a.ctx, a.pane.ID)
		return err == nil && !strings.Contains(screen, "esc to interrupt")
	})
	a.emptiesPrompt()
	if exists(shop, "no.txt") || !exists(shop, "yes.txt") {
		t.Error("the replies were not what the dialogs were answered")
	}

	f.answer("/mode remote", "📂 shop: remote")
	f.answer("/send agent and now the rest", "Sent to agent · 📂 shop", busyAgent)
	f.tap(f.message("Which colour?"), "Red")
	m := f.message("git push --force")
	if !strings.Contains(told, "Red") {
		t.Errorf("the model was told %q", told)
	}
	f.tap(m, "✅ Approve")
	f.reply(f.message("Reply with the PIN"), "12345", "Approved")
	f.tap(f.message("dd if=wide of=x"), "↔️ More than this call…")
	f.tap(f.message("Approve more than this call?"), "1. program, for this session")
	a.shows("all is done")
	f.tap(f.message("ants to stop"), "⏹ Let stop")
	for _, command := range []string{"touch no.txt", "touch yes.txt", "git push", "dd if=wide of=x"} {
		shop.byPhone(command)
	}
	if by := shop.decided("dd if=wide of=y"); len(by) != 1 || !strings.Contains(by[0], "for session, as program") {
		t.Errorf("after the approval of the program, it was decided by %q", by)
	}
	f.answer("/cost", "📂 shop\nAgents: ")

	f.answer("/abort agent", "Ended: agent · 📂 shop")
	a.types("more")
	a.shows("a person ended this session")
	if exists(shop, "ended.txt") {
		t.Error("a call ran after the session was ended")
	}

	shop.write("before.jsonl", "")
	transcript := fmt.Sprintf(`,"transcript_path":%q`, filepath.Join(shop.dir, "before.jsonl"))
	shop.event("before", "SessionStart", transcript+`,"source":"startup"`)
	shop.event("before", "UserPromptSubmit", transcript+`,"prompt":"make it nice"`)
	shop.event("before", "SessionEnd", transcript+`,"reason":"other"`)
	if m := f.answer("/resume", "shop · 📂 shop"); !strings.Contains(m.Text, "make it nice") {
		t.Errorf("it is listed as %q", m.Text)
	}
	f.answer("/resume shop go on", "Started as shop")
	if got := shop.read("resumed"); got != "--resume before go on " {
		t.Errorf("it was resumed by %q", got)
	}
	f.tmux.Kill(f.ctx) // before what is left of the agents is looked for
}
