package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/approval/telegram/telegramtest"
	"mycelium/internal/tmux"
)

const tgUser = 4200

// phone is a project whose daemon asks on Telegram: a Bot API of our own, and a tmux server of our own.
type phone struct {
	*project
	api  *telegramtest.Bot
	tmux tmux.Server
}

// newPhone starts the daemon of such a project. more goes into mycelium.yaml.
func newPhone(t *testing.T, more string, files map[string]string) *phone {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		needed(t, err, "tmux")
	}
	api, err := telegramtest.New(tgUser)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	all := world(files)
	all["mycelium.yaml"] += fmt.Sprintf("approval: {telegram: {token: '${TG_TOKEN}', users: [%d], server: '%s'}}\n%s", tgUser, api.URL, more)
	p := newProject(t, all)
	socketDir := filepath.Join(p.home, "t")
	if err := os.Mkdir(socketDir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "TG_TOKEN="+api.Token, "TMUX_TMPDIR="+socketDir)
	f := &phone{project: p, api: api, tmux: tmux.Server{Config: "/dev/null", Env: p.env}}
	t.Cleanup(func() { f.tmux.Kill(p.ctx) })
	return f
}

// message waits for a message of the bot with a text.
func (f *phone) message(text string) telegramtest.Message {
	f.t.Helper()
	m, err := f.api.WaitMessage(f.ctx, 0, "a message with "+text, func(m telegramtest.Message) bool { return strings.Contains(m.Text, text) })
	if err != nil {
		f.t.Fatalf("%v\n%+v", err, f.api.Messages())
	}
	return m
}

// answer waits for what the bot says to a text of the person. Notices may come between.
func (f *phone) answer(text string, want ...string) telegramtest.Message {
	f.t.Helper()
	id := f.api.Say(tgUser, tgUser, text, 0)
	m, err := f.api.WaitMessage(f.ctx, id, "an answer to "+text, func(m telegramtest.Message) bool {
		return slices.ContainsFunc(want, func(w string) bool { return strings.Contains(m.Text, w) })
	})
	if err != nil {
		f.t.Fatalf("%s was not answered %q: %v\n%+v", text, want, err, f.api.Messages())
	}
	return m
}

// hook sends one event of Claude Code's as its hook does, from a pane if one is given.
func (f *phone) hook(event string, pane tmux.Pane, fields string) *exec.Cmd {
	cmd := f.command("hook", "claude", "--event", event)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"11111111-2222-3333-4444-555555555555","transcript_path":"/nonexistent",`+
		`"cwd":%q,"hook_event_name":%q%s}`, f.dir, event, fields))
	cmd.Env = append(cmd.Env, "TMUX="+pane.Socket+",1,0", "TMUX_PANE="+pane.ID)
	return cmd
}

// promptingClaude is a command that is called claude, shows a prompt as Claude Code does, and keeps what is typed in a file.
func promptingClaude(file string) []string {
	const script = `rule=────────────────────
while clear; printf '%s\n❯ \n%s\n  ? for shortcuts' $rule $rule; printf '\033[2;3H'; IFS= read -r line; do printf '%s\n' "$line" >> "$1"; done`
	return []string{"bash", "-c", `: > "$2"; exec -a claude bash -c "$1" claude "$2"`, "bash", script, file}
}

// agentPane is a window in which something runs that is called claude and keeps what is typed.
func (f *phone) agentPane(name string) tmux.Pane {
	f.t.Helper()
	if _, err := f.tmux.Open(f.ctx, tmux.Window{Session: "work", Name: name, Dir: f.dir,
		Command: promptingClaude("typed")}); err != nil {
		f.t.Fatal(err)
	}
	var pane tmux.Pane
	f.eventually("the agent runs in its pane", func() bool {
		panes, err := f.tmux.Panes(f.ctx)
		for _, p := range panes {
			if p.Name == name && p.Command == "claude" {
				pane = p
			}
		}
		return err == nil && pane.ID != ""
	})
	return pane
}

// TestTelegramEndToEnd: an agent's own tool waits, the phone shows it, its window rings, a tap lets it run, and everything shows what was
// decided. Texts go to the agent's window, and to nothing else.
func TestTelegramEndToEnd(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "policy: {fallback: {agent: ask}}\n", map[string]string{
		"skills/own/SKILL.yaml": "name: own\ndescription: The agent's own tools.\nallowedRoles: [guest]\nallowedTools: [agent__Bash]\n",
	})
	f.serve()
	pane := f.agentPane("api")
	if out, err := f.hook("SessionStart", pane, `,"source":"startup"`).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct{ button, verdict, outcome string }{
		{"✅ Approve", `"permissionDecision":"allow"`, "✅ Approved by user4200"},
		{"❌ Deny", `"permissionDecision":"deny"`, "❌ Denied by user4200"},
	} {
		command := "dd if=" + c.button[len("✅ "):] + " of=x"
		cmd := f.hook("PreToolUse", pane,
			fmt.Sprintf(`,"permission_mode":"default","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"toolu_%d"`, command,
				len(c.button)))
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		m := f.message(command)
		f.eventually("the window rings", func() bool { panes, _ := f.tmux.Panes(f.ctx); return len(panes) == 1 && panes[0].Marked })
		if _, err := f.api.Tap(tgUser, m.ID, c.button); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the hook: %v\n%s", err, &out)
		}
		if got := strings.ReplaceAll(out.String(), " ", ""); !strings.Contains(got, c.verdict) {
			t.Errorf("the hook said %s, want %s", out.String(), c.verdict)
		}
		f.message(c.outcome)
		f.eventually("the window is quiet again", func() bool {
			panes, _ := f.tmux.Panes(f.ctx)
			return len(panes) == 1 && !panes[0].Marked && panes[0].Name == "api"
		})
	}
	f.answer("/status", "api (claude")
	f.answer("/send api 続けて。 It's $HOME; `ok`;", "Sent to api")
	f.eventually("the text is there", func() bool { return f.read("typed") == "続けて。 It's $HOME; `ok`;\n" })
	f.answer("/send api !rm -rf .", "Not sent")
	f.answer("/send nowhere x", "no such session")
	f.answer("/mode local", "Mode: local")
	f.answer("/mode auto", "Mode: auto")
	f.answer("/abort api", "Ended")
	if out, _ := f.hook("PreToolUse", pane, `,"permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls"},`+
		`"tool_use_id":"toolu_9"`).Output(); !strings.Contains(string(out), "deny") {
		t.Errorf("after /abort: %s", out)
	}
	// The agent ends, and a shell takes its place: nothing is typed there.
	if err := errors.Join(f.tmux.Paste(f.ctx, pane.ID, "last"), f.tmux.Keys(f.ctx, pane.ID, "Enter")); err != nil {
		t.Fatal(err)
	}
	f.eventually("the text is there", func() bool { return strings.HasSuffix(f.read("typed"), "last\n") })
	if out, err := exec.Command("tmux", "-S", pane.Socket, "respawn-pane", "-k", "-t", pane.ID, "sh").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	f.eventually("a shell runs", func() bool { panes, _ := f.tmux.Panes(f.ctx); return len(panes) == 1 && panes[0].Command == "sh" })
	f.answer("/send api touch pwned", "Not sent to api: its window no longer runs an agent")
	if f.read("pwned") != "" || strings.Contains(f.logs()+f.must("config", "show"), f.api.Token) {
		t.Error("something was typed into a shell, or the token shows")
	}
}

// TestTelegramSpawns: a new session starts below the search paths only, in a window of its own, and a choice is offered where a name is
// not one folder.
func TestTelegramSpawns(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "spawn: {searchPaths: [DIR/src, DIR/more], command: [sh, DIR/agent.sh]}\n",
		map[string]string{
			"src/api/x": "", "more/api/x": "", "src/website/x": "", "src/dead/die": "", "outside/x": "",
		})
	agent := fmt.Sprintf(`test ! -e die || exit 3
printf %%s "$1" > started
echo '{"session_id":"s'$$'","cwd":"'$PWD'","hook_event_name":"SessionStart","source":"startup"}' |
	%q hook claude --state %q --event SessionStart
exec cat
`, f.myc, string(f.state().Root))
	if err := os.WriteFile(filepath.Join(f.dir, "agent.sh"), []byte(agent), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(f.dir, "outside"), filepath.Join(f.dir, "src", "link")); err != nil {
		t.Fatal(err)
	}
	f.serve()
	f.answer("/new website make it nice", "Started as website")
	f.eventually("the agent has its prompt", func() bool { return f.read("src/website/started") == "make it nice" })
	for _, bad := range []string{"../outside", "/tmp", "~/x", "$HOME", "link", "nothing", ".", "api/.."} {
		f.answer("/new "+bad, "Nothing was started")
	}
	f.answer("/new dead", "No agent has started: its program ended at once")
	m := f.answer("/new api", "Which folder?")
	if len(m.Buttons) != 2 {
		t.Fatalf("%+v", m)
	}
	if _, err := f.api.Tap(tgUser, m.ID, m.Buttons[1][0].Text); err != nil {
		t.Fatal(err)
	}
	f.message("Started as api")
	f.eventually("it started where the button said", func() bool {
		_, err := os.Stat(filepath.Join(f.dir, "src", "api", "started"))
		return err == nil
	})
	panes, err := f.tmux.Panes(f.ctx)
	if err != nil || len(panes) != 2 || panes[0].Session != "mycelium" {
		t.Errorf("%+v, %v", panes, err)
	}
}

// TestTelegramSaysWhyNothingStarts: a program that is not there, and a folder whose agent nobody would govern.
func TestTelegramSaysWhyNothingStarts(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "spawn: {searchPaths: [DIR/src, DIR/../plain], command: [no-such-agent]}\n", map[string]string{"src/api/x": ""})
	if err := os.MkdirAll(filepath.Join(f.dir, "..", "plain", "web"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.serve()
	f.answer("/new api", "No agent has started: no-such-agent is not on the PATH")
	f.answer("/new web", "plain/web is not a Mycelium project")
}

// TestTelegramOnePoller: of two daemons with one bot the second says so, and the first is not disturbed.
func TestTelegramOnePoller(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "", nil)
	f.serve()
	f.answer("/help", "/status")
	other := filepath.Join(f.home, "other")
	for _, name := range []string{"mycelium.yaml", "skills/looking/SKILL.yaml"} {
		at := filepath.Join(other, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(f.read(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(f.ctx, f.myc, append([]string{"-C", other}, args...)...)
		cmd.Env, cmd.Dir = f.env, other
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	in("trust", "--yes")
	in("serve", "--background", "--addr", "127.0.0.1:0")
	defer in("stop")
	f.eventually("the second says so", func() bool {
		b, _ := os.ReadFile(f.state().Of(other).DaemonLog())
		return strings.Contains(string(b), "serves another project of yours") && !strings.Contains(string(b), f.api.Token)
	})
	f.answer("/help", "/status")
}
