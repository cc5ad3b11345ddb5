package approval

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
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
		risk     Risk
		category string
	}{
		// the table of A30
		{"fs__write_file", nil, `{"path":"a"}`, High, FileWrite},
		{"fs__delete_file", nil, `{"path":"a"}`, High, FileWrite},
		{"fs__move_file", nil, `{"source":"a","destination":"b"}`, High, FileWrite},
		{"shell__exec", nil, `{"command":"ls"}`, Critical, ShellExec},
		{"bash__run", nil, `{"command":"ls"}`, Critical, ShellExec},
		{"sandbox__exec", nil, `{}`, Critical, ShellExec},
		{"http__request", nil, `{"url":"https://example.com"}`, Medium, Network},
		{"fetch__url", nil, `{}`, Medium, Network},
		{"postgres__execute", nil, `{"sql":"drop table x"}`, High, Database},
		{"database__write", nil, `{}`, High, Database},
		{"desktop__runShellCommand", nil, `{}`, Critical, ShellExec},
		{"x__run-python-code", nil, `{}`, Critical, ShellExec},
		// AX7: names that only end in such a word
		{"ci__list_runs", nil, `{}`, Low, General},
		{"ci__get_run", nil, `{}`, Low, General},
		{"app__dry_run", nil, `{}`, Medium, General},
		{"shell__dry_run", nil, `{}`, Medium, General},
		{"maths__mutexec", nil, `{}`, Medium, General},
		{"links__format_url", nil, `{}`, Medium, General},
		{"text__rewrite", nil, `{}`, Medium, General},
		{"shop__get_curly_price", nil, `{}`, Low, General},
		// hints that the operator trusts
		{"shell__exec", readOnly, `{}`, High, ShellExec},
		{"notes__save_file", readOnly, `{}`, Low, FileWrite},
		{"x__frobnicate", nil, `{}`, Medium, General},
		{"x__frobnicate", readOnly, `{}`, Low, General},
		{"x__frobnicate", destructive, `{}`, High, General},
		{"x__list_things", destructive, `{}`, High, General},
		{"github__create_issue", nil, `{}`, Medium, VCS},
		{"git__status", nil, `{"path":"."}`, Low, VCS},
		{"docs__search", nil, `{"query":"file write"}`, Low, General},
		// agents' own tools: what they do
		{"agent__Read", nil, `{"file_path":"/p/a.go"}`, Low, General},
		{"agent__Grep", nil, `{"pattern":"x"}`, Low, General},
		{"agent__Edit", nil, `{"file_path":"/p/a.go"}`, High, FileWrite},
		{"agent__Write", nil, `{"file_path":"/home/me/.bashrc"}`, Critical, FileWrite},
		{"agent__Write", nil, `{"file_path":"/p/../q"}`, Critical, FileWrite},
		{"agent__Write", nil, `{"file_path":"/tmp/x"}`, High, FileWrite},
		{"files__delete_file", nil, `{"path":"a"}`, High, FileWrite},
		{"agent__WebFetch", nil, `{"url":"https://example.com"}`, Medium, Network},
		{"agent__Task", nil, `{"prompt":"x"}`, Medium, General},
		{"agent__Bash", nil, `{"command":"ls"}`, Critical, ShellExec}, // without the facts of the shell it was not read
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
		risk     Risk
		category string
	}{
		"nothing was read":          {nil, Critical, ShellExec},
		"ls":                        {[]policy.Part{part("ls", "execute", "read")}, Medium, ShellExec},
		"git status":                {[]policy.Part{part("git", "read")}, Low, VCS},
		"git push":                  {[]policy.Part{part("git", "execute", "network", "push")}, High, VCS},
		"git push -f":               {[]policy.Part{part("git", "push", "force_push")}, Critical, VCS},
		"git add && make":           {[]policy.Part{part("git", "read"), part("make", "execute")}, Medium, ShellExec},
		"psql -c":                   {[]policy.Part{part("psql", "execute", "database")}, High, Database},
		"rm in the project":         {[]policy.Part{with(part("rm", "delete"), policy.Delete, "/p/x")}, High, ShellExec},
		"rm outside":                {[]policy.Part{with(part("rm", "delete"), policy.Delete, "/q/x")}, Critical, ShellExec},
		"a look-alike folder":       {[]policy.Part{with(part("rm", "delete"), policy.Delete, "/pq/x")}, Critical, ShellExec},
		"> /dev/null":               {[]policy.Part{with(part("make", "execute"), policy.Write, "/dev/null")}, Medium, ShellExec},
		"reads outside":             {[]policy.Part{with(part("cat", "read"), policy.Read, "/q/x")}, Low, ShellExec},
		"sudo":                      {[]policy.Part{part("apt", "privilege")}, Critical, ShellExec},
		"curl | sh":                 {[]policy.Part{part("curl", "network"), part("sh", "remote_code")}, Critical, ShellExec},
		"claude --bare":             {[]policy.Part{part("claude", "agent")}, Critical, ShellExec},
		"myc approvals approve":     {[]policy.Part{part("myc", "operator")}, Critical, ShellExec},
		"python -c 'clear'":         {[]policy.Part{part("python", "execute", "inline_code")}, High, ShellExec},
		`eval "$(echo … | base64)"`: {[]policy.Part{unclear(part("eval", "inline_code", "unclear"))}, Critical, ShellExec},
		`$CMD x`:                    {[]policy.Part{unclear(part("", "execute", "unclear"))}, Critical, ShellExec},
		`cat $FILE`:                 {[]policy.Part{unclear(part("cat", "read", "unclear"))}, High, ShellExec},
		"an effect of tomorrow":     {[]policy.Part{part("x", "teleport")}, Critical, ShellExec},
	} {
		risk, category := Assess(item(t, "agent__Bash"), nil, policy.Facts{Dir: "/p", Parts: c.parts})
		if risk != c.risk || category != c.category {
			t.Errorf("%s: %s %s, want %s %s", name, risk, category, c.risk, c.category)
		}
	}
}

// One thing more that a call would do never makes it look less dangerous.
func TestMoreEffectsNeverLowerTheRisk(t *testing.T) {
	effects := []string{"read", "write", "delete", "execute", "network", "privilege", "push", "force_push", "history", "publish", "install", "inline_code",
		"remote_code", "process", "container", "cloud", "database", "destructive", "agent", "operator", "written_here", "unclear", "other"}
	tools := []string{"agent__Bash", "agent__Edit", "agent__Task", "files__read_file", "x__frobnicate", "shell__exec", "git__status", "db__query"}
	rapid.Check(t, func(t *rapid.T) {
		it, _ := policy.ParseTool(rapid.SampledFrom(tools).Draw(t, "tool"))
		some := rapid.SliceOfN(rapid.SampledFrom(effects), 1, 6).Draw(t, "effects")
		more := append(slices.Clone(some), rapid.SampledFrom(effects).Draw(t, "more"))
		facts := func(e []string) policy.Facts {
			return policy.Facts{Dir: "/p", Parts: []policy.Part{{Program: "x", Effects: e}}}
		}
		less, _ := Assess(it, nil, facts(some))
		worst, _ := Assess(it, nil, facts(more))
		if worse(less, worst) != worst {
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
		facts := policy.Facts{Dir: "/p", Parts: []policy.Part{{Effects: []string{effect}, Paths: []policy.Path{{Access: policy.Write, Raw: path, Clean: path}}}}}
		risk, category := Assess(it, nil, facts)
		if !slices.Contains(Ranks, risk) || category == "" {
			t.Fatalf("%q %q", risk, category)
		}
	})
}
