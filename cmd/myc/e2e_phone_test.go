package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/tmux"
)

// event sends one event of a session of Claude Code in a folder, as its hook does, and returns what the hook printed.
func (f *phone) event(session, dir, event string, pane tmux.Pane, fields string, environ ...string) string {
	f.t.Helper()
	cmd := f.command("hook", "claude", "--event", event)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":%q%s}`, session,
		filepath.Join(f.dir, session+".jsonl"), dir, event, fields))
	cmd.Env, cmd.Dir = append(cmd.Env, environ...), dir
	if pane.ID != "" {
		cmd.Env = append(cmd.Env, "TMUX="+pane.Socket+",1,0", "TMUX_PANE="+pane.ID)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s of %s: %v\n%s", event, session, err, out)
	}
	return string(out)
}

// window opens a window in which something runs that is called claude and keeps what is typed in a file of the project.
func (f *phone) window(name, typed string) tmux.Pane {
	f.t.Helper()
	opened, err := f.tmux.Open(f.ctx, tmux.Window{Session: "work", Name: name, Dir: f.dir,
		Command: promptingClaude(typed)})
	if err != nil {
		f.t.Fatal(err)
	}
	var pane tmux.Pane
	f.eventually("the agent runs in its pane", func() bool {
		panes, err := f.tmux.Panes(f.ctx)
		for _, p := range panes {
			if p.ID == opened.ID && p.Command == "claude" {
				pane = p
			}
		}
		return err == nil && pane.ID != ""
	})
	return pane
}

// TestTelegramNames: agents with one window name, or in one folder, have names of their own, which chat, status and sessions show and
// /send takes. A restart of the daemon changes none and forgets nobody who is at work.
func TestTelegramNames(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "", nil)
	f.serve()
	first, second := f.window("shop", "one"), f.window("shop", "two")
	unheard := f.window("shop", "three")
	none := tmux.Pane{}
	f.event("aaaa", f.dir, "SessionStart", first, `,"source":"startup"`)
	f.event("bbbb", f.dir, "SessionStart", second, `,"source":"startup"`)
	f.event("cccc", f.dir, "SessionStart", none, `,"source":"startup"`)
	f.event("dddd", f.dir, "SessionStart", none, `,"source":"startup"`)
	f.event("bbbb", f.dir, "UserPromptSubmit", second, `,"prompt":"make it nice"`)
	check := func() {
		t.Helper()
		m := f.answer("/status", "shop-2 (claude")
		for _, want := range []string{" shop (claude", " shop-3 (claude)", "Task: make it nice"} {
			if !strings.Contains(m.Text, want) {
				t.Errorf("no %q in:\n%s", want, m.Text)
			}
		}
		var status struct {
			Agents []struct {
				Name string `json:"name"`
				ID   string `json:"id"`
			} `json:"agents"`
		}
		if err := json.Unmarshal([]byte(f.must("status", "--json")), &status); err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for _, a := range status.Agents {
			names[a.ID] = a.Name
		}
		if names["aaaa"] != "shop" || names["bbbb"] != "shop-2" || names["pane:"+unheard.ID] != "shop-3" {
			t.Errorf("myc status: %v", names)
		}
		if out := f.must("status"); !strings.Contains(out, "shop-2") || !strings.Contains(out, "make it nice") {
			t.Errorf("%s", out)
		}
	}
	check()
	if m := f.answer("/status", "project-2 (claude"); !strings.Contains(m.Text, " project (claude") {
		t.Errorf("%s", m.Text)
	}
	if out := f.must("session", "list"); !strings.Contains(out, " shop-2 ") || !strings.Contains(out, " project-2 ") {
		t.Errorf("%s", out)
	}
	f.event("bbbb", f.dir, "PreToolUse", second, `,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"b1"`)
	if out := f.must("audit", "tail"); !strings.Contains(out, "claude shop-2 ") {
		t.Errorf("the log does not name the agent:\n%s", out)
	}
	f.answer("/send shop-2 to the second", "Sent to shop-2")
	f.eventually("it is there", func() bool { return f.read("two") == "to the second\n" })
	f.must("stop")
	f.serve()
	check()
	f.answer("/send shop-3 to the third", "Sent to shop-3")
	f.eventually("it is there", func() bool { return f.read("three") == "to the third\n" })
	f.event("dddd", filepath.Join(f.dir, "skills"), "UserPromptSubmit", none, `,"prompt":"x"`)
	f.answer("/status", "project-2 (claude")
	f.answer("/abort shop-2", "Ended: shop-2")
	out := f.event("bbbb", f.dir, "PreToolUse", second, `,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"b2"`)
	if !strings.Contains(out, "This session is over") {
		t.Errorf("it was ended before it told the new daemon of itself: %s", out)
	}
	if f.read("one") != "" {
		t.Error("the first agent got a text of another")
	}
}

// TestTelegramResumes: after a restart of the daemon /resume lists the sessions that ended with their first prompt, and takes one up in the
// folder in which it began.
func TestTelegramResumes(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "spawn: {searchPaths: [DIR/src], command: [sh, DIR/agent.sh]}\n",
		map[string]string{"src/api/deep/x": "", "aaaa.jsonl": ""})
	f.write("agent.sh", fmt.Sprintf(`printf '%%s ' "$PWD" "$@" > %q/started
echo '{"session_id":"aaaa","cwd":"'$PWD'","hook_event_name":"SessionStart","source":"resume"}' |
	%q hook claude --state %q --event SessionStart
exec cat
`, f.dir, f.myc, string(f.state().Root)))
	f.serve()
	api, none := filepath.Join(f.dir, "src", "api"), tmux.Pane{}
	for _, session := range []string{"aaaa", "bbbb"} { // the second has no transcript, so it cannot be resumed
		f.event(session, api, "SessionStart", none, `,"source":"startup"`)
		f.event(session, api, "UserPromptSubmit", none, `,"prompt":"make the `+session+`\n nice"`)
		f.event(session, filepath.Join(api, "deep"), "Stop", none, `,"last_assistant_message":"It is nice."`)
		f.event(session, api, "SessionEnd", none, `,"reason":"other"`)
	}
	f.must("stop")
	f.serve()
	m := f.answer("/resume", "1. api, ")
	if !strings.Contains(m.Text, ": make the aaaa nice") || strings.Contains(m.Text, "bbbb") {
		t.Errorf("%s", m.Text)
	}
	if m := f.answer("/status", "✅ completed api"); !strings.Contains(m.Text, "Task: make the aaaa nice") {
		t.Errorf("%s", m.Text)
	}
	f.answer("/resume 1", "Started as api in "+api)
	if got := f.read("started"); got != api+" --resume aaaa " {
		t.Errorf("started: %q", got)
	}
	f.answer("/resume api", "No past session is known")
}

// TestTelegramAutoMode: in the mode auto with a chat, the agent's own terminal asks while somebody types at this machine, and the chat when
// nobody has for approval.idle.
func TestTelegramAutoMode(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "policy: {fallback: {agent: ask}}\n", map[string]string{
		"skills/own/SKILL.yaml": "name: own\ndescription: The agent's own tools.\nallowedRoles: [guest]\nallowedTools: [agent__Bash]\n",
	})
	// A tmux server that the daemon does not know stands for a person's terminal.
	person := tmux.Server{Socket: filepath.Join(f.home, "person"), Config: "/dev/null", Env: f.env}
	t.Cleanup(func() { person.Kill(f.ctx) })
	if _, err := person.Open(f.ctx, tmux.Window{Session: "p", Name: "p", Dir: f.dir, Command: []string{"cat"}}); err != nil {
		t.Fatal(err)
	}
	pane := f.window("api", "typed")
	files := f.read("mycelium.yaml")
	mode := func(idle, want string) {
		t.Helper()
		f.write("mycelium.yaml", strings.Replace(files, "approval: {", "approval: {idle: "+idle+", ", 1))
		f.must("trust", "--yes")
		f.eventually("it is in force: "+want, func() bool { return strings.Contains(f.must("status"), want) })
		f.answer("/mode", want)
	}
	call := func(id string) string {
		return f.event("aaaa", f.dir, "PreToolUse", pane,
			`,"tool_name":"Bash","tool_input":{"command":"dd if=`+id+` of=x"},"tool_use_id":"`+id+`"`, "CLAUDE_CODE_ENTRYPOINT=cli")
	}
	f.serve()
	mode("24h", "somebody typed at this machine")
	if out := call("there"); !strings.Contains(out, `"ask"`) {
		t.Errorf("somebody is at the machine: %s", out)
	}
	for idle, want := range map[string]string{"1ms": "nobody has typed at this machine", "0": "approval.idle is 0"} {
		mode(idle, want)
		answered := make(chan string)
		go func() { answered <- call("away" + idle) }()
		if _, err := f.api.Tap(tgUser, f.message("dd if=away"+idle).ID, "❌ Deny"); err != nil {
			t.Fatal(err)
		}
		if out := <-answered; !strings.Contains(out, `"deny"`) {
			t.Errorf("idle %s: %s", idle, out)
		}
	}
}

// TestTelegramNewElsewhere: an agent in another project has started when its hook has told the project of it. One that asks its person
// something first has not, and the chat says where it asks.
func TestTelegramNewElsewhere(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "spawn: {searchPaths: [DIR/../more], command: [sh, DIR/agent.sh]}\n", nil)
	more := filepath.Join(f.dir, "..", "more")
	f.write("agent.sh", fmt.Sprintf(`if test -e asks; then echo 'Quick safety check: ...'; echo '❯ 1. Yes, I trust this folder'; exec cat; fi
echo '{"session_id":"s","cwd":"'$PWD'","hook_event_name":"SessionStart","source":"startup"}' |
	%q hook claude --state %q --event SessionStart
exec cat
`, f.myc, string(f.state().Root)))
	for _, name := range []string{"tells", "asks"} {
		dir := filepath.Join(more, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"mycelium.yaml": "session: {defaultRole: guest}\n", name: "",
			"roles/guest.yaml": "id: guest\ntoolIds: [files__read_file]\n"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(f.ctx, f.myc, "-C", dir, "trust", "--yes")
		cmd.Env, cmd.Dir = f.env, dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	f.serve()
	f.answer("/new tells", "Started as tells")
	m := f.answer("/new asks", "No agent has started: it waits at a question in its window: tmux attach -t mycelium:@")
	if !strings.Contains(m.Text, "Quick safety check") {
		t.Errorf("%s", m.Text)
	}
}

// TestTelegramGeneralises: the phone shows what an approval as a program would have allowed of the recorded calls, and writes the rule.
func TestTelegramGeneralises(t *testing.T) {
	t.Parallel()
	f := newPhone(t, "policy: {fallback: {agent: ask}}\n", map[string]string{
		"skills/own/SKILL.yaml": "name: own\ndescription: The agent's own tools.\nallowedRoles: [guest]\nallowedTools: [agent__Bash]\n",
	})
	f.serve()
	push := func(branch string) <-chan string {
		answered := make(chan string, 1)
		go func() {
			answered <- f.event("aaaa", f.dir, "PreToolUse", tmux.Pane{},
				`,"tool_name":"Bash","tool_input":{"command":"git push origin `+branch+`"},"tool_use_id":"`+branch+`"`)
		}()
		return answered
	}
	tap := func(text, button string) {
		t.Helper()
		if _, err := f.api.Tap(tgUser, f.message(text).ID, button); err != nil {
			t.Fatal(err)
		}
	}
	first := push("one")
	tap("git push origin one", "❌ Deny")
	if out := <-first; !strings.Contains(out, `"deny"`) {
		t.Errorf("%s", out)
	}
	second := push("two")
	tap("git push origin two", "↔️ More than this call…")
	tap("git push origin …, in "+f.dir+" – of the last 2 recorded calls it matches 2; asked about or refused then: 2", "1. program, as a rule")
	if out := <-second; !strings.Contains(out, `"allow"`) {
		t.Errorf("%s", out)
	}
	f.message("✅ Approved (program) as a rule by user4200")
	if out := <-push("three"); !strings.Contains(out, `"allow"`) || !strings.Contains(f.read("rules.yaml"), "git push origin") {
		t.Errorf("%s\n%s", out, f.read("rules.yaml"))
	}
}
