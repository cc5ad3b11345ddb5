package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mycelium/internal/model/fake"
	"mycelium/internal/text"
	"mycelium/internal/tmux"
)

// chatWorld is a project in which a skill becomes active when the person says so, and in which writing asks.
func chatWorld() map[string]string {
	return map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [developer, guest], defaultSkills: [common], promotion: confirm}\n",
		"rules.yaml": "version: 1\nrules:\n  - {name: ask-write, action: ask, tool: files__write_file, reason: Writing asks.}\n" +
			"  - {name: no-secrets, action: deny, tool: files__read_file, match: {path: [{glob: '**/secret*'}]}, reason: Secrets stay.}\n",
		"skills/common/SKILL.yaml": "name: common\ndescription: Reads files.\nallowedRoles: [developer, guest]\n" +
			"allowedTools: [files__read_file, files__list_directory]\n",
		"skills/code-modifier/SKILL.yaml": "name: code-modifier\ndescription: Writes and edits code.\nallowedRoles: [developer]\n" +
			"allowedTools: [files__write_file, files__read_file]\ntriggers: [編集して]\ncommands:\n" +
			"  - {name: peek, description: Read a file., handlerType: tool, toolName: files__read_file,\n" +
			"     arguments: [{name: path, required: true}]}\n",
		"skills/test-runner/SKILL.yaml": "name: test-runner\ndescription: Runs tests.\nallowedRoles: [developer]\n" +
			"allowedTools: [files__list_directory]\ntriggers: [テストして]\n",
		"notes.md": "The shop sells mushrooms. きのこ。\n", "secret.md": "s\n", "docs/案内.md": "x\n",
	}
}

// inChat opens a terminal on which `myc` alone runs, and talks to a fake.
func inChat(t *testing.T, s *fake.Server, more map[string]string) *agentTerminal {
	t.Helper()
	program, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	files := chatWorld()
	for name, said := range more {
		files[name] = said
	}
	p := newProject(t, files)
	p.env = append(p.env, "ANTHROPIC_API_KEY="+fake.Key, "ANTHROPIC_BASE_URL="+s.URL(), "LC_ALL=C.UTF-8", "TERM=tmux-256color")
	p.serve()
	server := tmux.Server{Socket: filepath.Join(p.home, "t"), Config: "/dev/null", Env: p.env}
	t.Cleanup(func() {
		_ = exec.CommandContext(context.Background(), program, "-S", server.Socket, "kill-server").Run()
	})
	return &agentTerminal{project: p, door: agentDoor{name: "the chat"}, program: program, server: server}
}

// chat starts the chat in a window of a size.
func (a *agentTerminal) chat(width, height string, args ...string) {
	a.t.Helper()
	a.open(a.dir, append([]string{a.myc}, args...)...)
	a.tmux("resize-window", "-x", width, "-y", height)
	columns, err := strconv.Atoi(width)
	if err != nil {
		a.t.Fatal(err)
	}
	a.shows(strings.Repeat("─", columns)) // it may have drawn itself for the window before
}

// TestChat is the session example of requirement B2 at a real terminal, with Japanese, a call that waits, and each command.
func TestChat(t *testing.T) {
	t.Parallel()
	s := fake.New(
		fake.Step{ToolUses: []fake.ToolUse{{Name: "files__read_file", Input: map[string]any{"path": "notes.md"}},
			{Name: "files__write_file", Input: map[string]any{"path": "out.md", "content": "きのこ\n"}}}},
		fake.Step{Text: "# 終わりました\n\n**CLAUDE.md** を編集しました。\n\n| ファイル | 行 |\n|---|--:|\n| out.md | 1 |\n"},
		fake.Step{Text: "テスト結果は良好です。"}, fake.Step{Text: "First."}, fake.Step{Text: "Second."})
	defer s.Close()
	a := inChat(t, s, nil)
	a.chat("80", "24")
	a.shows("● [common] ", "developer", "Only the tools of the active skills", "❯")
	a.types("CLAUDE.mdを編集して")
	a.shows("⚠ This asks for the skill code-modifier", "y yes  a always in this session  n no  N never in this session")
	a.answer("⚠", "y", "✓ [code-modifier, common] (+code-modifier)")
	a.shows("○ files__write_file out.md", "asked because: Writing asks. (ask-write)", "a allow  s session  r rule  w wider  d deny")
	a.tmux("send-keys", "-l", "@docs/") // begins a message, and answers nothing
	a.shows("❯ @docs/", "asked because: Writing asks. (ask-write)")
	a.answer("Writing asks.", "s", "終わりました", "CLAUDE.md を編集しました。", "out.md     1",
		"✓ files__write_file out.md", "● [code-modifier, common] ")
	a.key("C-o")
	a.shows(`│   "content": "きのこ\n"`)
	a.key("Escape")
	a.shows("/help · @file") // the next bytes would make another key of it
	a.types("テストして")
	a.shows("⚠ This asks for the skill test-runner")
	a.answer("⚠", "y", "● [code-modifier, common, test-runner]", "テスト結果は良好です。")
	if got := string(readAll(t, filepath.Join(a.dir, "out.md"))); got != "きのこ\n" {
		t.Errorf("out.md: %q", got)
	}
	a.commands()
	a.completes()
	a.types("/exit ")
	a.eventually("the chat is over", func() bool {
		_, err := a.server.Screen(a.ctx, a.pane.ID)
		return err != nil
	})
	a.chat("200", "50", "--continue")
	screen := a.shows("❯ one?", "終わりました", "✗ files__write_file out.md  Unknown tool: files__write_file")
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	if len(lines) != 50 || text.Width(strings.TrimRight(lines[1], "\n")) != 200 {
		t.Errorf("%d lines, the second has %d cells", len(lines), text.Width(lines[1]))
	}
	a.key("C-c")
	a.shows("Ctrl-C again ends the chat")
	a.key("C-c")
	a.eventually("the chat is over", func() bool {
		_, err := a.server.Screen(a.ctx, a.pane.ID)
		return err != nil
	})
}

// TestModesInChat: a workflow and adhoc without a task are chats in their roles. The context of a failure is kept, and a call that writes
// waits for the person.
func TestModesInChat(t *testing.T) {
	t.Parallel()
	s := fake.New(checks("bad"), fake.Step{Text: "it failed"})
	defer s.Close()
	a := inChat(t, s, modesWorld())
	a.chat("200", "40", "workflow")
	a.shows("orchestrator · ", "❯")
	a.types("check the links")
	a.shows("it failed", "what is known of it is in")
	if kept := a.kept(); len(kept) != 1 {
		t.Errorf("kept: %q", kept)
	}
	a.types("/exit ")
	a.eventually("the chat is over", func() bool {
		_, err := a.server.Screen(a.ctx, a.pane.ID)
		return err != nil
	})
	s.Play(writes("fix.txt"), fake.Step{Text: "fixed"})
	a.chat("200", "40", "adhoc")
	a.shows("adhoc · ", "❯")
	a.types("write it")
	a.shows("○ files__write_file fix.txt", "asked because")
	a.answer("asked because", "a", "✓ files__write_file fix.txt", "fixed")
	if a.read("fix.txt") != "x" {
		t.Error("the file was not written")
	}
}

// answer writes a letter and presses Enter until the question is gone, and sees what that brings: Enter before the question could be
// seen is no answer.
func (a *agentTerminal) answer(question, key string, texts ...string) {
	a.t.Helper()
	a.eventually("the answer "+key+" is taken", func() bool {
		screen, err := a.server.Screen(a.ctx, a.pane.ID)
		if err != nil || !strings.Contains(screen, question) {
			return true
		}
		if strings.Contains(screen, "Enter answers with "+key) {
			a.key("Enter")
		} else {
			a.key("C-u")
			a.key(key)
		}
		return false
	})
	a.key("C-u") // a key that came too late
	a.shows(texts...)
}

// commands types each command, and sees what it shows.
func (a *agentTerminal) commands() {
	a.t.Helper()
	for _, c := range [][]string{
		{"/status ", "3 of 3 active", "promotion      confirm", "api claude-"},
		{"/skills ", "● test-runner"}, {"/remove test-runner", "(−test-runner)"},
		{"/all ", "○ test-runner", "● common"}, {"/add test-runner", "(+test-runner)"}, {"/tools ", "files__write_file", "visible to the agent"},
		{"/usage ", "of 200000", "USD"}, {"/context ", "may take       developer, guest"}, {"/approved ", "files__write_file"},
		{"/denied ", "No call of this session was denied."}, {"/reset ", "are forgotten"}, {"/save きのこの話", "is called きのこの話"},
		{"/sessions ", "MESSAGES", "きのこの話"}, {"/export ", "Written: c-"}, {"/peek notes.md", "The shop sells mushrooms. きのこ。"},
		{"/peek secret.md", "✗ /peek: Denied by policy: Secrets stay."}, {"/hepl ", "did you mean /help?"}, {"/help ", "Ctrl-C twice, Ctrl-D"},
		{"/model opus", "The next turn is for opus.", "claude-opus", "● [code-modifier, common, test-runner]"},
		{"/compress ", "a summary of what was said"}, {"/fork ", "a copy of c-"},
	} {
		a.types(c[0])
		a.shows(c[1:]...)
	}
	a.types("/roles ")
	a.shows("▸ developer", "guest", "↑↓ choose")
	a.key("Down")
	a.key("Enter")
	a.shows("● [common] ", "guest · ")
	a.types("/role developer")
	a.shows("✓ role developer  [code-modifier, common, test-runner]", "developer · ")
	a.types("/resume ")
	a.shows("Conversations", "▸ ", "↑↓ choose")
	a.key("Escape")
	a.shows("/help · @file")
	a.types("/clear ")
	a.shows("Only the tools of the active skills")
	a.types("one?")
	a.shows("✗ files__write_file out.md  Unknown tool: files__write_file", "終わりました") // it is not in [common]
	a.key("Up")
	a.shows("❯ one?\n─")
	a.key("C-u")
}

// completes presses Tab after the beginning of a file: the one that may not be read is not offered.
func (a *agentTerminal) completes() {
	a.t.Helper()
	a.tmux("send-keys", "-l", "@")
	if screen := a.shows("  docs/", "  notes.md", "  skills/"); strings.Contains(screen, "secret.md") {
		a.t.Errorf("a file that may not be read is offered:\n%s", screen)
	}
	a.tmux("send-keys", "-l", "do")
	a.shows("▸ docs/")
	a.key("Tab")
	a.shows("▸ docs/案内.md")
	a.key("C-u")
}
