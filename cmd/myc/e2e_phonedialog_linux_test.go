package main

import (
	"slices"
	"strings"
	"testing"

	"mycelium/internal/approval/telegram/telegramtest"
	"mycelium/internal/model/fake"
)

// reply is what the bot says to a reply of the person to one of its messages.
func (f *phone) reply(to telegramtest.Message, text string, want ...string) telegramtest.Message {
	f.t.Helper()
	id := f.api.Say(tgUser, tgUser, text, to.ID)
	m, err := f.api.WaitMessage(f.ctx, id, "an answer to "+text, func(m telegramtest.Message) bool {
		return slices.ContainsFunc(want, func(w string) bool { return strings.Contains(m.Text, w) })
	})
	if err != nil {
		f.t.Fatalf("the reply %q was not answered %q: %v\n%+v", text, want, err, f.api.Messages())
	}
	return m
}

// answersDialog replies to the notice of a dialog until the bot says want, as a person does: an agent on a busy machine ignores a key of
// a fresh dialog, and the bot says that the question still stands. If the key took effect later than that, the bot finds no question.
func (f *phone) answersDialog(notice telegramtest.Message, text, want string) {
	f.t.Helper()
	for again := false; ; again = true {
		said := f.reply(notice, text, "nswered", "nothing was typed").Text
		switch {
		case strings.Contains(said, want), again && strings.Contains(said, "nothing was typed"):
			return
		case !strings.Contains(said, "the question still stands on its screen"):
			f.t.Fatalf("the reply %q was answered %q, not %q", text, said, want)
		}
	}
}

// busyAgent is how the bot answers where an agent on a busy machine does not show a text in time. The text is typed later.
const busyAgent = "I type it when that is over"

// emptiesPrompt waits for an empty prompt. The key of an option that an agent has taken late stands there, and is removed.
func (a *agentTerminal) emptiesPrompt() {
	a.t.Helper()
	a.eventually("there is an empty prompt", func() bool {
		screen, _ := a.server.Screen(a.ctx, a.pane.ID)
		at := strings.LastIndex(screen, "\n❯")
		if at < 0 || strings.Contains(screen, "Do you want to proceed?") {
			return false
		}
		line, _, _ := strings.Cut(screen[at+len("\n❯"):], "\n")
		typed := strings.TrimSpace(strings.ReplaceAll(line, "\u00a0", " "))
		if typed == "1" || typed == "2" || typed == "3" {
			a.key("BSpace")
		}
		return typed == ""
	})
}

// TestPhoneAndDialog: while the real Claude Code of both versions shows its own dialog, a reply to the bot's notice answers it, and no
// text is typed into it. What is sent meanwhile is kept and typed afterwards.
func TestPhoneAndDialog(t *testing.T) {
	needTerminals(t)
	if !withoutNetwork(t) {
		return
	}
	for _, door := range doors(agentDoors) {
		if !door.http {
			t.Run(door.name, func(t *testing.T) {
				t.Parallel()
				answersTheDialog(t, door)
			})
		}
	}
}

func answersTheDialog(t *testing.T, door agentDoor) {
	f := newPhone(t, "", map[string]string{
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: careful, action: ask, tool: Bash, args: {command: [{glob: 'touch *'}]}, reason: files are asked for}\n" +
			"  - {name: free, action: allow, tool: Bash, args: {command: [{literal: 'true'}]}}\n",
	})
	f.write("mycelium.yaml", strings.Replace(f.read("mycelium.yaml"), "approval: {", "approval: {mode: local, ", 1))
	f.must("trust", "--yes")
	var told []string
	hears := func(command string) fake.Step {
		return fake.Step{Func: func(r fake.Request) fake.Step {
			told = append(told, r.Text("user"))
			return bashStep(command)
		}}
	}
	s := fake.New(bashStep("touch no.txt"), hears("touch yes.txt"), hears("touch words.txt"), hears("touch later.txt"),
		hears("touch last.txt"), hears("true"), hears("true"), fake.Step{Text: "as you wish"}, fake.Step{Text: "as you wish"})
	defer s.Close()
	f.serve()
	a := f.atTerminal(door, f.dir, s)
	a.start("--permission-mode", "default")
	a.shows("❯")
	a.types("go")

	a.shows("Do you want to proceed?", "touch no.txt", "No")
	notice := f.message("touch no.txt")
	f.answersDialog(notice, "no", "Answered at its terminal")
	a.emptiesPrompt()
	if exists(f.project, "no.txt") {
		t.Fatal("the reply no let the command run")
	}
	f.reply(notice, "yes", "nothing was typed")

	f.answer("/send agent and now the next", "Sent to agent", busyAgent)
	a.shows("Do you want to proceed?", "touch yes.txt")
	notice = f.message("touch yes.txt")
	f.answersDialog(notice, "yes", "Answered at its terminal: 1. Yes")
	f.eventually("yes lets it run", func() bool { return exists(f.project, "yes.txt") })

	a.shows("Do you want to proceed?", "touch words.txt")
	f.reply(f.message("touch words.txt"), "write 2 lines into better.md, 1 is not enough", "and it was told")
	a.shows("Do you want to proceed?", "touch later.txt")
	if got := strings.Join(told, "\n"); exists(f.project, "words.txt") || !strings.Contains(got, "write 2 lines into better.md") {
		t.Errorf("the words answered otherwise: the model was told %q", got)
	}

	f.answer("/send agent 1 more thing, please", "Kept for agent")
	f.answer("/send agent yes", "Kept for agent")
	a.tmux("send-keys", "Tab") // the option yes takes words now: a dialog all the same
	f.answer("/send agent 2", "Kept for agent")
	a.tmux("send-keys", "Tab")
	a.shows("Do you want to proceed?", "touch later.txt")
	if exists(f.project, "later.txt") {
		t.Error("a text that was sent answered the dialog")
	}
	f.must("stop")
	f.serve() // what is kept survives a restart
	f.reply(f.message("touch later.txt"), "no", "nothing was typed")
	a.chooses("1", func() bool { return exists(f.project, "later.txt") })
	a.shows("Do you want to proceed?", "touch last.txt")
	a.chooses("1", func() bool { return exists(f.project, "last.txt") })
	f.message("1 more thing, please")
	a.shows("❯ 1 more thing, please", "❯ yes", "❯ 2") // as prompts, in their order
	log := f.must("audit", "query", "--tool", "agent__Bash", "--json")
	for _, want := range []string{"by user4200 (telegram 4200) via telegram"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
}
