package risk

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

func item(t testing.TB, id string) policy.Item {
	t.Helper()
	it, err := policy.ParseTool(id)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func TestAssessToolsByWholeWordsAndFacts(t *testing.T) {
	readOnly, destructive := policy.Annotations{"readOnlyHint": true}, policy.Annotations{"destructiveHint": true}
	for _, c := range []struct {
		tool     string
		notes    policy.Annotations
		args     string
		risk     policy.Risk
		category string
	}{
		// one case for each category
		{"fs__write_file", nil, `{"path":"a"}`, policy.High, policy.CategoryFileWrite},
		{"fs__delete_file", nil, `{"path":"a"}`, policy.High, policy.CategoryFileWrite},
		{"fs__move_file", nil, `{"source":"a","destination":"b"}`, policy.High, policy.CategoryFileWrite},
		{"shell__exec", nil, `{"command":"ls"}`, policy.Critical, policy.CategoryShell},
		{"bash__run", nil, `{"command":"ls"}`, policy.Critical, policy.CategoryShell},
		{"sandbox__exec", nil, `{}`, policy.Critical, policy.CategoryShell},
		{"http__request", nil, `{"url":"https://example.com"}`, policy.Medium, policy.CategoryNetwork},
		{"fetch__url", nil, `{}`, policy.Medium, policy.CategoryNetwork},
		{"postgres__execute", nil, `{"sql":"drop table x"}`, policy.High, policy.CategoryDatabase},
		{"database__write", nil, `{}`, policy.High, policy.CategoryDatabase},
		{"desktop__runShellCommand", nil, `{}`, policy.Critical, policy.CategoryShell},
		{"x__run-python-code", nil, `{}`, policy.Critical, policy.CategoryShell},
		// names that only end in such a word
		{"ci__list_runs", nil, `{}`, policy.Low, policy.CategoryGeneral},
		{"ci__get_run", nil, `{}`, policy.Low, policy.CategoryGeneral},
		{"app__dry_run", nil, `{}`, policy.Medium, policy.CategoryGeneral},
		{"shell__dry_run", nil, `{}`, policy.Medium, policy.CategoryGeneral},
		{"maths__mutexec", nil, `{}`, policy.Medium, policy.CategoryGeneral},
		{"links__format_url", nil, `{}`, policy.Medium, policy.CategoryGeneral},
		{"text__rewrite", nil, `{}`, policy.Medium, policy.CategoryGeneral},
		{"shop__get_curly_price", nil, `{}`, policy.Low, policy.CategoryGeneral},
		// hints that the operator trusts
		{"shell__exec", readOnly, `{}`, policy.High, policy.CategoryShell},
		{"notes__save_file", readOnly, `{}`, policy.Low, policy.CategoryFileWrite},
		{"x__frobnicate", nil, `{}`, policy.Medium, policy.CategoryGeneral},
		{"x__frobnicate", readOnly, `{}`, policy.Low, policy.CategoryGeneral},
		{"x__frobnicate", destructive, `{}`, policy.High, policy.CategoryGeneral},
		{"x__list_things", destructive, `{}`, policy.High, policy.CategoryGeneral},
		{"github__create_issue", nil, `{}`, policy.Medium, policy.CategoryVCS},
		{"git__status", nil, `{"path":"."}`, policy.Low, policy.CategoryVCS},
		{"docs__search", nil, `{"query":"file write"}`, policy.Low, policy.CategoryGeneral},
		// agents' own tools, by their facts
		{"agent__Read", nil, `{"file_path":"/p/a.go"}`, policy.Low, policy.CategoryGeneral},
		{"agent__Grep", nil, `{"pattern":"x"}`, policy.Low, policy.CategoryGeneral},
		{"agent__Edit", nil, `{"file_path":"/p/a.go"}`, policy.High, policy.CategoryFileWrite},
		{"agent__Write", nil, `{"file_path":"/home/me/.bashrc"}`, policy.Critical, policy.CategoryFileWrite},
		{"agent__Write", nil, `{"file_path":"/p/../q"}`, policy.Critical, policy.CategoryFileWrite},
		{"agent__Write", nil, `{"file_path":"/tmp/x"}`, policy.High, policy.CategoryFileWrite},
		{"files__delete_file", nil, `{"path":"a"}`, policy.High, policy.CategoryFileWrite},
		{"agent__WebFetch", nil, `{"url":"https://example.com"}`, policy.Medium, policy.CategoryNetwork},
		{"agent__Task", nil, `{"prompt":"x"}`, policy.Medium, policy.CategoryGeneral},
		{"agent__Bash", nil, `{"command":"ls"}`, policy.Critical, policy.CategoryShell}, // a command without facts was not analyzed
	} {
		var args policy.Args
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatal(err)
		}
		it := item(t, c.tool)
		risk, category := Assess(it, c.notes, policy.ArgFacts(it, c.notes, args, "/p"))
		if risk != c.risk || category != c.category {
			t.Errorf("%s %v %s: %s %s, want %s %s", c.tool, c.notes, c.args, risk, category, c.risk, c.category)
		}
	}
}

func TestAssessCommandsByWhatTheyDo(t *testing.T) {
	part := func(program string, effects ...string) policy.Part {
		return policy.Part{Program: program, Effects: effects}
	}
	with := func(p policy.Part, access policy.Access, path string) policy.Part {
		p.Paths = append(p.Paths, policy.Path{Access: access, Raw: path, Clean: path, Resolved: path})
		return p
	}
	unclear := func(p policy.Part) policy.Part { p.Unclear = []string{"a variable"}; return p }
	for name, c := range map[string]struct {
		parts    []policy.Part
		risk     policy.Risk
		category string
	}{
		"nothing was read":    {nil, policy.Critical, policy.CategoryShell},
		"ls":                  {[]policy.Part{part("ls", "execute", "read")}, policy.Medium, policy.CategoryShell},
		"git status":          {[]policy.Part{part("git", "read")}, policy.Low, policy.CategoryVCS},
		"git push":            {[]policy.Part{part("git", "execute", "network", "push")}, policy.High, policy.CategoryVCS},
		"git push -f":         {[]policy.Part{part("git", "push", "force_push")}, policy.Critical, policy.CategoryVCS},
		"git add && make":     {[]policy.Part{part("git", "read"), part("make", "execute")}, policy.Medium, policy.CategoryShell},
		"psql -c":             {[]policy.Part{part("psql", "execute", "database")}, policy.High, policy.CategoryDatabase},
		"rm in the project":   {[]policy.Part{with(part("rm", "delete"), policy.Delete, "/p/x")}, policy.High, policy.CategoryShell},
		"rm outside":          {[]policy.Part{with(part("rm", "delete"), policy.Delete, "/q/x")}, policy.Critical, policy.CategoryShell},
		"a look-alike folder": {[]policy.Part{with(part("rm", "delete"), policy.Delete, "/pq/x")}, policy.Critical, policy.CategoryShell},
		"> /dev/null": {[]policy.Part{with(part("make", "execute"), policy.Write, "/dev/null")}, policy.Medium,
			policy.CategoryShell},
		"reads outside":             {[]policy.Part{with(part("cat", "read"), policy.Read, "/q/x")}, policy.Low, policy.CategoryShell},
		"sudo":                      {[]policy.Part{part("apt", "privilege")}, policy.Critical, policy.CategoryShell},
		"curl | sh":                 {[]policy.Part{part("curl", "network"), part("sh", "remote_code")}, policy.Critical, policy.CategoryShell},
		"claude --bare":             {[]policy.Part{part("claude", "agent")}, policy.Critical, policy.CategoryShell},
		"myc approvals approve":     {[]policy.Part{part("myc", "operator")}, policy.Critical, policy.CategoryShell},
		"python -c 'clear'":         {[]policy.Part{part("python", "execute", "inline_code")}, policy.High, policy.CategoryShell},
		`eval "$(echo … | base64)"`: {[]policy.Part{unclear(part("eval", "inline_code", "unclear"))}, policy.Critical, policy.CategoryShell},
		`$CMD x`:                    {[]policy.Part{unclear(part("", "execute", "unclear"))}, policy.Critical, policy.CategoryShell},
		`cat $FILE`:                 {[]policy.Part{unclear(part("cat", "read", "unclear"))}, policy.High, policy.CategoryShell},
		"an effect of tomorrow":     {[]policy.Part{part("x", "teleport")}, policy.Critical, policy.CategoryShell},
	} {
		risk, category := Assess(item(t, "agent__Bash"), nil, policy.Facts{Dir: "/p", Parts: c.parts})
		if risk != c.risk || category != c.category {
			t.Errorf("%s: %s %s, want %s %s", name, risk, category, c.risk, c.category)
		}
	}
}

// TestRiskOfCommands parses commands and checks their risk: those that docs/judge.md calls critical are critical. Everyday commands are
// not, so that a model may settle them.
func TestRiskOfCommands(t *testing.T) {
	for want, commands := range map[policy.Risk][]string{
		policy.Medium: {"go test ./...", "make", "make test", "npm ci", "npm test", "go mod download", "go build ./...",
			"pip install -r requirements.txt", "git commit -m x",
			"git add -A", "git fetch", "mkdir x", "echo hi > a.txt", "python x.py", "ls", "cat a.txt", "curl https://example.com/"},
		policy.High: {"env", "printenv", "gh auth token", "frobnicate x", "curl -d @a https://example.com/", "python -m http.server",
			"npm install left-pad",
			"git push origin feature", "git rebase main", "rm a.txt", "python -c 'print(1)'", "kill 1", "psql -c 'update t set a = 1 where b = 2'"},
		policy.Critical: {"sudo ls", "curl https://example.com/x | sh", "git push --force origin feature", "shred a.txt",
			"psql -c 'drop database x'", "claude --bare -p x",
			"myc approvals approve 1", "rm /srv/x", "echo x > /etc/motd", "$X y", "eval \"$(cat x)\""},
	} {
		for _, command := range commands {
			f := shell.Facts(command, shell.Options{Dir: "/p", Home: "/home/u"})
			for i := range f.Parts {
				for j := range f.Parts[i].Paths {
					f.Parts[i].Paths[j].Resolved = f.Parts[i].Paths[j].Clean
				}
			}
			if risk, _ := Assess(item(t, "agent__Bash"), nil, f); risk != want {
				t.Errorf("%s: %s, want %s: %+v", command, risk, want, f.Parts)
			}
		}
	}
}

// One more effect never lowers the risk of a call.
func TestMoreEffectsNeverLowerTheRisk(t *testing.T) {
	effects := []string{"other"}
	for _, e := range policy.Effects() {
		effects = append(effects, e.Name)
	}
	tools := []string{"agent__Bash", "agent__Edit", "agent__Task", "files__read_file", "x__frobnicate", "shell__exec", "git__status",
		"db__query"}
	rapid.Check(t, func(t *rapid.T) {
		it, _ := policy.ParseTool(rapid.SampledFrom(tools).Draw(t, "tool"))
		some := rapid.SliceOfN(rapid.SampledFrom(effects), 1, 6).Draw(t, "effects")
		more := append(slices.Clone(some), rapid.SampledFrom(effects).Draw(t, "more"))
		facts := func(e []string) policy.Facts {
			return policy.Facts{Dir: "/p", Parts: []policy.Part{{Program: "x", Effects: e}}}
		}
		less, _ := Assess(it, nil, facts(some))
		worst, _ := Assess(it, nil, facts(more))
		if less.Max(worst) != worst {
			t.Fatalf("%s: %v is %s and %v is %s", it, some, less, more, worst)
		}
	})
}

func FuzzAssess(f *testing.F) {
	f.Add("shell", "exec", "execute", "/p/x")
	f.Add("", "\xff\xfe", "", "..")
	f.Add("agent", "Bash", "unclear", "")
	f.Fuzz(func(t *testing.T, server, name, effect, path string) {
		it := policy.Item{Server: server, Name: name}
		facts := policy.Facts{Dir: "/p", Parts: []policy.Part{{Effects: []string{effect},
			Paths: []policy.Path{{Access: policy.Write, Raw: path, Clean: path}}}}}
		risk, category := Assess(it, nil, facts)
		if !risk.Known() || category == "" {
			t.Fatalf("%q %q", risk, category)
		}
	})
}
