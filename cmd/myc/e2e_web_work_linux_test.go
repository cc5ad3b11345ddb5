package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mycelium/internal/audit"
)

// recorded are the records about calls of a session.
func (p *project) recorded(session string) (out []audit.Record) {
	for _, r := range p.logged() {
		if r.Session == session && r.Tool != "" {
			out = append(out, r)
		}
	}
	return out
}

// tells sends an event of Claude Code through the real hook, and returns the answer.
func (p *project) tells(kind, event string) string {
	p.t.Helper()
	cmd := p.command("hook", "claude", "--event", kind)
	cmd.Stdin = strings.NewReader(event)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", kind, err, out)
	}
	return string(out)
}

// writeTo writes a file anywhere.
func (p *project) writeTo(path, text string) {
	p.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// holds fails for each text that a page does not have.
func (b *signIn) holds(page string, want ...string) {
	b.t.Helper()
	for _, text := range want {
		if !strings.Contains(page, text) {
			b.t.Errorf("the page does not say %q:\n%s", text, page)
		}
	}
}

// TestWebWork: what a session does is on the pages at once: at work, in its timeline, and in the log, which is searched and exported as by
// myc audit.
func TestWebWork(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	p.serve()
	b := p.visitor()
	events := b.events()
	b.until(events, "call", "*") // the log is watched
	s := p.mint("--role", "guest", "--name", "the <i>visitor</i>")
	call := func(args ...string) { <-p.start(s.Token, append([]string{"call"}, args...)...).ended }
	call("files__list_directory", "--args", `{"path":"."}`)
	b.until(events, "call", s.ID)
	for _, r := range p.recorded(s.ID)[:1] {
		t.Logf("the event was there %v after the call began", time.Since(r.Time))
	}
	call("files__write_file", "--args", `{"path":"a.txt","content":"no"}`)
	b.until(events, "work", "")

	home := b.get("/", http.StatusOK)
	b.holds(home, "the &lt;i&gt;visitor&lt;/i&gt;", "role guest", "works", "Refused within the last hour", "files__write_file")
	at := regexp.MustCompile(`href="(/sessions/[^"]+)"`).FindStringSubmatch(home)
	if at == nil {
		t.Fatalf("no session is named:\n%s", home)
	}
	page := b.get(at[1], http.StatusOK)
	b.holds(page, "files__list_directory", "&#34;path&#34;: &#34;.&#34;", "allow, by policy", "deny, by ",
		"session minted (operator)", "works")
	if strings.Index(page, "session minted") < strings.Index(page, "files__list_directory") {
		t.Error("the newest is not first")
	}
	newer := strings.ReplaceAll(regexp.MustCompile(`newest"><a href="([^"]+)"`).FindStringSubmatch(page)[1], "&amp;", "&")
	if rest := b.get(newer, http.StatusOK); strings.Contains(rest, `class="group"`) {
		t.Errorf("what came since is what was there:\n%s", rest)
	}
	call("files__read_file", "--args", `{"path":"mycelium.yaml"}`)
	if rest := b.get(newer, http.StatusOK); strings.Count(rest, `class="entry`) != 1 || !strings.Contains(rest, "files__read_file") {
		t.Errorf("what came since:\n%s", rest)
	}
	b.get(at[1]+"x", http.StatusNotFound)
	b.searched(p, s.ID)
}

// searched tests the log with a session that has made three calls, of which one was refused.
func (b *signIn) searched(p *project, session string) {
	b.t.Helper()
	for query, want := range map[string]int{"": 3, "&outcome=denied": 1, "&effect=allow": 2, "&tool=files__read*": 1, "&since=1h": 3,
		"&until=1h": 0, "&arg=path%3D.": 1, "&program=git": 0, "&path=mycelium.yaml": 1, "&by=policy&role=guest": 3} {
		page := b.get("/log?session="+session+query, http.StatusOK)
		if got := strings.Count(page, `class="entry`); got != want {
			b.t.Errorf("%q shows %d calls, want %d", query, got, want)
		}
	}
	b.holds(b.get("/log?since=yesterday", http.StatusBadRequest), "is neither an age such as 24h")
	key := filepath.Base(p.state().Folder())
	for _, format := range []string{"jsonl", "json", "csv"} {
		got, want := b.get("/log/export?project="+key+"&format="+format, http.StatusOK), p.must("audit", "export", "--format", format)
		if got != want {
			b.t.Errorf("the export as %s is another one than that of myc audit export:\n%s\n%s", format, got, want)
		}
	}
	if got := b.get("/log/export?project="+key+"&outcome=denied", http.StatusOK); strings.Count(got, "\n") != 1 {
		b.t.Errorf("the export of what was refused:\n%s", got)
	}
	b.get("/log/export?project="+key+"&format=xml", http.StatusBadRequest)
	b.get("/log/export?project=another", http.StatusNotFound)
}

// TestWebTimeline: the page of an agent's session has its prompts, what it said and thought, and its calls with their results and those of
// a subagent; what waits for a person is told as it is.
func TestWebTimeline(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [guest, developer]}\napproval: {mode: remote, deadline: 60s}\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: ask-commands, action: ask, tool: Bash, reason: People decide about commands.}\n" +
			"  - {name: reads, action: allow, tool: Read}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\n" +
			"allowedTools: [agent__Bash, agent__Read]\n",
	}))
	p.serve()
	b := p.visitor()
	file := filepath.Join(p.home, "talk.jsonl")
	line := func(at, rest string) string {
		return `{"sessionId":"s1","cwd":"` + p.dir + `","timestamp":"` + at + `",` + rest + "}\n"
	}
	now := func() string { return time.Now().UTC().Format(time.RFC3339Nano) }
	said := line(now(), `"type":"user","message":{"role":"user","content":"Make the <b>thing</b>"}`) +
		line(now(), `"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[`+
			`{"type":"thinking","thinking":"Hm, make."},{"type":"text","text":"I read it first."},`+
			`{"type":"tool_use","id":"t1","name":"Read","input":{}}]}`)
	p.writeTo(file, said)
	event := func(kind, rest string) string {
		in := fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s1","cwd":%q,"transcript_path":%q%s}`, kind, p.dir, file, rest)
		return p.tells(kind, in)
	}
	event("SessionStart", `,"source":"startup"`)
	event("UserPromptSubmit", `,"prompt":"Make the <b>thing</b>"`)
	read := func(toolUse, file string) string {
		return fmt.Sprintf(`,"tool_name":"Read","tool_use_id":%q,"tool_input":{"file_path":%q}`, toolUse, filepath.Join(p.dir, file))
	}
	event("PreToolUse", read("t1", "mycelium.yaml"))
	event("PostToolUse", read("t1", "mycelium.yaml")+`,"tool_response":{}`)
	p.writeTo(file, said+line(now(), `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",`+
		`"content":"version: 1 <u>"}]}`))
	event("PreToolUse", `,"agent_id":"helper1","agent_type":"Explore"`+read("t2", "rules.yaml"))
	home := b.get("/", http.StatusOK)
	b.holds(home, "Make the &lt;b&gt;thing&lt;/b&gt;", "works")
	at := regexp.MustCompile(`href="(/sessions/[^"]+)"`).FindStringSubmatch(home)[1]
	page := b.get(at, http.StatusOK)
	b.holds(page, "<b>Prompt</b>", "Make the &lt;b&gt;thing&lt;/b&gt;", "<b>Agent</b>", "I read it first.", "Hm, make.", "agent__Read",
		"version: 1 &lt;u&gt;", `lane-1`, "helper1", "rules.yaml")

	events := b.events()
	waits := p.hookAsks("t3", "make")
	r := p.waiting(1, 1)[0]
	b.until(events, "inbox", r.ID)
	b.holds(b.get("/", http.StatusOK), "waits for a person")
	p.must("approvals", "deny", r.ID)
	<-waits.ended
	event("Stop", `,"stop_hook_active":false`)
	b.holds(b.get(at, http.StatusOK), "is idle")
	event("SessionEnd", `,"reason":"exit"`)
	b.holds(b.get("/", http.StatusOK), "1 that ended lately", "has ended")
	p.must("stop")
	b.holds(b.get(at, http.StatusOK), "I read it first.", "has ended") // what is recorded needs no daemon
}
