package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mycelium/internal/gate/facts"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox"
)

// tree are the files of the project of a view. One that begins with "-> " is a link.
var tree = map[string]string{
	"README.md": "", "src/a.go": "", "src/b.go": "", "src/deep/c.go": "", "docs/a.md": "", "docs/deep/b.md": "", "secrets/one.txt": "",
	"secrets/two.key": "", "notes/plan.md": "", ".env": "", ".env.production": "", "config/.env.local": "", "mycelium.yaml": "",
	".claude/settings.json": "", "node_modules/x/index.js": "", "linked": "-> docs", "alias.txt": "-> secrets/one.txt", "odd name/x y.txt": "",
	"own/repo.txt": "", ".codex/auth.json": "", "skills/x/.env": "", "Notes/upper.md": "", "notes.md": "",
}

// fresh are names that commands make.
var fresh = []string{"src/new.go", "docs/new.md", "docs/deep/new.md", "secrets/new.txt", "notes/new.md", "new/secrets/x.txt", "new.txt",
	"linked/new2.md"}

var (
	viewGlobs = []string{"secrets/**", "./docs/**", "**/*.key", "**/*.md", "docs/*.md", "src/{a,b}.go", "**", "*.md", "src/*", "**/deep/**",
		"notes/**", "no*", "linked/**", "PROJECT/src/**", "**/.env*",
		"o*/**", "{docs,notes}/**", "**/secrets/*", "src/**/c.go", "**/plan.md/**"}
	viewLiterals = []string{"src/a.go", "./docs/a.md", "secrets", "linked", "linked/a.md", "alias.txt", "PROJECT/notes/plan.md", "odd name/x y.txt",
		"README.md"}
	viewRegexes = []string{`.*\.txt`, `(?:.*/)?notes/.*`, `src/.\.go`, `(?i).*/NOTES.*`, `PROJECT/docs/.*`, `.*/deep`}
	viewScopes  = []string{"", "", "", `role == "dev"`, `role != "dev"`, `"s1" in skills`, `!("s1" in skills)`}
	viewWhens   = []string{`args.mode == "x"`, `paths.exists(p, p.endsWith(".go"))`, `has(args.file_path) && role == "dev"`}
)

// drawnRule is a rule with and without its conditions beside path and scope.
func drawnRule(t *rapid.T, project string, i int) (whole, held policy.Rule, byPath bool) {
	r := policy.Rule{Name: fmt.Sprintf("r%d", i), Action: rapid.SampledFrom([]string{"deny", "deny", "ask", "allow"}).Draw(t, "action"),
		Tool: policy.Names{rapid.SampledFrom([]string{"*", "*", "Read", "Write", "Read|Write|Edit", "agent__*", "Bash", "files__*"}).Draw(t, "tool")}}
	r.Tool = slices.Collect(strings.SplitSeq(r.Tool[0], "|"))
	if rapid.IntRange(0, 3).Draw(t, "byRole") == 0 {
		r.Role = policy.Names{rapid.SampledFrom([]string{"dev", "guest"}).Draw(t, "role")}
	}
	if rapid.IntRange(0, 4).Draw(t, "bySkill") == 0 {
		r.Skill = policy.Names{"s1"}
	}
	if rapid.IntRange(0, 6).Draw(t, "byStage") == 0 {
		r.Stage = policy.Names{"review"}
	}
	value := func() policy.Value {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		list := [][]string{viewGlobs, viewGlobs, viewLiterals, viewRegexes}[kind]
		s := strings.ReplaceAll(rapid.SampledFrom(list).Draw(t, "pattern"), "PROJECT", project)
		switch kind {
		case 2:
			return policy.Value{Literal: &s}
		case 3:
			return policy.Value{Regex: &s}
		}
		return policy.Value{Glob: &s}
	}
	values := func() (vs policy.Values) {
		for range rapid.IntRange(1, 2).Draw(t, "values") {
			vs = append(vs, value())
		}
		return vs
	}
	r.Match = policy.Fields{}
	fields := [][]string{{"path"}, {"path"}, {"read"}, {"write"}, {"delete"}, {"path", "read"}, {"read", "write"}, {}}
	for _, key := range rapid.SampledFrom(fields).Draw(t, "fields") {
		r.Match[key], byPath = values(), true
	}
	if rapid.IntRange(0, 4).Draw(t, "byEffect") == 0 {
		e := rapid.SampledFrom([]string{"read", "write", "network"}).Draw(t, "effect")
		r.Match["effect"] = policy.Values{{Literal: &e}}
	}
	either := byPath && rapid.IntRange(0, 5).Draw(t, "either") == 0
	if either {
		r.Match["any"] = nil
	}
	r.When = rapid.SampledFrom(viewScopes).Draw(t, "scope")
	held = r
	held.Match = maps.Clone(r.Match)
	if either { // the effect alone is no path
		delete(held.Match, "effect")
	}
	// Conditions that count as if they held.
	if !either && r.When == "" && rapid.IntRange(0, 3).Draw(t, "byWhen") == 0 {
		r.When = rapid.SampledFrom(viewWhens).Draw(t, "when")
	}
	if !either && rapid.IntRange(0, 4).Draw(t, "byProgram") == 0 {
		p := "npm"
		r.Match["program"] = policy.Values{{Literal: &p}}
	}
	if !either && rapid.IntRange(0, 4).Draw(t, "byArg") == 0 {
		mode := "x"
		r.Args = map[string]policy.Values{"mode": {{Literal: &mode}}}
	}
	if len(r.Match) == 0 {
		r.Match = nil
	}
	return r, held, byPath
}

// drawn is a policy, a scope, and the policy in which every other condition holds.
type drawn struct {
	closed policy.Closed
	oracle *policy.Policy
	scope  policy.Scope
	text   string
}

func drawPolicy(t *rapid.T, project, home string) drawn {
	src := policy.Source{Dir: project, Home: home}
	src.Fallback.Agent, src.Fallback.MCP = "allow", "allow"
	src.Grants = []policy.Grant{{Name: "s0", AllowedTools: []string{"agent__*"}, AllowedRoles: []string{"dev", "guest"}},
		{Name: "s1", AllowedTools: []string{"files__*"}, AllowedRoles: []string{"dev", "guest"}}}
	src.Roles = []policy.Role{{ID: "dev"}, {ID: "guest"}}
	oracle := src
	for i := range rapid.IntRange(1, 4).Draw(t, "rules") {
		whole, held, byPath := drawnRule(t, project, i)
		src.Rules = append(src.Rules, whole)
		if byPath && whole.Action != "allow" {
			oracle.Rules = append(oracle.Rules, held)
		}
	}
	p, problems := policy.New(src)
	for _, problem := range problems {
		if !problem.Warning {
			t.Fatalf("the policy has a problem: %+v", problem)
		}
	}
	s := policy.Scope{Principal: policy.Principal{ID: "p", Role: rapid.SampledFrom([]string{"dev", "guest"}).Draw(t, "as")}, Skills: []string{"s0"}}
	if rapid.Bool().Draw(t, "active") {
		s.Skills = append(s.Skills, "s1")
	}
	s.Stage = rapid.SampledFrom([]string{"", "review"}).Draw(t, "stage")
	if rapid.IntRange(0, 3).Draw(t, "child") == 0 {
		s.Principal.Parent = &policy.Principal{ID: "parent", Role: rapid.SampledFrom([]string{"dev", "guest"}).Draw(t, "parent")}
	}
	closed, err := p.Closed(s)
	if err != nil {
		t.Fatal(err)
	}
	held, _ := policy.New(oracle)
	return drawn{closed, held, s, says(src.Rules, s)}
}

// decides is the answer to a call of an agent's own tool for a file, by its path.
func (d *drawn) decides(t interface{ Fatal(...any) }, tool, path string) policy.Effect {
	it := policy.Item{Server: policy.AgentServer, Name: tool}
	args := policy.Args{"file_path": path}
	if tool != "Read" {
		args["content"], args["old_string"], args["new_string"] = "x", "a", "b"
	}
	f, err := facts.Of(it, policy.Annotations{}, args, facts.At(d.oracle, d.oracle.Dir(), d.oracle.Home(), nil))
	if err != nil {
		t.Fatal(err)
	}
	got := d.oracle.Decide(policy.Call{Scope: d.scope, Item: it, Args: args, Facts: f, Time: time.Now()})
	if got.Unknown { // not by its path: the rules hide the tool
		return policy.Allow
	}
	return got.Effect
}

// plant makes the project of a view. Some files are in a repository.
func plant(t *testing.T) *sandbox.Command {
	t.Helper()
	c := sandbox.ProjectCommand(t)
	c.History = filepath.Join(filepath.Dir(c.Scratch), "history")
	past := time.Now().Add(-time.Hour)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		path := filepath.Join(c.Project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path)
		to, link := strings.CutPrefix(tree[name], "-> ")
		if link {
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte("KEY=text-of:"+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", c.Project, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", "-f", "src", "docs/a.md", "secrets/one.txt", ".env.production", "config", "notes", "linked")
	git("commit", "-qm", "one")
	return c
}

// names are the files and links of the project, by their names below it. Of what leads to a folder, the files in it are named as well.
func names(t interface{ Fatal(...any) }, project string) (list []string) {
	err := filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(project, path)
		if excepted(rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			if below, err := os.ReadDir(path); err == nil {
				for _, e := range below {
					if !e.IsDir() {
						list = append(list, filepath.Join(rel, e.Name()))
					}
				}
				return nil
			}
		}
		if !d.IsDir() {
			list = append(list, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// excepted reports whether a name of the project is one of sandbox.Exceptions.
func excepted(rel string) bool { return slices.Contains(strings.Split(rel, "/"), ".git") }

// covered reports whether a path lies in one of some lists, by its name or by what it leads to.
func covered(path string, lists ...[]string) bool {
	to, _ := filepath.EvalSymlinks(path)
	for _, list := range lists {
		for _, l := range list {
			for _, p := range []string{path, to} {
				if p == l || strings.HasPrefix(p, l+"/") {
					return true
				}
			}
		}
	}
	return false
}

// TestViewOfThePolicy: for any rules and scope, the sandbox shows no existing file that Read refuses or asks about, by its path, and leaves
// none to be changed that Write refuses.
func TestViewOfThePolicy(t *testing.T) {
	c := plant(t)
	all := names(t, c.Project)
	hidden, fixed := 0, 0
	property := func(t *rapid.T) {
		d := drawPolicy(t, c.Project, c.Home)
		run := *c
		run.Closed = d.closed
		g, err := run.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			path := filepath.Join(c.Project, name)
			shown := !covered(path, g.Hidden, g.Secrets, g.Covered)
			if d.decides(t, "Read", path) != policy.Allow {
				if hidden++; shown {
					t.Fatalf("Read does not open %s, the sandbox shows it\n%s\n%+v", name, d.text, d.closed)
				}
			}
			for _, tool := range []string{"Write", "Edit"} {
				if d.decides(t, tool, path) == policy.Deny {
					if fixed++; shown && !covered(path, g.Fixed, g.Targets) {
						t.Fatalf("%s does not change %s, the sandbox does\n%s\n%+v", tool, name, d.text, d.closed)
					}
				}
			}
		}
	}
	for range 10 { // what it found needed more than a thousand policies
		rapid.Check(t, property)
	}
	if hidden == 0 || fixed == 0 {
		t.Errorf("the rules closed %d files to read and %d to write", hidden, fixed)
	}
}

// TestViewInTheSandbox: the same in real sandboxes, for a few policies, with every name read and written, and with new names.
func TestViewInTheSandbox(t *testing.T) {
	var opened atomic.Int32
	t.Cleanup(func() {
		if opened.Load() < 6 {
			t.Errorf("the commands of %d policies read anything", opened.Load())
		}
	})
	for seed := range 8 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := plant(t)
			some := rapid.Custom(func(t *rapid.T) drawn { return drawPolicy(t, c.Project, c.Home) }).Filter(func(d drawn) bool {
				return slices.ContainsFunc(d.closed.Rules, func(r policy.ClosedRule) bool { return r.Change }) &&
					slices.ContainsFunc(d.closed.Rules, func(r policy.ClosedRule) bool { return r.Read })
			})
			d := some.Example(seed)
			all := names(t, c.Project)
			script := ""
			for _, name := range all {
				script += fmt.Sprintf("echo '<%s>'; cat '%[1]s'; echo '</%[1]s>'; echo more >> '%[1]s'\n", name)
			}
			for _, name := range all { // in the place of the file, and without its folder
				script += fmt.Sprintf("mv '%s' moved; echo other > '%[1]s'; rm -f '%[1]s'; echo other > '%[1]s'\n", name)
			}
			for _, name := range fresh {
				script += fmt.Sprintf("mkdir -p '%s'; echo made > '%s'\n", filepath.Dir(name), name)
			}
			read, write := map[string]bool{}, map[string]bool{}
			for _, name := range slices.Concat(all, fresh) {
				path := filepath.Join(c.Project, name)
				read[name], write[name] = d.decides(t, "Read", path) == policy.Allow, d.decides(t, "Write", path) != policy.Deny
			}
			before := map[string]string{}
			for _, name := range all {
				data, err := os.ReadFile(filepath.Join(c.Project, name))
				if err != nil {
					t.Fatal(err)
				}
				before[name] = string(data)
			}
			var out bytes.Buffer
			run := *c
			run.Closed, run.Out, run.Err = d.closed, &out, &out
			run.Argv = []string{"sh", "-c", script + "git log -p --all; git cat-file --batch-all-objects --batch"}
			result, err := sandbox.Run(t.Context(), sandbox.Self(t), &run)
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, name := range all {
				to, _ := filepath.Rel(c.Project, resolved(filepath.Join(c.Project, name)))
				shown := to == name && strings.Contains(out.String(), "text-of:"+to+"\n") || strings.Contains(out.String(), "<"+name+">\nKEY=")
				if shown && !read[name] {
					t.Errorf("the command read %s\n%s\n%+v", name, d.text, d.closed)
				}
				// A file that is open by its own name may be changed by it, whatever a link to it is called.
				own := d.decides(t, "Write", resolved(filepath.Join(c.Project, name))) != policy.Deny
				if after, _ := os.ReadFile(filepath.Join(c.Project, name)); !write[name] && !own && string(after) != before[name] {
					t.Errorf("the command left %q in %s\n%s\n%+v", after, name, d.text, result.Left)
				}
			}
			for _, name := range fresh {
				if _, err := os.Lstat(filepath.Join(c.Project, name)); err == nil && !write[name] {
					t.Errorf("the command left %s\n%s\n%+v", name, d.text, result.Left)
				}
			}
			if strings.Contains(out.String(), "KEY=") {
				opened.Add(1)
			}
		})
	}
}

func resolved(path string) string {
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	return to
}

// says is what was drawn, for people.
func says(rules []policy.Rule, s policy.Scope) string {
	text, err := json.Marshal(rules)
	return fmt.Sprintf("%s %v\n%+v", text, err, s)
}
