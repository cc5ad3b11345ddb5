package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/node/api"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/web/site"
)

// key is how addresses name the project.
func (p *project) key() string { return site.Key(p.state()) }

// lists begins a call that the policy asks about, and waits until so many requests wait.
func (p *project) lists(path string, waiting int) (*background, approval.Request) {
	p.t.Helper()
	b := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"`+path+`"}`)
	all := p.waiting(waiting, 1)
	i := slices.IndexFunc(all, func(r approval.Request) bool { return strings.Contains(string(r.Args), `"`+path+`"`) })
	if i < 0 {
		p.t.Fatalf("nothing waits for %s: %+v", path, all)
	}
	return b, all[i]
}

// contains tests that a page says each of these.
func contains(t *testing.T, page string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("it does not say %q:\n%s", w, page)
		}
	}
}

// acted tests that the log has an act of a person in a browser.
func (p *project) acted(act, item string) {
	p.t.Helper()
	for _, r := range p.records() {
		if r.Kind == audit.Operator && strings.Contains(string(r.Args), `"act":"`+act+`"`) && strings.Contains(r.Tool, item) {
			if r.Surface == "browser" && regexp.MustCompile(`"by":"[^"]+","device":"d-[a-z2-7]{8}"`).Match(r.Args) {
				return
			}
		}
	}
	p.t.Errorf("%s %s is not recorded with who did it, and where", act, item)
}

// TestWebInboxRule: the page of a call says where its rule stands, what it can be approved as and what that would have allowed, and
// what was answered to the like of it; an approval there is written as a rule, and holds.
func TestWebInboxRule(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(map[string]string{"docs/a/x.md": "x", "docs/b/y.md": "y", "docs/q/z.md": "z",
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest]}\npolicy: {fallback: {mcp: ask}}\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: ask-q, action: ask, tool: files__list_directory, match: {path: [{glob: \"./docs/q/**\"}]}}\n"}))
	p.serve()
	b := p.browser()
	// Of a call about which a rule asks: where that stands, what was answered before, and that no rule that allows overrules it.
	for i := range 2 {
		call, r := p.lists("docs/q", 1)
		at := "/inbox/" + p.key() + "/" + r.ID
		if i == 1 {
			contains(t, b.get("/inbox", http.StatusOK), `href="`+at+`"`, "rules.yaml:3", "this very call", "allowed by ")
			page := b.get(at, http.StatusOK)
			contains(t, page, "rules.yaml:3", "an allow rule does not overrule one that asks")
			if strings.Contains(page, "Allow as a rule") {
				t.Error("a rule is offered that would be refused")
			}
		}
		b.post(at, url.Values{"digest": {r.Digest}, "answer": {"once"}}, http.StatusSeeOther)
		if err := <-call.ended; err != nil {
			t.Error(err, call.err.String())
		}
	}
	call, r := p.lists("docs/a", 1)
	at := "/inbox/" + p.key() + "/" + r.ID
	contains(t, b.get(at, http.StatusOK), `value="folder"`, "below "+p.dir+"/docs", "of the last 3 recorded calls it matches 3",
		"Allow as a rule")
	b.post(at, url.Values{"digest": {r.Digest}, "answer": {"rule"}, "as": {"host"}}, http.StatusBadRequest)
	b.post(at, url.Values{"digest": {"another"}, "answer": {"rule"}, "as": {"folder"}}, http.StatusConflict)
	if strings.Contains(p.read("rules.yaml"), "approved-") {
		t.Error("a rule was written for an answer that was refused")
	}
	b.post(at, url.Values{"digest": {r.Digest}, "answer": {"rule"}, "as": {"folder"}}, http.StatusSeeOther)
	if t.Failed() {
		t.FailNow() // the call may wait for ever
	}
	if err := <-call.ended; err != nil {
		t.Error(err, call.err.String())
	}
	contains(t, p.read("rules.yaml"), "approved-"+r.ID, "/docs/**")
	contains(t, p.must("call", "files__list_directory", "--args", `{"path":"docs/b"}`), "y.md")
	contains(t, p.must("approvals", "show", r.ID), "(browser, d-")
	contains(t, b.get(at, http.StatusOK), "as rule approved-"+r.ID)
	contains(t, p.must("audit", "query", "--by", "person", "--json"), `"decidedBy": "person"`)
}

// TestWebInboxTwoPeople: of two people who answer at once one wins, and the other is told who; a page that shows the call learns who
// answered it, with its place for what was typed.
func TestWebInboxTwoPeople(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	two := p.browsersOf(2)
	call, r := p.lists(".", 1)
	at := p.key() + "/" + r.ID
	for _, b := range two {
		contains(t, b.get("/inbox", http.StatusOK), `class="shown" name="shown" value="`+at+`"`)
		contains(t, b.get("/inbox/count", http.StatusOK), "<b>1</b>")
	}
	codes, said := make([]int, 2), make([]string, 2)
	var both sync.WaitGroup
	for i, answer := range []string{"once", "deny"} {
		both.Go(func() {
			res, err := two[i].c.PostForm(two[i].base+"/inbox/"+at, url.Values{"digest": {r.Digest}, "answer": {answer}})
			if err != nil {
				t.Error(err)
				return
			}
			codes[i] = res.StatusCode
			said[i] = two[i].read(res, nil, res.StatusCode)
		})
	}
	both.Wait()
	won := slices.Index(codes, http.StatusSeeOther)
	if won < 0 || codes[1-won] != http.StatusConflict {
		t.Fatalf("the answers: %v", codes)
	}
	state := []string{"allowed", "denied"}[won]
	contains(t, said[1-won], "was "+state+" by ", "browser, d-")
	if err := <-call.ended; (err == nil) != (won == 0) {
		t.Errorf("%s: the caller: %v %s", state, err, call.err.String())
	}
	// The page of who lost still shows the card, says who answered, and keeps the field of what was typed.
	lost := two[1-won].get("/inbox?shown="+url.QueryEscape(at), http.StatusOK)
	contains(t, lost, `class="card settled"`, "<b>"+state+" by ", `id="reason-`+p.key()+"-"+r.ID+`"`, "Nothing waits")
	if own := two[won].get("/inbox?shown="+url.QueryEscape(at), http.StatusOK); strings.Contains(own, "settled") {
		t.Errorf("who answered is told of it as of another's answer:\n%s", own)
	}
	if n := two[0].get("/inbox/count", http.StatusOK); n != "" {
		t.Errorf("the count is %q", n)
	}
}

// TestWebInboxSeveral: calls are answered together only if rule and effects are equal, whatever the form says, and each only as it was
// shown.
func TestWebInboxSeveral(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(map[string]string{
		"docs/x.md": "x",
		"rules.yaml": "version: 1\nrules:\n  - {name: ask-lists, action: ask, tool: files__list_directory}\n" +
			"  - {name: ask-reads, action: ask, tool: files__read_file}\n"}))
	p.serve()
	b := p.browser()
	first, one := p.lists(".", 1)
	second, two := p.lists("docs", 2)
	third := p.start("", "call", "--ask", "wait", "files__read_file", "--args", `{"path":"notes.md"}`)
	var other approval.Request
	for _, r := range p.waiting(3, 1) {
		if r.Tool == "files__read_file" {
			other = r
		}
	}
	name := func(r approval.Request, digest string) string { return p.key() + "/" + r.ID + "/" + digest }
	contains(t, b.get("/inbox", http.StatusOK), "2 calls, asked about by the same rule, with the same effects", name(one, one.Digest))
	contains(t, b.post("/inbox/several", url.Values{"answer": {"once"}, "call": {name(one, one.Digest), name(other, other.Digest)}},
		http.StatusBadRequest), "not equal in rule and effects")
	b.post("/inbox/several", url.Values{"answer": {"once"}}, http.StatusBadRequest)
	b.post("/inbox/several", url.Values{"answer": {"once"}, "call": {p.key() + "/" + one.ID + "/"}}, http.StatusBadRequest)
	if len(p.waiting(3, 1)) != 3 {
		t.Error("a form that was refused has answered something")
	}
	contains(t, b.post("/inbox/several", url.Values{"answer": {"once"}, "call": {name(one, one.Digest), name(two, "another")}},
		http.StatusConflict), "1 of 2 were answered")
	if err := <-first.ended; err != nil {
		t.Error(err, first.err.String())
	}
	b.post("/inbox/several", url.Values{"answer": {"deny"}, "reason": {"too many"}, "call": {name(two, two.Digest)}}, http.StatusSeeOther)
	if err := <-second.ended; err == nil || !strings.Contains(second.err.String(), "too many") {
		t.Error(err, second.err.String())
	}
	contains(t, p.must("approvals", "show", two.ID), "denied by ", "(browser, d-")
	p.must("approvals", "deny", other.ID)
	<-third.ended
}

// TestWebInboxFiles: files of the policy that changed wait in the inbox with what they mean, are in force when a person accepts exactly
// them, and the log says who did and in which browser.
func TestWebInboxFiles(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	p.serve()
	b := p.browser()
	events := b.events()
	b.until(events, "inbox", p.key()) // what waits was looked at for the first time
	p.write("rules.yaml", "version: 1\nrules:\n  - {name: no-lists, action: deny, tool: files__list_directory}\n")
	digest := p.digestOf(b, "files")
	b.until(events, "inbox", p.key())
	contains(t, b.get("/inbox", http.StatusOK), "1 file of the policy waits", "rules.yaml", "no-lists", "narrows: ", "low risk")
	contains(t, b.post("/inbox/"+p.key()+"/files", url.Values{"digest": {"another"}, "answer": {"accept"}}, http.StatusConflict),
		"not those that were shown")
	p.must("call", "files__list_directory", "--args", `{"path":"."}`)
	b.post("/inbox/"+p.key()+"/files", url.Values{"digest": {digest}, "answer": {"accept"}}, http.StatusSeeOther)
	if _, stderr, err := p.run("call", "files__list_directory", "--args", `{"path":"."}`); err == nil {
		t.Errorf("what was accepted is not in force: %s", stderr)
	}
	p.acted("trust", "")
	contains(t, p.must("trust"), "nothing waits")
	b.post("/inbox/"+p.key()+"/files", url.Values{"digest": {digest}, "answer": {"accept"}}, http.StatusConflict)

	// What gives agents more is not put in force with the button alone.
	p.write("rules.yaml", "version: 1\nrules: []\n")
	digest = p.digestOf(b, "files")
	contains(t, b.get("/inbox", http.StatusOK), "widens: ", "high risk", "These files may let agents do more than before")
	contains(t, b.post("/inbox/"+p.key()+"/files", url.Values{"digest": {digest}, "answer": {"accept"}}, http.StatusBadRequest),
		"These files may let agents do more than before")
	if _, stderr, err := p.run("call", "files__list_directory", "--args", `{"path":"."}`); err == nil {
		t.Errorf("without the second sign the files are in force: %s", stderr)
	}
	b.post("/inbox/"+p.key()+"/files", url.Values{"digest": {digest}, "answer": {"accept"}, "sure": {"yes"}}, http.StatusSeeOther)
	p.must("call", "files__list_directory", "--args", `{"path":"."}`)
	p.must("audit", "verify")
}

// digestOf waits until the inbox has a form of a kind, and returns the digest in it.
func (p *project) digestOf(b *signIn, kind string) (digest string) {
	p.t.Helper()
	form := regexp.MustCompile(`(?s)action="/inbox/[^"]+/` + kind + `".*?name="digest" value="([^"]+)"`)
	p.eventually("a form of the kind "+kind, func() bool {
		m := form.FindStringSubmatch(b.get("/inbox", http.StatusOK))
		if m == nil {
			return false
		}
		digest = m[1]
		return true
	})
	return digest
}

// TestWebInboxDefinitions: a definition that its server changed, and a skill that a server serves, wait in the inbox; each is accepted as
// it was shown.
func TestWebInboxDefinitions(t *testing.T) {
	t.Parallel()
	text := "---\nname: refunds\ndescription: Handles refunds.\nallowed-tools: refund mcp__fix__lookup Bash(rm:*) files__write_file\n---\n\n" +
		"Look the order up, then refund it.\n"
	const rest = `{"name":"rewrite","description":"Rewrites itself."},{"name":"refund"}]`
	p := newProject(t, map[string]string{
		"mycelium.yaml":    "mcpServers:\n  fix: {command: deffile, args: [tools.json]}\nsession: {defaultRole: guest}\n",
		"roles/guest.yaml": "allowedSkills: [fix.refunds, user]\n",
		"skills/user/SKILL.yaml": "name: user\ndescription: Uses the fixture.\nallowedRoles: [guest]\n" +
			"allowedTools: [fix__echo, fix__rewrite]\n",
		"tools.json":                        `[{"name":"echo","description":"Says it back."},` + rest,
		"tools.json.next":                   `[{"name":"echo","description":"<b>Twice.</b>"},` + rest,
		"tools.json.skills":                 skillOfFixture,
		"tools.json.files/.keep":            "",
		"tools.json.files/refunds-SKILL.md": text,
	})
	p.serve()
	p.must("tools", "sync")
	p.must("call", "fix__rewrite")
	p.must("tools", "sync")
	b := p.browser()
	digest := p.digestOf(b, "held")
	contains(t, b.get("/inbox", http.StatusOK), "fix__echo", "its definition changed since it was accepted", "&lt;b&gt;Twice.&lt;/b&gt;",
		"fix.refunds", "nobody has approved it")
	at := "/inbox/" + p.key() + "/"
	b.post(at+"held", url.Values{"name": {"fix__echo"}, "digest": {strings.Repeat("0", 64)}, "answer": {"accept"}}, http.StatusBadRequest)
	b.post(at+"held", url.Values{"name": {"fix__echo"}, "digest": {digest}, "answer": {"accept"}}, http.StatusSeeOther)
	contains(t, p.must("call", "fix__echo"), "called echo")
	p.acted("accept", "fix__echo")

	page := b.get(at+"skill?name=fix.refunds", http.StatusOK)
	contains(t, page, "Look the order up, then refund it.", "It would grant fix__refund", "is not a tool of fix")
	skill := regexp.MustCompile(`name="digest" value="([^"]+)"`).FindStringSubmatch(page)[1]
	b.post(at+"skill", url.Values{"name": {"fix.refunds"}, "digest": {"another"}, "answer": {"approve"}}, http.StatusBadRequest)
	b.post(at+"skill", url.Values{"name": {"fix.refunds"}, "digest": {skill}, "answer": {"approve"}}, http.StatusSeeOther)
	contains(t, p.must("call", "fix__refund"), "called refund")
	p.acted("skill approve", "fix.refunds")
	if rest := b.get("/inbox", http.StatusOK); strings.Contains(rest, at+"held") || strings.Contains(rest, at+"skill") {
		t.Errorf("what was accepted still waits:\n%s", rest)
	}
}

// skillOfFixture is the listing of one skill, whose digest is that of the text in TestWebInboxDefinitions.
const skillOfFixture = `[{"uri": "skill://refunds/SKILL.md", "frontmatter": {"name": "refunds", "description": "Handles refunds.", ` +
	`"allowed-tools": "refund mcp__fix__lookup Bash(rm:*) files__write_file"}, "resources": [{"uri": "skill://refunds/SKILL.md", ` +
	`"digest": "sha256:e3b55386bdcf7acb5bbd1d141a42c9715ea68b58ee3e5b701907d20a4147de9d", "size": 156}]}]`

// TestWebInboxSwarm: work of the swarm that changes what governs agents waits in the inbox with the change, and lands as it was shown.
func TestWebInboxSwarm(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("git")
	needed(t, err, "git")
	p := swarmWorld(t)
	p.must("swarm", "init", "plan.yaml", "--no-reviews", "--runner", "command", "--command", "true")
	p.serve()
	b := p.browser()
	db, err := store.Open(p.ctx, "sqlite://"+p.state().Database())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	base := strings.TrimSpace(p.git("rev-parse", "HEAD"))
	p.write("rules.yaml", "version: 1\nrules: []\n")
	p.git("commit", "-q", "-am", "feat: rules")
	tip := strings.TrimSpace(p.git("rev-parse", "HEAD"))
	p.git("reset", "-q", "--hard", base)
	books := book.New(db)
	s, err := books.Current(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	feature := s.Features[0].ID
	_, err = books.Change(p.ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		f := s.Features[0]
		f.State, f.Reason, f.Governs = book.Waiting, "it changes files that govern agents (rules.yaml)", true
		f.Attempts = []*book.Attempt{{N: 1, State: book.Queued, Base: base, Tip: tip, Began: time.Now(), Ended: time.Now(),
			Proof: &book.Proof{Files: []ground.File{{Path: "rules.yaml", Added: 1, Deleted: 3}}}}}
		return []book.Event{{Kind: "feature", Feature: f.ID, Text: "it waits"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if mark := p.digestOf(b, "work"); mark != tip {
		t.Errorf("the form is bound to %s", mark)
	}
	contains(t, b.get("/inbox", http.StatusOK), "feature "+feature, "rules: []", "governs agents", "Let it land")
	at := "/inbox/" + p.key() + "/work"
	form := func(mark string, word api.WorkWord) url.Values {
		return url.Values{"session": {s.ID}, "feature": {feature}, "digest": {mark}, "answer": {string(word)}, "sure": {"yes"}}
	}
	unsigned := form(tip, api.LetLand)
	unsigned.Del("sure")
	contains(t, b.post(at, unsigned, http.StatusBadRequest), "changes files that govern agents: the answer lacks the second sign")
	b.post(at, form(base, api.LetLand), http.StatusConflict)
	b.post(at, form(tip, api.TakeOver), http.StatusBadRequest)
	b.post(at, form(tip, api.LetLand), http.StatusSeeOther)
	if s, err = books.Read(p.ctx, s.ID); err != nil || s.Features[0].State != book.Queued || s.Features[0].Accepted != tip {
		t.Errorf("after the answer: %+v, %v", s.Features[0], err)
	}
	p.acted("swarm land", feature)
	happened, err := books.Events(p.ctx, s.ID, 0, 100)
	if err != nil || !strings.Contains(fmt.Sprint(happened), "browser, d-") {
		t.Errorf("what happened: %v, %v", happened, err)
	}
	b.post(at, form(tip, api.LetLand), http.StatusConflict)
}

// taking is a session of the swarm that has ended. Each file that lands in it is one more commit on its branch.
type taking struct {
	*project
	s     *book.Session
	books *book.Book
}

func newTaking(t *testing.T) *taking {
	t.Helper()
	_, err := exec.LookPath("git")
	needed(t, err, "git")
	p := swarmWorld(t)
	p.must("swarm", "init", "plan.yaml", "--no-reviews", "--runner", "command", "--command", "true")
	p.serve()
	db, err := store.Open(p.ctx, "sqlite://"+p.state().Database())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	books := book.New(db)
	s, err := books.Current(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &taking{p, s, books}
}

// land puts a file onto the branch of the session, and ends it.
func (k *taking) land(file string) (tip string) {
	k.t.Helper()
	k.git("checkout", "-q", "--detach", strings.TrimPrefix(k.s.Branch, "refs/heads/"))
	k.write(file, "made by an agent\n")
	k.git("add", file)
	k.git("commit", "-q", "-m", "feat: "+file)
	tip = strings.TrimSpace(k.git("rev-parse", "HEAD"))
	k.git("update-ref", "refs/heads/"+strings.TrimPrefix(k.s.Branch, "refs/heads/"), tip)
	k.git("checkout", "-q", "main")
	_, err := k.books.Change(k.ctx, k.s.ID, "", func(s *book.Session) ([]book.Event, error) {
		s.State, s.Ended, s.Landed = book.Completed, time.Now(), tip
		for _, f := range s.Features {
			f.State = book.Completed
		}
		return []book.Event{{Kind: "session", Text: "it ends"}}, nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return tip
}

// TestWebInboxTake: what a swarm has made is taken into the person's branch with a second sign only, after the page has shown which files and
// lines change; what is kept out is not offered again before something has changed.
func TestWebInboxTake(t *testing.T) {
	t.Parallel()
	p := newTaking(t)
	b, s := p.browser(), p.s
	base := strings.TrimSpace(p.git("rev-parse", "HEAD"))
	tip := p.land("made.txt")
	if mark := p.digestOf(b, "work"); mark != tip {
		t.Errorf("the form is bound to %s", mark)
	}
	at := "/inbox/" + p.key() + "/work"
	form := func(word api.WorkWord, more ...string) url.Values {
		out := url.Values{"session": {s.ID}, "digest": {tip}, "answer": {string(word)}}
		for _, m := range more {
			out.Set(m, "yes")
		}
		return out
	}
	contains(t, b.get("/inbox", http.StatusOK), "Take it into main", "Keep it out", "made.txt", "&#43;1 -0", "made by an agent",
		"This moves your branch main to what agents have made. I have read the difference.", "The difference: 1 file")
	contains(t, b.post(at, form(api.TakeOver), http.StatusBadRequest), "lacks the second sign")
	if now := strings.TrimSpace(p.git("rev-parse", "main")); now != base {
		t.Errorf("main is at %s", now)
	}
	b.post(at, form(api.LeaveOut), http.StatusSeeOther)
	offered := func() bool { return strings.Contains(b.get("/inbox", http.StatusOK), "Take it into main") }
	if offered() {
		t.Error("what is kept out is offered again")
	}
	contains(t, p.must("swarm", "status"), "kept out", "what has landed, by ")
	p.must("stop")
	p.serve()
	if offered() {
		t.Error("after a restart, what is kept out is offered again")
	}
	was := tip
	if tip = p.land("more.txt"); p.digestOf(b, "work") != tip || !offered() {
		t.Error("what has changed is not offered")
	}
	b.post(at, url.Values{"session": {s.ID}, "digest": {was}, "answer": {string(api.TakeOver)}, "sure": {"yes"}}, http.StatusConflict)
	b.post(at, form(api.TakeOver, "sure"), http.StatusSeeOther)
	if now := strings.TrimSpace(p.git("rev-parse", "main")); now != tip {
		t.Errorf("main is at %s, not at %s", now, tip)
	}
	p.acted("swarm merge", s.ID)
}
