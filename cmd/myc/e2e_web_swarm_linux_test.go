package main

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// webPlan is a plan whose workers are a shell: one lands, one prints what would harm a terminal and goes on, one fails.
const webPlan = `features:
  - {id: one, description: "Add <b>a</b>", details: "stub: echo a > a.txt; git add -A; git commit -qm 'feat: one'"}
  - {id: loud, description: Print, dependsOn: [one],
     details: "stub: echo x > x.txt; printf '\\033[1;31mred\\033[0m \\033]52;c;aGk=\\007\\033]0;title\\007end\\n'; exec sleep 3600"}
  - {id: bad, description: Fail, details: "stub: echo it broke; exit 3"}
`

// TestWebSwarm: a session of the swarm in a browser, driven by its real driver with a shell for workers. The page has its features,
// workers, queue, figures and log, and an open page learns what changes; a terminal is streamed with its colours and nothing else; the
// keyboard is refused before it is taken, and that is recorded with the device; what a worker did is undone and the undo undone; pausing
// stops the workers; programs get the same over the routes of the dashboard.
func TestWebSwarm(t *testing.T) {
	if !withoutNetwork(t) {
		return
	}
	t.Parallel()
	p := leadWorld(t, map[string]string{"plan.yaml": webPlan})
	b := p.visitor()
	if said := b.get("/swarm", http.StatusOK); !strings.Contains(said, "myc swarm init PLAN.md") {
		t.Errorf("without a session:\n%s", said)
	}
	b.get("/api/features", http.StatusNotFound)
	p.must("swarm", "init", "plan.yaml", "--runner", "command", "--command", "sh stub.sh", "--verify", "test -f stub.sh",
		"--allow-program", "test", "--role", "dev", "--retries", "0")
	list := b.get("/swarm", http.StatusOK)
	found := regexp.MustCompile(`href="(/swarm/([^"]+))"`).FindStringSubmatch(list)
	if found == nil {
		t.Fatalf("the session is not on the page:\n%s", list)
	}
	at, key := found[1], found[2]
	if said := b.get(at, http.StatusOK); !strings.Contains(said, "Nobody drives this session") {
		t.Errorf("before it is driven:\n%s", said)
	}
	events := b.events()
	p.must("swarm", "start", "--unsafe-program")
	b.until(events, "feature", key+" one")
	b.until(events, "swarm", key)
	p.eventually("one has landed, bad has failed, and loud is at work", func() bool {
		said := b.get(at, http.StatusOK)
		return strings.Contains(said, "<b>1</b> landed") && strings.Contains(said, "<b>1</b> at work") &&
			strings.Contains(said, "<b>1</b> failed")
	})
	said := b.get(at, http.StatusOK)
	for _, want := range []string{"1 of 3 landed", "Add &lt;b&gt;a&lt;/b&gt;", "it ended with exit code 3", `class="edge"`, "All terminals",
		"Nothing waits to be merged", "the session began with 3 features"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page of the session does not say %q:\n%s", want, said)
		}
	}
	p.streamed(b, at)
	p.typed(b, at)
	p.forPrograms(b, key)
	p.stopped(b, at)
}

// streamed looks at the page of a worker, its output and its log.
func (p *project) streamed(b *signIn, at string) {
	p.t.Helper()
	p.eventually("the text of the terminal is on its page", func() bool {
		return strings.Contains(b.get(at+"/workers/loud", http.StatusOK), "red end")
	})
	out := b.output(at + "/workers/loud/output")
	if !out.Whole || out.Ended || !strings.Contains(out.Data, "\x1b[0;1;31mred\x1b[0m") || strings.Contains(out.Data, "aGk=") ||
		strings.Contains(out.Data, "\x1b]") || strings.Contains(out.Data, "title") {
		p.t.Errorf("the output of a terminal: %+v", out)
	}
	if out := b.output(at + "/workers/bad/output"); !out.Ended || !strings.Contains(out.Data, "it broke") {
		p.t.Errorf("the log of a worker that has ended: %+v", out)
	}
	if out := b.output(at + "/terminals/output"); out.Worker != "loud" || !strings.Contains(out.Data, "red") {
		p.t.Errorf("the output of all: %+v", out)
	}
	b.get(at+"/workers/nobody", http.StatusNotFound)
}

// terminalOutput is a piece of output as a page gets it.
type terminalOutput struct {
	Worker       string
	Whole, Ended bool
	Data         string
}

// output reads the first piece of a stream of output.
func (b *signIn) output(path string) (out terminalOutput) {
	b.t.Helper()
	r, err := b.c.Get(b.base + path)
	if err != nil || r.StatusCode != http.StatusOK {
		b.t.Fatal(path, r, err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	output := false
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && output {
			if err := json.Unmarshal([]byte(data), &out, json.MatchCaseInsensitiveNames(true)); err != nil {
				b.t.Fatal(err)
			}
			return out
		}
		output = lines.Text() == "event: output" || output && strings.HasPrefix(lines.Text(), "id: ")
	}
	b.t.Fatalf("%s ends before there is output: %v", path, lines.Err())
	return out
}

// typed types into the terminal of a worker.
func (p *project) typed(b *signIn, at string) {
	p.t.Helper()
	line := url.Values{"line": {"typed by a person"}}
	if said := b.post(at+"/workers/loud/keys", line, http.StatusForbidden); !strings.Contains(said, "does not have the keyboard") {
		p.t.Errorf("keys without the keyboard:\n%s", said)
	}
	b.post(at+"/workers/loud/keyboard", url.Values{"act": {"take"}}, http.StatusSeeOther)
	b.post(at+"/workers/loud/keys", line, http.StatusSeeOther)
	p.eventually("what was typed is in the terminal", func() bool {
		return strings.Contains(b.get(at+"/workers/loud", http.StatusOK), "typed by a person")
	})
	b.post(at+"/workers/loud/keyboard", url.Values{"act": {"give"}}, http.StatusSeeOther)
	b.post(at+"/workers/loud/keys", line, http.StatusForbidden)
	b.post(at+"/workers/bad/keyboard", url.Values{"act": {"take"}}, http.StatusConflict)
	if said := b.post(at+"/workers/loud/message", url.Values{"message": {"x"}}, http.StatusInternalServerError); !strings.Contains(said,
		"hear no messages") {
		p.t.Errorf("a message to a shell:\n%s", said)
	}
	if said := b.get(at, http.StatusOK); !regexp.MustCompile(`a person \(browser, d-[a-z2-7]{8}\) has taken the keyboard`).MatchString(said) {
		p.t.Errorf("the log of the session:\n%s", said)
	}
	p.inLog(`swarm keyboard taken \S+ loud, by \S+ \(browser, d-[a-z2-7]{8}\)`, `"surface":"browser"`)
}

// inLog wants texts in the log of the project.
func (p *project) inLog(patterns ...string) {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.state().Folder(), "audit", "*.jsonl"))
	if err != nil || len(files) == 0 {
		p.t.Fatal(files, err)
	}
	all := ""
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			p.t.Fatal(err)
		}
		all += string(b)
	}
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(all) {
			p.t.Errorf("the log of the project has no %q", pattern)
		}
	}
	p.must("audit", "verify")
}

// forPrograms asks the routes of the dashboard.
func (p *project) forPrograms(b *signIn, key string) {
	p.t.Helper()
	for path, want := range map[string]string{
		"/api/features?status=failed":  `"id":"bad"`,
		"/api/features?project=" + key: `"id":"one"`,
		"/api/workers":                 `"featureId":"loud"`,
		"/api/review-workers":          `"reviews":[]`,
		"/api/logs?limit=2":            `"logs":[`,
		"/api/stats":                   `"landed":1`,
	} {
		said := b.get(path, http.StatusOK)
		if !strings.Contains(said, want) || strings.Contains(path, "failed") && strings.Contains(said, `"id":"one"`) {
			p.t.Errorf("%s answers %s", path, said)
		}
	}
	b.get("/api/features?status=odd", http.StatusBadRequest)
	b.get("/api/logs?limit=0", http.StatusBadRequest)
	b.get("/api/features?project=odd", http.StatusNotFound)
	b.get("/api/review-workers/code/output", http.StatusNotFound)
	if out := b.output("/api/workers/loud/output"); !strings.Contains(out.Data, "red") {
		p.t.Errorf("the output for programs: %+v", out)
	}
	r, err := b.c.Get(b.base + "/api/events")
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	b.until(bufio.NewScanner(r.Body), "connected", "")
}

// stopped pauses the session, undoes what a worker did, undoes that, and resumes.
func (p *project) stopped(b *signIn, at string) {
	p.t.Helper()
	feature := at + "/features/loud"
	said := b.post(feature, url.Values{"act": {"undo"}}, http.StatusInternalServerError)
	if !strings.Contains(said, "a worker works on loud now") {
		p.t.Errorf("undo under a worker:\n%s", said)
	}
	b.post(at+"/act", url.Values{"act": {"pause"}}, http.StatusSeeOther)
	p.eventually("no worker is at work", func() bool { return strings.Contains(b.get(at, http.StatusOK), "Nobody works now") })
	if said := b.get(feature, http.StatusOK); !strings.Contains(said, "snapshot start") {
		p.t.Errorf("the page of the feature has no snapshot:\n%s", said)
	}
	tree := filepath.Join(string(p.state().Root)+"-trees", filepath.Base(p.state().Folder()))
	file, err := filepath.Glob(filepath.Join(tree, "*.loud-1", "x.txt"))
	if err != nil || len(file) != 1 {
		p.t.Fatal(file, err)
	}
	there := func() bool { _, err := os.Stat(file[0]); return err == nil }
	b.post(feature, url.Values{"act": {"undo"}, "to": {""}}, http.StatusSeeOther)
	if there() {
		p.t.Error("the undo has left the file of the worker")
	}
	point := regexp.MustCompile(`value="([0-9a-f]{40,64})"><label for="[^"]*">undo point`).FindStringSubmatch(b.get(feature, http.StatusOK))
	if point == nil {
		p.t.Fatal("the page has no undo point")
	}
	b.post(feature, url.Values{"act": {"undo"}, "to": {point[1]}}, http.StatusSeeOther)
	if !there() {
		p.t.Error("undoing the undo does not bring the file back")
	}
	b.post(at+"/act", url.Values{"act": {"odd"}}, http.StatusBadRequest)
	b.post(at+"/act", url.Values{"act": {"resume"}}, http.StatusSeeOther)
	b.post(at+"/features/bad", url.Values{"act": {"retry"}}, http.StatusSeeOther)
	said = b.get(at, http.StatusOK)
	if !strings.Contains(said, "resumed by a person (browser, ") || !strings.Contains(said, "has it tried again") {
		p.t.Errorf("the log of the session:\n%s", said)
	}
	p.inLog("swarm pause ", "swarm rollback \\S+ loud, by ", "swarm resume ", "swarm retry \\S+ bad")
}
