package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
	"mycelium/internal/web/site"
)

// apiClient asks the API, and holds each answer against the document.
type apiClient struct {
	*signIn
	doc *openapi3.T
}

// api serves the pages of a project, and is a program that is signed in there.
func (p *project) api() *apiClient {
	p.t.Helper()
	addr, _ := p.served("127.0.0.1:0")
	b := signedInAt(p.t, addr, p.state().Root)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(b.get("/api/openapi.yaml", http.StatusOK)))
	if err != nil {
		p.t.Fatal(err)
	}
	return &apiClient{b, doc}
}

// call sends a request and returns what is answered. path is that of the document, with the values of its parts.
func (a *apiClient) call(method, path, query, body string, want int, parts ...string) (text string) {
	a.t.Helper()
	at := strings.NewReplacer(parts...).Replace(path) + query
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.base+at, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := a.c.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		a.t.Errorf("%s %s: %d %v, want %d\n%s", method, at, answer.StatusCode, err, want, b)
	}
	o := a.doc.Paths.Find(path).GetOperation(method)
	described, media := o.Responses.Status(200), "application/json"
	if want != http.StatusOK {
		described, media = o.Responses.Default(), "application/problem+json"
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		a.t.Errorf("%s %s: %v\n%s", method, at, err, b)
	}
	if err := described.Value.Content[media].Schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
		a.t.Errorf("%s %s answers something else than its document says: %v\n%s", method, at, err, b)
	}
	return string(b)
}

// TestWebAPI: a program reads by the API what the pages show, each answer is as the document says, and it answers a call that waits as a
// person does, once, for the request that it read.
func TestWebAPI(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	a := p.api()
	key := "{project}"
	s := p.mint("--role", "guest")

	first := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	r := p.waiting(1, 1)[0]
	var status struct {
		Projects []struct {
			Project string `json:"project"`
			Running bool   `json:"running"`
		} `json:"projects"`
	}
	if err := json.Unmarshal([]byte(a.call("GET", "/api/status", "", "", 200)), &status); err != nil || len(status.Projects) != 1 ||
		!status.Projects[0].Running {
		t.Fatalf("status: %+v %v", status, err)
	}
	this := []string{key, status.Projects[0].Project, "{id}", r.ID}
	for path, has := range map[string]string{"/api/approvals": r.Digest, "/api/sessions": s.ID, "/api/runs": `"runs":[]`} {
		for _, query := range []string{"", "?project=" + this[1]} {
			if said := a.call("GET", path, query, "", 200); !strings.Contains(said, has) {
				t.Errorf("%s does not say %q:\n%s", path+query, has, said)
			}
		}
	}
	const one = "/api/approvals/{project}/{id}"
	if said := a.call("GET", one, "", "", 200, this...); !strings.Contains(said, `"state":"pending"`) {
		t.Errorf("the request:\n%s", said)
	}
	for said, want := range map[string]int{`{"digest":"` + r.Digest + `","allow":null}`: 400, `{"allow":true,"digest":""}`: 400,
		`{"allow":true,"digest":"another"}`: 409, `{"allow":true,"digest":"` + r.Digest + `","for":"ever"}`: 400} {
		a.call("POST", one, "", said, want, this...)
	}
	a.call("POST", one, "", `{"allow":true,"digest":"d"}`, 404, key, this[1], "{id}", "nobody")
	yes := `{"allow":true,"digest":"` + r.Digest + `","for":"once"}`
	if said := a.call("POST", one, "", yes, 200, this...); !strings.Contains(said, `"via":"browser, d-`) {
		t.Errorf("the record:\n%s", said)
	}
	if err := <-first.ended; err != nil {
		t.Errorf("the caller: %v %s", err, first.err.String())
	}
	if said := a.call("POST", one, "", yes, 409, this...); !strings.Contains(said, "was allowed by") {
		t.Errorf("a late answer:\n%s", said)
	}
	for query, has := range map[string]string{"": "files__list_directory", "?tool=files__*&outcome=ok&by=person&limit=1": r.Call,
		"?outcome=denied": `"calls":[]`, "?since=2999-01-01T00:00:00Z": `"calls":[]`} {
		if said := a.call("GET", "/api/log", query, "", 200); !strings.Contains(said, has) {
			t.Errorf("/api/log%s does not say %q:\n%s", query, has, said)
		}
	}
	for query, has := range map[string]string{"": "files__read_file", "?role=developer": "files__read_file", "?all=true": `"visible":false`} {
		if said := a.call("GET", "/api/tools/seen", query, "", 200); !strings.Contains(said, has) {
			t.Errorf("/api/tools/seen%s does not say %q:\n%s", query, has, said)
		}
	}
	a.call("GET", "/api/tools/seen", "?role=nobody", "", 400)
	if said := a.call("POST", "/api/tools/sync", "", "", 200); !strings.Contains(said, `"wrote":[`) {
		t.Errorf("the index of tools: %s", said)
	}
	for path, has := range map[string]string{"/api/roles": `"id":"guest"`, "/api/tools": `"roles":["developer","guest"]`} {
		if said := a.call("GET", path, "", "", 200); !strings.Contains(said, has) {
			t.Errorf("%s does not say %q:\n%s", path, has, said)
		}
	}
	a.call("GET", "/api/roles/{id}", "?project="+this[1], "", 200, "{id}", "developer")
	a.call("GET", "/api/roles/{id}", "?project="+this[1], "", 404, "{id}", "nobody")
	a.call("GET", "/health", "", "", 200)
	p.must("stop")
	a.call("POST", one, "", yes, 503, this...)
	if said := a.call("GET", "/api/approvals", "", "", 200); !strings.Contains(said, `"requests":[]`) {
		t.Errorf("without a daemon:\n%s", said)
	}
}

// TestWebAPICritical: a critical call is allowed only with a word that somebody has read what it would do.
func TestWebAPICritical(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [guest, developer]}\n" +
			"approval: {mode: remote, deadline: 300s}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
	}))
	p.serve()
	a := p.api()
	hook := p.hookAsks("t1", "git push --force origin feature")
	r := p.next("")
	if r.Risk != policy.Critical {
		t.Errorf("the risk is %s: is the test wrong?", r.Risk)
	}
	at := []string{"{project}", site.Key(p.state()), "{id}", r.ID}
	yes := `{"allow":true,"digest":"` + r.Digest + `"`
	if said := a.call("POST", "/api/approvals/{project}/{id}", "", yes+"}", 400, at...); !strings.Contains(said, "critical") {
		t.Errorf("without the word:\n%s", said)
	}
	a.call("POST", "/api/approvals/{project}/{id}", "", yes+`,"sure":true}`, 200, at...)
	p.says(hook, "allow")
}

// TestWebAPIKeep: a program keeps an approval that was given once, as a person does: it looks first, and what it keeps is bound to what it
// read. How often people were asked is told, and a person's own calls are no questions of an agent.
func TestWebAPIKeep(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(map[string]string{"rules.yaml": "version: 1\n",
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest, developer]}\npolicy: {fallback: {mcp: ask}}\n"}))
	p.serve()
	a := p.api()
	first := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	r := p.waiting(1, 1)[0]
	this := []string{"{project}", site.Key(p.state()), "{id}", r.ID}
	const keep = "/api/approvals/{project}/{id}/keep"
	a.call("POST", keep, "", `{"look":true}`, 409, this...) // it waits
	a.call("POST", "/api/approvals/{project}/{id}", "", `{"allow":true,"digest":"`+r.Digest+`"}`, 200, this...)
	if err := <-first.ended; err != nil {
		t.Errorf("the caller: %v %s", err, first.err.String())
	}
	if said := a.call("POST", keep, "", `{"look":true}`, 200, this...); !strings.Contains(said, `"words":"this call"`) ||
		strings.Contains(p.read("rules.yaml"), "approved-") {
		t.Errorf("a look:\n%s", said)
	}
	a.call("POST", keep, "", `{}`, 400, this...)
	a.call("POST", keep, "", `{"digest":"another"}`, 409, this...)
	a.call("POST", keep, "", `{"look":true}`, 404, this[0], this[1], "{id}", "nobody")
	if said := a.call("POST", keep, "", `{"digest":"`+r.Digest+`"}`, 200, this...); !strings.Contains(said, `"rule":"approved-`+r.ID) ||
		!strings.Contains(p.read("rules.yaml"), "via browser, d-") {
		t.Errorf("kept:\n%s", said)
	}
	a.call("POST", keep, "", `{"digest":"`+r.Digest+`"}`, 409, this...)
	p.must("call", "--ask", "deny", "files__list_directory", "--args", `{"path":"."}`)
	if said := a.call("GET", "/api/asks", "?project="+this[1], "", 200); !strings.Contains(said, `"perActiveHour":0`) {
		t.Errorf("how often people were asked:\n%s", said)
	}
	a.call("GET", "/api/asks", "?project=none", "", 404)
}
