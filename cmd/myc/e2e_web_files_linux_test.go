package main

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mycelium/internal/audit"
)

// fields are the hidden fields of the editor, with another text.
func fields(page, text, do string) url.Values {
	form := url.Values{"text": {strings.ReplaceAll(text, "\n", "\r\n")}, "do": {do}} // as a browser sends it
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form
}

// TestWebFiles: a person edits the rules in a browser. What does not load changes nothing, and says where; what loads is in force at once,
// with its comments, and in the record with person, device and difference; a file that changed under the editor is not overwritten, and
// both versions are shown; and a former version comes back.
func TestWebFiles(t *testing.T) {
	t.Parallel()
	const rules = "# Who may list.\nversion: 1\nrules:\n  - name: ask-lists # of folders\n    action: ask\n" +
		"    tool: files__list_directory\n    reason: People decide about lists.\n"
	p := newProject(t, world(map[string]string{"rules.yaml": rules}))
	p.serve()
	b := p.browser()
	file := filepath.Join(p.dir, "rules.yaml")
	says := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("the file says %q (%v), want %q", got, err, want)
		}
	}
	list := b.get("/rules", http.StatusOK)
	for _, want := range []string{"ask-lists", "rules.yaml:4", "People decide about lists."} {
		if !strings.Contains(list, want) {
			t.Errorf("/rules does not say %q:\n%s", want, list)
		}
	}
	at := html.UnescapeString(regexp.MustCompile(`href="(/edit\?[^"#]*)#L4"`).FindStringSubmatch(list)[1])
	first := b.get(at, http.StatusOK)
	if !strings.Contains(first, "# of folders") {
		t.Errorf("the editor:\n%s", first)
	}

	broken := strings.Replace(rules, "action: ask", "action: aks", 1)
	for _, do := range []string{"check", "save"} {
		status := map[string]int{"check": http.StatusOK, "save": http.StatusUnprocessableEntity}[do]
		said := b.post("/edit", fields(first, broken, do), status)
		if !regexp.MustCompile(`data-line="\d+" data-column="\d+">rules.yaml:\d+:\d+`).MatchString(said) ||
			!strings.Contains(said, "cannot be saved") {
			t.Errorf("%s of a text that does not load:\n%s", do, said)
		}
	}
	says(rules)
	if typed := b.post("/edit/check", fields(first, broken, ""), http.StatusOK); !strings.Contains(typed, `id="checked"`) ||
		!strings.Contains(typed, "does not load") {
		t.Errorf("while typing:\n%s", typed)
	}

	p.must("call", "--ask", "deny", "files__read_file", "--args", `{"path":"notes.md"}`)
	second := strings.Replace(rules, "action: ask", "action: deny", 1) + "  - {name: no-notes, action: deny, tool: files__read_file}\n"
	tried := b.post("/edit", fields(first, second, "try"), http.StatusOK)
	for _, want := range []string{"1 kind of calls otherwise", "no-notes", "narrows"} {
		if !strings.Contains(tried, want) {
			t.Errorf("what would be otherwise does not say %q:\n%s", want, tried)
		}
	}
	says(rules)
	b.post("/edit", fields(first, second, "save"), http.StatusSeeOther)
	says(second)
	if _, said, err := p.run("call", "--ask", "deny", "files__read_file", "--args", `{"path":"notes.md"}`); err == nil {
		t.Errorf("the rule is not in force: %s", said)
	}
	if waits := p.must("trust", "--diff"); strings.Contains(waits, "rules.yaml") {
		t.Errorf("something waits: %s", waits)
	}
	p.savedBy("no-notes")

	theirs := second + "# somebody else\n"
	if err := os.WriteFile(file, []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	now := b.get(at, http.StatusOK)
	if !strings.Contains(now, "Lines that nobody has accepted") {
		t.Errorf("the editor does not say what waits:\n%s", now)
	}
	for page, want := range map[string]string{first: "# somebody else", now: "I have read them"} { // stale; and current, but nobody has read
		if said := b.post("/edit", fields(page, second+"# mine\n", "save"), http.StatusConflict); !strings.Contains(said, want) ||
			!strings.Contains(said, "# mine") {
			t.Errorf("not %q:\n%s", want, said)
		}
	}
	says(theirs)
	read := fields(now, second+"# mine\n", "save")
	read.Set("seen", "yes")
	b.post("/edit", read, http.StatusSeeOther)
	says(second + "# mine\n")

	history := b.get(strings.Replace(at, "/edit?", "/history?", 1), http.StatusOK)
	if !regexp.MustCompile(`version 3 <span[^>]*>in force</span>(?s:.*)browser, d-`).MatchString(history) {
		t.Errorf("the history:\n%s", history)
	}
	former := b.get(at+"&version=1", http.StatusOK)
	if !strings.Contains(former, "version 1 is restored") || !strings.Contains(former, "What it means") {
		t.Errorf("a former version:\n%s", former)
	}
	b.post("/edit", fields(former, rules, "save"), http.StatusSeeOther)
	says(rules)
	p.savedBy("version 1 is restored")
	p.must("audit", "verify")
}

// savedBy checks that the last save is in the record with the person, the device, and a text.
func (p *project) savedBy(text string) {
	p.t.Helper()
	var last audit.Record
	for line, err := range audit.Read(p.ctx, audit.Options{Dir: filepath.Join(p.state().Folder(), "audit")}, audit.Position{}, false) {
		if err != nil {
			p.t.Fatal(err)
		}
		if line.Kind == audit.Operator && strings.HasPrefix(line.Note, "save files") {
			last = line.Record
			last.Args = line.Args
		}
	}
	if !regexp.MustCompile(`save files by \S+ \(browser, d-[a-z2-7]{8}\): rules.yaml`).MatchString(last.Note) ||
		!strings.Contains(string(last.Args)+last.Note, text) || last.Surface != "browser" {
		p.t.Errorf("the record: %s %s", last.Note, last.Args)
	}
}

// TestWebFilesOfOthers: no file is read or written that is no part of the configuration, nor one that a link leads to.
func TestWebFilesOfOthers(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	p.serve()
	b := p.browser()
	list := b.get("/skills", http.StatusOK)
	for _, want := range []string{"looking", "files__list_directory", "skills/writing/SKILL.md"} {
		if !strings.Contains(list, want) {
			t.Errorf("/skills does not say %q:\n%s", want, list)
		}
	}
	if said := b.get("/servers", http.StatusOK); !strings.Contains(said, "builtin") || !strings.Contains(said, "tools in its catalog") {
		t.Errorf("/servers:\n%s", said)
	}
	outside := filepath.Join(p.home, "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Symlink(outside, filepath.Join(p.dir, "skills", "linked")),
		os.Symlink(filepath.Join(p.home, "x"), filepath.Join(p.dir, "roles.yaml"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	page := b.get("/edit?file=skills/fresh/SKILL.md", http.StatusOK)
	for _, name := range []string{"notes.md", "../rules.yaml", "/etc/passwd", "skills/../notes.md", ".git/config", "roles/a/b.yaml",
		"skills/x/.y", "skills/linked/SKILL.md", "roles.yaml"} {
		form := fields(page, "name: x\n", "save")
		form.Set("file", name)
		b.get("/edit?file="+url.QueryEscape(name), http.StatusBadRequest)
		b.post("/edit", form, http.StatusBadRequest)
	}
	if made, err := os.ReadDir(outside); err != nil || len(made) > 0 {
		t.Errorf("%v %v", made, err)
	}
	fresh := "---\nname: fresh\ndescription: Looks.\nallowedRoles: [guest]\nallowedTools: [files__read_file]\n---\n\nLook.\n"
	b.post("/edit", fields(page, fresh, "save"), http.StatusSeeOther)
	if said := p.must("skill", "list"); !strings.Contains(said, "fresh") {
		t.Errorf("the new skill: %s", said)
	}
}
