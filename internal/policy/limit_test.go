package policy

import (
	"strings"
	"testing"
)

func bash(commands ...string) Facts {
	f := Facts{Dir: "/p"}
	for _, c := range commands {
		argv := strings.Fields(c)
		part := Part{Argv: argv, Effects: []string{"execute"}}
		if len(argv) > 0 {
			part.Program = argv[0][strings.LastIndexByte(argv[0], '/')+1:]
		}
		f.Parts = append(f.Parts, part)
	}
	return f
}

// TestLimits: agent__Bash(git *) shows the tool, and a call must stay within one of the limits of the active skills.
func TestLimits(t *testing.T) {
	skill := func(name string, tools ...string) Grant {
		return Grant{Name: name, AllowedRoles: []string{"dev"}, AllowedTools: tools}
	}
	p, problems := New(Source{Dir: "/p", Home: "/home/dev", Fallback: Fallback{Agent: "allow"}, Grants: []Grant{
		skill("git", "agent__Bash(git *)", "agent__Bash(ls:*)", "agent__Bash(npm run test)"),
		skill("make", "agent__Bash(make*)", "agent__Write(src/**)", "agent__WebFetch(domain:*.example.com)"),
		skill("free", "agent__Bash", "agent__Bash(git *)"),
		skill("twice", "agent__Bash(git *)", "agent__Bash(go *)"), skill("twice", "agent__Bash(git log *)", "agent__Bash(go *)"),
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	unclear := bash("git status")
	unclear.Parts[0].Unclear = []string{"$X"}
	call := func(tool string, facts Facts, skills ...string) Decision {
		return p.Decide(Call{Item: Item{Server: AgentServer, Name: tool}, Facts: facts,
			Scope: Scope{Principal: Principal{Role: "dev"}, Skills: skills}})
	}
	for _, c := range []struct {
		facts  Facts
		skills string
		want   Effect
	}{
		{bash("git status"), "git", Allow},
		{bash("git"), "git", Allow},
		{bash("/usr/bin/git log"), "git", Allow},
		{bash("gitx status"), "git", Deny},
		{bash("ls -la"), "git", Allow},
		{bash("lsof"), "git", Deny},
		{bash("npm run test"), "git", Allow},
		{bash("npm run test2"), "git", Deny},
		{bash("npm run test x"), "git", Deny},
		{bash("git status", "ls"), "git", Allow},
		{bash("git status", "rm -rf x"), "git", Deny},
		{bash(), "git", Deny},
		{bash(""), "git", Deny},
		{unclear, "git", Deny},
		{bash("makefile"), "make", Allow},
		{bash("git status", "make"), "git make", Allow},
		{bash("git status", "make"), "make", Deny},
		{bash("rm -rf x"), "git free", Allow},
		{bash("rm -rf x"), "free", Allow},
		{bash("git log -1"), "twice", Allow},
		{bash("git status"), "twice", Deny},
		{bash("go test"), "twice", Allow},
	} {
		d := call("Bash", c.facts, strings.Fields(c.skills)...)
		if d.Effect != c.want || d.Unknown {
			t.Errorf("%v with %s: %+v, want %v", c.facts.Parts, c.skills, d, c.want)
		}
		if d.Effect == Deny && (d.Rule == "" || !strings.Contains(d.Reason, "agent__Bash(")) {
			t.Errorf("the refusal does not say why: %+v", d)
		}
	}
	if d := call("Bash", bash("git status")); !d.Unknown {
		t.Errorf("no skill active: %+v", d)
	}
	for path, want := range map[string]Effect{"src/a.go": Allow, "/p/src/a.go": Allow, "lib/a.go": Deny, "src/../lib/a": Deny} {
		it := Item{Server: AgentServer, Name: "Write"}
		if d := call("Write", ArgFacts(it, nil, Args{"file_path": path}, "/p").WithoutLinks(), "make"); d.Effect != want {
			t.Errorf("Write %s: %+v", path, d)
		}
	}
	for url, want := range map[string]Effect{"https://a.example.com/": Allow, "https://example.org/": Deny, "nonsense": Deny} {
		it := Item{Server: AgentServer, Name: "WebFetch"}
		if d := call("WebFetch", ArgFacts(it, nil, Args{"url": url}, "/p"), "make"); d.Effect != want {
			t.Errorf("WebFetch %s: %+v", url, d)
		}
	}
}

func TestLimitsThatCannotBeRead(t *testing.T) {
	for _, s := range []string{"agent__Bash(", "agent__Bash()", "agent__*(x)", "Bash(git *)", "agent__Bash(git *",
		"agent__WebFetch(domain:[)"} {
		p, problems := New(Source{Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__Read", s}}}})
		if len(problems) != 1 || problems[0].Warning {
			t.Errorf("%s: %v", s, problems)
		}
		if p.Visible(Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item{Server: AgentServer, Name: "Read"}) {
			t.Errorf("%s: the skill takes effect", s)
		}
	}
}
