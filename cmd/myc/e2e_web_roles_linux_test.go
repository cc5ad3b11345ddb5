package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"mycelium/internal/audit/index"
	section "mycelium/internal/config/pages"
	"mycelium/internal/state"
	"mycelium/internal/web"
	"mycelium/internal/web/site"
)

// pageServer opens a page server for a project's user at an address of this machine; port 0 is any that is free.
func (p *project) pageServer(addr string, pushHosts ...string) *web.Server {
	p.t.Helper()
	s, err := web.Open(p.ctx, section.Section{Addr: addr}, site.Options{Root: p.state().Root, Runtime: filepath.Join(p.home, "run"),
		PushHosts: pushHosts, Records: func(context.Context, state.Paths, index.Query) ([]index.Entry, error) { return nil, nil }})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// servePages serves the pages of a project's user until stop is called.
func (p *project) servePages(pushHosts ...string) (s *web.Server, stop func()) {
	p.t.Helper()
	s = p.pageServer("127.0.0.1:0", pushHosts...)
	ctx, cancel := context.WithCancel(p.ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return s, func() {
		cancel()
		if err := <-ended; err != nil {
			p.t.Error(err)
		}
	}
}

// browsersOf serves the pages of a project's user until the test ends, and signs so many browsers in.
func (p *project) browsersOf(browsers int) (list []*signIn) {
	p.t.Helper()
	s, stop := p.servePages()
	p.t.Cleanup(stop)
	for range browsers {
		list = append(list, signedIn(p.t, s, p.state().Root))
	}
	return list
}

// browser is browsersOf for a single one.
func (p *project) browser() *signIn { return p.browsersOf(1)[0] }

// TestWebTools: every tool stands on the page with its parameters, what it does and the roles that see it, and Sync writes what
// myc tools sync writes.
func TestWebTools(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	b := p.browser()
	page := b.get("/tools", http.StatusOK)
	for _, want := range []string{"files__read_file", "Filesystem", "Version Control", "<b>required</b>", "mutates", ">guest</a>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the tools do not say %q:\n%s", want, page)
		}
	}
	if page := b.get("/tools?role=guest", http.StatusOK); strings.Contains(page, "<code>files__write_file") ||
		!strings.Contains(page, "<code>files__read_file") {
		t.Errorf("the tools of guest:\n%s", page)
	}
	b.post("/tools/sync", b.form("/tools", "/tools/sync"), http.StatusSeeOther)
	if index := p.read(".mycelium/tools/index.yaml"); !strings.Contains(index, "files__read_file") {
		t.Errorf("the index:\n%s", index)
	}
	for address, status := range map[string]int{"/api/tools": 200, "/api/tools/categories": 200, "/api/tools?project=none": 404} {
		if said := b.get(address, status); status == 404 && !strings.Contains(said, "NOT_FOUND") {
			t.Errorf("%s: %s", address, said)
		}
	}
	why := b.get("/why?"+url.Values{"tool": {"files__list_directory"}, "args": {`{"path":"."}`}}.Encode(), http.StatusOK)
	for _, want := range []string{"People decide about lists.", "rules.yaml:3", "ask-lists", "without the rule ask-lists", "effect-allow"} {
		if !strings.Contains(why, want) {
			t.Errorf("why does not say %q:\n%s", want, why)
		}
	}
	if why := b.get("/why?command=git+push+--force", http.StatusOK); !strings.Contains(why, "<code>git push --force</code> would") {
		t.Errorf("why of a command:\n%s", why)
	}
}

// TestWebRoles: the examples of the founding documents load in the editor and are saved with every comment and every other byte; a role is
// made, tried, deleted and restored; what something names is not deleted; a file that changed meanwhile is not overwritten; and the
// record has the browser.
func TestWebRoles(t *testing.T) {
	t.Parallel()
	seed := func(name string) string {
		data, err := os.ReadFile(filepath.Join("..", "..", "internal", "config", "testdata", "seeds", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	files := world(map[string]string{"roles/index.yaml": "# who works here\n" + seed("003-roles-index.yaml"),
		"roles/developer.yaml": seed("001-roles-developer.yaml"), "roles/admin.yaml": seed("001-roles-admin.yaml")})
	for _, skill := range []string{"base", "reader", "editor", "tester", "git-workflow"} {
		files["skills/"+skill+"/SKILL.yaml"] = "name: " + skill + "\ndescription: One of five.\nallowedRoles: [developer]\n" +
			"allowedTools: [files__stat_file]\n"
	}
	p := newProject(t, files)
	p.serve()
	b := p.browser()
	list := b.get("/roles", http.StatusOK)
	for _, want := range []string{"Researcher", "Read-only access for exploration and analysis", "Tools that do not exist", "chain:status"} {
		if !strings.Contains(list, want) {
			t.Errorf("the roles do not say %q:\n%s", want, list)
		}
	}

	for role, file := range map[string]string{"developer": "roles/developer.yaml", "admin": "roles/admin.yaml",
		"researcher": "roles/index.yaml", "controller": "roles/index.yaml"} { // saved as it is: not a byte differs
		before := p.read(file)
		form := b.form("/roles/"+role, "/roles/"+role)
		form.Set("act", "save")
		b.post("/roles/"+role, form, http.StatusSeeOther)
		if after := p.read(file); after != before {
			t.Errorf("%s was saved unchanged and is\n%s", role, after)
		}
	}
	form := b.form("/roles/developer", "/roles/developer")
	form.Set("description", "Writes code.")
	form.Set("act", "preview")
	tried := b.post("/roles/developer", form, http.StatusOK)
	for _, want := range []string{"What the role would see", "files__read_file", "skill looking", "No call was recorded yet",
		"role developer is described in other words"} {
		if !strings.Contains(tried, want) {
			t.Errorf("the preview does not say %q:\n%s", want, tried)
		}
	}
	form.Set("act", "save")
	b.post("/roles/developer", form, http.StatusSeeOther)
	if got, want := p.read("roles/developer.yaml"), seed("001-roles-developer.yaml")+"description: Writes code.\n"; got != want {
		t.Errorf("roles/developer.yaml is\n%s\nwant\n%s", got, want)
	}
	if late := b.post("/roles/developer", form, http.StatusConflict); !strings.Contains(late, "is not overwritten") ||
		!strings.Contains(late, "What the file says now") {
		t.Errorf("a late save:\n%s", late)
	}
	form = b.form("/roles/researcher", "/roles/researcher")
	form.Add("tool", "files__stat_file")
	form.Set("act", "save")
	b.post("/roles/researcher", form, http.StatusSeeOther)
	want := strings.Replace(files["roles/index.yaml"], "      - task:list\n", "      - task:list\n      - files__stat_file\n", 1)
	if got := p.read("roles/index.yaml"); got != want {
		t.Errorf("roles/index.yaml is\n%s\nwant\n%s", got, want)
	}
	newRole(t, p, b)
	apiOfRoles(t, p, b)
}

// newRole makes a role, deletes and restores it.
func newRole(t *testing.T, p *project, b *signIn) {
	form := b.form("/roles/new", "/roles/new")
	form.Set("name", "Data Analyst")
	form.Set("act", "save")
	if said := b.post("/roles/new", form, http.StatusBadRequest); !strings.Contains(said, "at least one tool") {
		t.Errorf("a role without tools:\n%s", said)
	}
	form.Add("tool", "files__read_file")
	b.post("/roles/new", form, http.StatusSeeOther)
	const file = "name: Data Analyst\nallowedSkills: []\ntoolIds: [files__read_file]\n"
	if got := p.read("roles/data-analyst.yaml"); got != file {
		t.Errorf("the new role is\n%s", got)
	}
	if shown := p.must("roles", "show", "data-analyst"); !strings.Contains(shown, "files__read_file") {
		t.Errorf("it is not in force:\n%s", shown)
	}
	log := p.must("audit", "tail", "--json")
	if !strings.Contains(log, "browser") {
		t.Errorf("the record does not have the browser:\n%s", log)
	}
	b.post("/roles/data-analyst/delete", b.form("/roles/data-analyst/delete", "/roles/data-analyst/delete"), http.StatusSeeOther)
	if got := p.read("roles/data-analyst.yaml"); got != "" {
		t.Errorf("the deleted role is\n%s", got)
	}
	form = b.form("/roles/data-analyst/history", "/roles/data-analyst/history")
	form.Set("version", "1")
	b.post("/roles/data-analyst/history", form, http.StatusSeeOther)
	if got := p.read("roles/data-analyst.yaml"); got != file {
		t.Errorf("the restored role is\n%s", got)
	}
	confirm := b.get("/roles/developer/delete", http.StatusOK)
	if !strings.Contains(confirm, "allowedRoles of the skill looking") || strings.Contains(confirm, `value="delete"`) {
		t.Errorf("the deletion of a role that is named:\n%s", confirm)
	}
	forced := url.Values{"project": {form.Get("project")}, "digest": {"x"}}
	if said := b.post("/roles/developer/delete", forced, http.StatusConflict); !strings.Contains(said, "Nothing was deleted") {
		t.Errorf("a deletion that was not offered:\n%s", said)
	}
	if p.read("roles/developer.yaml") == "" {
		t.Error("the role is gone")
	}
}

// apiOfRoles: the JSON routes do what the pages do, and say what cannot be done by its code (D17).
func apiOfRoles(t *testing.T, p *project, b *signIn) {
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/api/roles", "", 200, `"id":"researcher"`},
		{"GET", "/api/roles/nobody", "", 404, `"NOT_FOUND"`},
		{"GET", "/api/roles/guest", "", 200, `"bounded":false`}, // it has no file: nothing bounds it
		{"GET", "/api/roles/data-analyst", "", 200, `"toolIds":["files__read_file"]`},
		{"POST", "/api/roles", `{"name":"Empty","toolIds":[]}`, 400, `"BAD_REQUEST"`},
		{"POST", "/api/roles", `{"name":" "}`, 400, `"BAD_REQUEST"`},
		{"POST", "/api/roles", `{"wrong":1}`, 400, `"BAD_REQUEST"`},
		{"POST", "/api/roles", `{"name":"Other","toolIds":["files__read_file"]}`, 200, `"id":"other"`},
		{"POST", "/api/roles", `{"name":"Other","toolIds":["files__read_file"]}`, 409, `"CONFLICT"`},
		{"PUT", "/api/roles/other", `{"toolIds":[]}`, 200, `"toolIds":[]`},
		{"PUT", "/api/roles/nobody", `{"toolIds":[]}`, 404, `"NOT_FOUND"`},
		{"DELETE", "/api/roles/guest", "", 409, `"CONFLICT"`},
		{"DELETE", "/api/roles/other?digest=old", "", 409, `"CONFLICT"`},
		{"DELETE", "/api/roles/other", "", 200, `"other"`},
		{"DELETE", "/api/roles/other", "", 404, `"NOT_FOUND"`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, b.base+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		reply, err := b.c.Do(r)
		if said := b.read(reply, err, c.status); !strings.Contains(said, c.want) {
			t.Errorf("%s %s %s: %s", c.method, c.path, c.body, said)
		}
	}
	if got := p.read("roles/other.yaml"); got != "" {
		t.Errorf("the deleted role is\n%s", got)
	}
}

// form returns what a form of a page would send as it is, by its address.
func (b *signIn) form(page, action string) url.Values {
	b.t.Helper()
	root, err := html.Parse(strings.NewReader(b.get(page, http.StatusOK)))
	if err != nil {
		b.t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Data == "form" && attribute(n, "action") == action {
			return valuesOf(n)
		}
	}
	b.t.Fatalf("%s has no form for %s", page, action)
	return nil
}

// valuesOf are the values of a form's fields.
func valuesOf(form *html.Node) url.Values {
	out := url.Values{}
	for n := range form.Descendants() {
		name := attribute(n, "name")
		switch kind := attribute(n, "type"); {
		case n.Data == "input" && (kind == "checkbox" || kind == "radio"):
			if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "checked" }) {
				out.Add(name, attribute(n, "value"))
			}
		case n.Data == "input":
			out.Add(name, attribute(n, "value"))
		case n.Data == "textarea" && n.FirstChild != nil:
			out.Add(name, n.FirstChild.Data)
		case n.Data == "option" && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "selected" }):
			out.Add(attribute(n.Parent, "name"), attribute(n, "value"))
		}
	}
	return out
}

// attribute is the value of an attribute of an element; "" without it.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
