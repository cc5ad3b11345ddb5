package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mycelium/internal/backend"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/rules"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// governed is a project in which every kind of file governs.
func governed(t *testing.T) *world {
	w := newWorld(t)
	w.write("mycelium.yaml", "mcpServers: {srv: {command: python3, args: [-u, tools/srv.py, --conf=tools/srv.json, --db, tools/data.db]}}\n"+
		"policy: {rules: [rules.yaml, ../shared/more.yaml]}\nsession: {defaultRole: dev}\n")
	w.write("../shared/more.yaml", rule("more"))
	w.write("rules.yaml", rule("first"))
	w.write("policies.yaml", "policies:\n  - {id: pol_1, description: x}\n")
	w.write("roles/dev.yaml", "id: dev\n")
	w.write("skills/reader/SKILL.yaml", aSkill("reader"))
	w.write("skills/reader/scripts/run.sh", "#!/bin/sh\necho one\n")
	if err := os.Chmod(filepath.Join(w.dir, "skills/reader/scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("protocols/p.yaml", "a: b\n")
	w.write("tools/srv.py", "print(1)\n")
	w.write("tools/srv.json", "{}\n")
	w.write("tools/other.py", "print(2)\n")
	w.write("tools/data.db", "SQLite format 3\x00 and so on")
	w.write("CLAUDE.md", "Be nice.\n")
	w.write(".mcp.json", `{"mcpServers": {"unused": {"command": "x"}}}`)
	return w
}

func (w *world) waiting() *Candidate {
	w.t.Helper()
	c, err := w.load().Candidate()
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func names(changes []Change) (out []string) {
	for _, c := range changes {
		out = append(out, c.Kind+" "+c.File)
	}
	return out
}

// TestWhatGoverns: the loader keeps what it reads and what is run, and nothing else.
func TestWhatGoverns(t *testing.T) {
	w := governed(t)
	want := []string{"new " + filepath.Join(w.home, "shared/more.yaml"), "new mycelium.yaml", "new policies.yaml", "new protocols/p.yaml",
		"new roles/dev.yaml", "new rules.yaml", "new skills/reader/SKILL.yaml", "new skills/reader/scripts/run.sh", "new tools/srv.json",
		"new tools/srv.py"}
	if d := cmp.Diff(want, names(w.waiting().Changes)); d != "" {
		t.Error(d)
	}
	w.accept()
	if c := w.waiting(); len(c.Changes) > 0 || c.Digest != c.Current.accepted.Digest {
		t.Errorf("waits after consent: %q", names(c.Changes))
	}
	for _, name := range []string{"CLAUDE.md", "tools/other.py", "tools/data.db", ".mcp.json"} {
		w.write(name, "SQLite format 3\x00changed")
	}
	if c := w.waiting(); len(c.Changes) > 0 {
		t.Errorf("what does not govern waits: %q", names(c.Changes))
	}
}

// TestChangesWait: what is changed, added or removed has no effect before a person accepts it, and an older content waits like any other.
func TestChangesWait(t *testing.T) {
	w := governed(t)
	w.accept()
	was := w.load()
	w.write("rules.yaml", "version: 1\nrules: [{name: mine, action: allow, tool: '*'}]\n")
	w.write("roles/admin.yaml", "toolIds: [agent__Bash]\n")
	w.write(".mcp.json", `{"mcpServers": {"evil": {"command": "x"}}}`)
	w.write("skills/reader/scripts/run.sh", "#!/bin/sh\necho two\n")
	for _, name := range []string{"roles/dev.yaml", "mycelium.yaml"} {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := w.load()
	same(t, was, p)
	script, err := p.Skills[0].Resource("scripts/run.sh")
	if err != nil || !strings.Contains(string(script), "echo one") {
		t.Errorf("the script is read from the project: %q %v", script, err)
	}
	if p.Rules[0].File != "rules.yaml" || p.Skills[0].File != "skills/reader/SKILL.yaml" {
		t.Errorf("the paths shown are of the copy: %s %s", p.Rules[0].File, p.Skills[0].File)
	}
	want := []string{"new .mcp.json", "removed " + filepath.Join(w.home, "shared/more.yaml"), "removed mycelium.yaml", "new roles/admin.yaml",
		"removed roles/dev.yaml", "changed rules.yaml", "changed skills/reader/scripts/run.sh", "removed tools/srv.json", "removed tools/srv.py"}
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) })
	if d := cmp.Diff(want, names(w.waiting().Changes)); d != "" {
		t.Error(d)
	}
	w.accept()
	if p = w.load(); p.Rules[0].Name != "mine" || len(p.Servers) != 2 {
		t.Errorf("after consent: %+v", p.Rules)
	}
	w.write("rules.yaml", rule("first"))
	if got := names(w.waiting().Changes); !slices.Equal(got, []string{"changed rules.yaml"}) {
		t.Errorf("an older content does not wait: %q", got)
	}
}

// same compares what two loads put in force.
func same(t interface {
	Helper()
	Errorf(string, ...any)
}, a, b *Project) {
	t.Helper()
	what := func(p *Project) string {
		s := fmt.Sprintf("%+v %+v %+v %+v %+v %v", p.Servers, p.Roles, p.Rules, p.Policies, p.Broken, p.Unjudged)
		for _, k := range p.Skills {
			s += fmt.Sprintf(" %+v %s", k.Grant, k.Instructions)
		}
		f, _ := p.File.JSON()
		return s + string(f)
	}
	if x, y := what(a), what(b); x != y {
		t.Errorf("what is in force changed:\n%s\n%s", x, y)
	}
}

// TestNoEditTakesEffect: whatever happens to the files of a project, the policy in force stays what it was until a person accepts.
func TestNoEditTakesEffect(t *testing.T) {
	w := governed(t)
	w.accept()
	was := w.load()
	files := []string{"mycelium.yaml", "rules.yaml", "policies.yaml", "policies.local.yaml", "config.json", ".mcp.json", "roles/dev.yaml",
		"roles/x.yaml", "roles/index.yaml", "skills/reader/SKILL.yaml", "skills/reader/SKILL.md", "skills/new/SKILL.yaml", "protocols/p.yaml",
		"tools/srv.py", "../shared/more.yaml"}
	texts := []string{"", "]]]", "{}", rule("evil"), "version: 1\nrules: [{name: all, action: allow, tool: '*'}]\n", aSkill("new"),
		"id: dev\ntoolIds: [agent__Bash]\n", "policy: {fallback: {agent: allow}}\n", "mcpServers: {evil: {command: x}}\n", "trust: folder\n",
		`{"mcpServers": {"evil": {"command": "x"}}}`, "\xff", "roles: [{id: dev}]\n"}
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(rt, "edits") {
			path := filepath.Join(w.dir, rapid.SampledFrom(files).Draw(rt, "file"))
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				_ = os.RemoveAll(path)
			case 1:
				_ = os.RemoveAll(path)
				_ = os.MkdirAll(path, 0o755)
			case 2:
				_ = os.RemoveAll(path)
				_ = os.Symlink("/etc/passwd", path)
			default:
				_ = os.RemoveAll(path)
				_ = os.MkdirAll(filepath.Dir(path), 0o755)
				_ = os.WriteFile(path, []byte(rapid.SampledFrom(texts).Draw(rt, "text")), 0o755)
			}
		}
		p := w.load()
		same(rt, was, p)
		if _, err := p.Candidate(); err != nil {
			rt.Errorf("%v", err)
		}
	})
}

// TestWhatDoesNotLoadIsNotAccepted: each of these stays pending, and the reason is told.
func TestWhatDoesNotLoadIsNotAccepted(t *testing.T) {
	for file, text := range map[string]string{"mycelium.yaml": "]]]", "rules.yaml": "rules: [{name: a}", "roles/dev.yaml": "a: b: c",
		"policies.yaml": "policies: [{id: 1}]\n", "skills/reader/big.bin": strings.Repeat("x", maxKept+1)} {
		w := governed(t)
		w.accept()
		was := w.load()
		w.write(file, text)
		c := w.waiting()
		if len(c.Why) == 0 || !strings.HasPrefix(c.Why[0].File, file) || c.Accept(time.Now()) == nil {
			t.Errorf("%s was accepted: %q", file, lines(c.Why))
		}
		same(t, was, w.load())
	}
}

// TestDamagedCopyDenies: a copy that is not what was accepted denies every call, and says how to accept.
func TestDamagedCopyDenies(t *testing.T) {
	for name, damage := range map[string]func(folder, manifest string) error{
		"changed": func(f, _ string) error {
			return os.WriteFile(filepath.Join(f, "rules.yaml"), []byte("version: 1\n"), 0o600)
		},
		"missing": func(f, _ string) error { return os.Remove(filepath.Join(f, "rules.yaml")) },
		"added": func(f, _ string) error {
			return os.WriteFile(filepath.Join(f, "roles/x.yaml"), []byte("id: x\n"), 0o600)
		},
		"a link":   func(f, _ string) error { return os.Symlink("/etc/passwd", filepath.Join(f, "roles/y.yaml")) },
		"no copy":  func(f, _ string) error { return os.RemoveAll(f) },
		"mode":     func(f, _ string) error { return os.Chmod(filepath.Join(f, "rules.yaml"), 0o700) },
		"manifest": func(_, m string) error { return os.WriteFile(m, []byte("{}"), 0o600) },
		"open":     func(_, m string) error { return os.Chmod(m, 0o666) },
	} {
		w := governed(t)
		w.accept()
		p := w.load()
		if err := damage(p.accepted.Folder(), p.store.Manifest()); err != nil {
			t.Fatal(err)
		}
		p = w.load()
		if p.Trusted || !strings.Contains(p.Broken.All, "cannot be read") || !strings.Contains(lines(p.Problems)[0], "myc trust") {
			t.Errorf("%s: trusted %v, %q %q", name, p.Trusted, p.Broken.All, lines(p.Problems))
		}
		w.accept()
		if p = w.load(); !p.Trusted || p.Broken.All != "" {
			t.Errorf("%s: not mended by consent: %q", name, lines(p.Problems))
		}
	}
}

// TestServerOfChangedFile: a server whose file changed may not be started before the change is accepted.
func TestServerOfChangedFile(t *testing.T) {
	w := governed(t)
	w.accept()
	p := w.load()
	srv := p.Servers[slices.IndexFunc(p.Servers, func(s backend.Server) bool { return s.Name == "srv" })]
	if err := p.MayStart(srv); err != nil {
		t.Error(err)
	}
	w.write("tools/srv.py", "print('evil')\n")
	if err := p.MayStart(srv); err == nil || !strings.Contains(err.Error(), "tools/srv.py") {
		t.Errorf("%v", err)
	}
	w.accept()
	if err := w.load().MayStart(srv); err != nil {
		t.Error(err)
	}
}

// TestServerOfChangedImport: what a server's files load governs as they do, also a file that appears in the place of another.
func TestServerOfChangedImport(t *testing.T) {
	w := governed(t)
	w.write("mycelium.yaml", "mcpServers:\n  srv: {command: python3, args: [tools/srv.py]}\n  web: {command: node, args: [web/srv.mjs]}\n"+
		"  run: {command: sh, args: [-c, \"cd run && ./start\"], cwd: .}\n  old: {command: ./run/start}\n")
	for file, text := range map[string]string{
		"tools/srv.py":              "import json, helpers.deep as d\nfrom helpers import (one,  # the first\n  two)\n",
		"tools/helpers/__init__.py": "", "tools/helpers/deep.py": "from . import inner\nimport sibling\n", "tools/helpers/inner.py": "",
		"tools/helpers/two.py": "", "tools/sibling.py": "import yaml\n", "tools/notes.py": "",
		"web/srv.mjs":  "import x from './lib/x.js'\nconst y = require('./lib')\n",
		"web/lib/x.js": "import '../../shop.js'\n", "web/lib/index.js": "", "web/lib/not.js": "", "shop.js": "",
		"run/start": "#!/bin/sh\n. ./env.sh\npython3 run/more.py\n", "run/env.sh": "", "run/more.py": "",
	} {
		w.write(file, text)
	}
	w.accept()
	p := w.load()
	server := func(name string) backend.Server {
		return p.Servers[slices.IndexFunc(p.Servers, func(s backend.Server) bool { return s.Name == name })]
	}
	for _, c := range []struct{ server, file string }{
		{"srv", "tools/helpers/__init__.py"}, {"srv", "tools/helpers/inner.py"}, {"srv", "tools/helpers/two.py"}, {"srv", "tools/sibling.py"},
		{"srv", "tools/json.py"}, {"srv", "tools/json/__init__.py"}, {"srv", "tools/helpers.py"}, {"srv", "tools/yaml.py"},
		{"srv", "tools/re.py"}, {"srv", "tools/json.cpython-311-x86_64-linux-gnu.so"}, {"srv", "tools/json.pyc"},
		{"web", "web/lib/x.js"}, {"web", "web/lib/index.js"}, {"web", "shop.js"}, {"web", "web/lib.js"},
		{"old", "run/env.sh"}, {"old", "run/more.py"}, {"old", "run/os.py"},
	} {
		before, err := os.ReadFile(filepath.Join(w.dir, c.file))
		kind := "changed "
		if err != nil {
			kind = "new "
		}
		w.write(c.file, string(before)+"evil = 1\n")
		if err := p.MayStart(server(c.server)); err == nil || !strings.Contains(err.Error(), c.file+", which it runs") {
			t.Errorf("%s: %v", c.file, err)
		}
		if got := names(w.waiting().Changes); !slices.Equal(got, []string{kind + c.file}) {
			t.Errorf("%s waits as %q", c.file, got)
		}
		if kind == "changed " {
			w.write(c.file, string(before))
		} else if err := os.Remove(filepath.Join(w.dir, c.file)); err != nil {
			t.Fatal(err)
		}
		if err := p.MayStart(server(c.server)); err != nil {
			t.Errorf("%s is as it was: %v", c.file, err)
		}
	}
	for _, file := range []string{"tools/notes.py", "web/lib/not.js", "tools/unrelated.py"} {
		w.write(file, "other = 1\n")
	}
	if got := w.waiting(); got.Waits() {
		t.Errorf("no server loads these: %q", names(got.Changes))
	}
}

// TestOperatorsChange: it is in force at once, in the copy and in the project, and other lines of the file stay pending.
func TestOperatorsChange(t *testing.T) {
	w := governed(t)
	w.accept()
	w.write("rules.yaml", "version: 1\nrules:\n  - {name: theirs, action: allow, tool: '*'}\n")
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			err := w.load().Write(time.Now(), func(folders []string) error {
				own := policy.Rule{Name: fmt.Sprint("own-", i), Action: "deny", Tool: policy.Names{"a__b"}}
				return rules.Append(folders, "rules2.yaml", "c", "r", own)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	err := w.load().Write(time.Now(), func(folders []string) error {
		_, err := rules.Add(folders, policy.Rule{Action: "deny", Tool: policy.Names{"a__b"}}, "me", time.Now())
		return err
	})
	if err == nil {
		t.Error("a file in a form that cannot be extended was extended")
	}
	w.write("rules.yaml", "version: 1\nrules:\n  - {name: first, action: deny, tool: a__b}\n  - {name: theirs, action: allow, tool: '*'}\n")
	w.accept()
	w.write("rules.yaml", "version: 1\nrules:\n  - {name: first, action: deny, tool: a__b}\n  - {name: evil, action: allow, tool: '*'}\n")
	var name string
	err = w.load().Write(time.Now(), func(folders []string) (err error) {
		name, err = rules.Add(folders, policy.Rule{Action: "deny", Tool: policy.Names{"a__b"}}, "me", time.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p := w.load()
	var got []string
	for _, r := range p.Rules {
		got = append(got, r.Name)
	}
	if d := cmp.Diff([]string{"first", "theirs", name, "more"}, got); d != "" {
		t.Error(d)
	}
	onDisk, _ := os.ReadFile(filepath.Join(w.dir, "rules.yaml"))
	if s := string(onDisk); !strings.Contains(s, "evil") || !strings.Contains(s, name) || strings.Contains(s, "theirs") {
		t.Errorf("the file is\n%s", s)
	}
	own, _ := os.ReadFile(filepath.Join(w.dir, "rules2.yaml"))
	if n := strings.Count(string(own), "own-"); n != 10 {
		t.Errorf("%d of 10 changes at once were kept", n)
	}
}

// TestTrustFolder: with trust: folder of the user, the files of a project that was accepted once are in force as they are.
func TestTrustFolder(t *testing.T) {
	w := governed(t)
	w.writeUser("mycelium.yaml", "trust: folder\n")
	if p := w.load(); p.Trusted || p.Broken.All == "" {
		t.Error("a folder that was never accepted is in force")
	}
	w.accept()
	w.write("rules.yaml", rule("new"))
	if p := w.load(); p.Rules[0].Name != "new" || len(w.waiting().Changes) > 0 {
		t.Errorf("%+v", p.Rules)
	}
	w.write("rules.yaml", rule("first"))
	w.writeUser("mycelium.yaml", "{}\n")
	w.accept()
	w.write("rules.yaml", rule("new"))
	if p := w.load(); p.Rules[0].Name != "first" {
		t.Errorf("%+v", p.Rules)
	}
	w.write("mycelium.yaml", "trust: folder\n")
	if c := w.waiting(); len(c.Why) != 1 || !strings.Contains(c.Why[0].Message, "trust is not read from a project") {
		t.Errorf("%q", lines(c.Why))
	}
	w.write("mycelium.yaml", "{}\n")
	w.writeUser("mycelium.yaml", "trust: all\n")
	if c := w.waiting(); len(c.Why) != 1 || !strings.Contains(c.Why[0].Message, `trust is "all"`) {
		t.Errorf("%q", lines(c.Why))
	}
}

// moveAway moves the project to another folder, with its state.
func (w *world) moveAway(t *testing.T) {
	t.Helper()
	from, was := w.dir, w.state()
	w.dir += "-moved"
	err := os.Rename(from, w.dir)
	if err == nil {
		err = os.Rename(was.Folder(), w.state().Folder())
	}
	for range 2 { // the second time it does nothing
		if err == nil {
			err = accept.Move(w.state(), from)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOtherMainFile: a file that --config names takes effect once a person has accepted it, wherever it lies.
func TestOtherMainFile(t *testing.T) {
	w := newWorld(t)
	w.write("mycelium.yaml", "session: {defaultRole: usual}\n")
	w.accept()
	outside := w.write("~/elsewhere/my.yaml", "session: {defaultRole: outside}\n")
	w.write("other.yaml", "session: {defaultRole: other}\n")
	load := func(file string) *Project {
		t.Helper()
		p, err := Load(Options{Dir: w.dir, File: file})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for file, role := range map[string]string{outside: "outside", "other.yaml": "other"} {
		p := load(file)
		if p.Broken.All == "" {
			t.Errorf("%s took effect", file)
		}
		c, err := p.Candidate()
		if err == nil {
			err = c.Accept(time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		if p = load(file); p.Broken.All != "" || p.File.Session.DefaultRole != role {
			t.Errorf("%q %+v", p.Broken.All, p.File.Session)
		}
	}
	w.moveAway(t)
	for file, role := range map[string]string{outside: "outside", "other.yaml": "other", "": "usual"} {
		if p := load(file); p.Broken.All != "" || p.File.Session.DefaultRole != role {
			t.Errorf("%s in the folder to which the project was moved: %q %+v", file, p.Broken.All, p.File.Session)
		}
	}
	c, err := load("none.yaml").Candidate()
	if err != nil || len(c.Why) == 0 {
		t.Errorf("a file that does not exist can be accepted: %v", err)
	}
	if p := load(""); p.File.Session.DefaultRole != "usual" {
		t.Errorf("%+v", p.File.Session)
	}
	t.Setenv("MYCELIUM_CONFIG_PATH", "other.yaml")
	if p := load(""); p.File.Session.DefaultRole != "other" {
		t.Errorf("MYCELIUM_CONFIG_PATH: %+v", p.File.Session)
	}
}

// TestDataOfAServer: a file that a person calls the data of a server does not govern, unless the server may run it. A file that changes and
// may be data is shut out with a message that says how to write that.
func TestDataOfAServer(t *testing.T) {
	for _, c := range []struct {
		name, entry string // of the server, without its braces
		file        string // what its arguments name, and what is written
		now         string
		governs     bool
		hint        bool
	}{
		{name: "a log that nobody calls data", entry: "command: srv, args: [--log, var/app.log]", file: "var/app.log", governs: true, hint: true},
		{name: "a log", entry: "command: srv, args: [--log, var/app.log], data: [var/app.log]", file: "var/app.log"},
		{name: "a folder", entry: "command: srv, args: [--log=var/app.log], data: [var]", file: "var/app.log"},
		{name: "in another folder", entry: "command: srv, cwd: var, args: [app.log], data: [app.log]", file: "var/app.log"},
		{name: "another file", entry: "command: srv, args: [var/app.log], data: [var/app]", file: "var/app.log", governs: true, hint: true},
		{name: "what an interpreter runs", entry: "command: sh, args: [var/run], data: [var]", file: "var/run", governs: true},
		{name: "after a module", entry: "command: python3, args: [-m, notes, var/notes], data: [var/notes]", file: "var/notes"},
		{name: "behind a script", entry: "command: python3, args: [srv.py, var/notes], data: [var/notes]", file: "var/notes"},
		{name: "with the name of a program", entry: "command: uv, args: [run, var/srv.py], data: [var]", file: "var/srv.py", governs: true},
		{name: "with a line of a program", entry: "command: env, args: [var/srv], data: [var]", file: "var/srv", now: "#!/bin/sh\necho\n",
			governs: true},
		{name: "a database", entry: "command: srv, args: [var/notes]", file: "var/notes", now: "SQLite format 3\x00"},
		{name: "a script in the form of a database", entry: "command: dash, args: [var/run]", file: "var/run",
			now: "SQLite format 3\x00\ntouch hit\n", governs: true},
		{name: "code in the form of a database", entry: "command: sh, args: [-c, '. var/run']", file: "var/run",
			now: "SQLite format 3\x00\ntouch hit\n", governs: true, hint: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("mycelium.yaml", "mcpServers: {srv: {"+c.entry+"}}\n")
			w.write("srv.py", "print(1)\n")
			w.write(c.file, "first\n")
			w.accept()
			p := w.load()
			w.write(c.file, "second\n"+c.now)
			if c.now != "" {
				w.write(c.file, c.now)
			}
			at := slices.IndexFunc(p.Servers, func(s backend.Server) bool { return s.Name == "srv" })
			err := p.MayStart(p.Servers[at])
			waits := slices.ContainsFunc(w.waiting().Changes, func(c Change) bool { return c.Kind != accept.Removed })
			if (err != nil) != c.governs || waits != c.governs {
				t.Fatalf("%v, waiting: %q", err, names(w.waiting().Changes))
			}
			if hint := err != nil && strings.Contains(text.HintOf(err), "data: ["); hint != c.hint {
				t.Errorf("the hint: %v", text.HintOf(err))
			}
		})
	}
}
