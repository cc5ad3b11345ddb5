package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// bans are parts that the constraints of C75 refuse, by the constraint, and their harmless neighbours (C77). A part is written as
// EFFECTS|PROGRAM or EFFECTS|PROGRAM|BRANCHES. Which commands have which effects is tested in package shell.
var bans = map[string]struct{ refused, open []string }{
	"privilege": {[]string{"|sudo", "|su", "|doas", "|pkexec", "|sudoedit", "|sudo.exe"},
		[]string{"|sudoku", "|subl", "|npm", "privilege|apt-get"}},
	"debugger": {[]string{"|gdb", "|strace", "|ptrace"}, []string{"|gdbus", "|dlv"}},
	"disk": {[]string{"|mkfs", "|mkfs.ext4", "|mke2fs", "|mkswap", "|format"},
		[]string{"|mkdir", "|npm", "|mkfsx", "|diskutil"}},
	"open-rights":          {[]string{"open_rights|chmod"}, []string{"write|chmod", "privilege|chmod"}},
	"root-owner":           {[]string{"root_owner|chown"}, []string{"privilege|chown"}},
	"shell-server":         {[]string{"shell_server|nc"}, []string{"network,upload|nc"}},
	"reset-to-remote":      {[]string{"history,reset_to_remote|git"}, []string{"history|git"}},
	"clean-all":            {[]string{"history,clean_ignored|git"}, []string{"history|git"}},
	"privileged-container": {[]string{"container,host_rights|docker"}, []string{"container|docker", "privilege|docker"}},
	"cluster-entry":        {[]string{"container,cluster_entry|kubectl"}, []string{"container,cloud|kubectl"}},
	"destructive":          {[]string{"destructive|shred", "execute,destructive|psql"}, []string{"delete|rm"}},
	"remote-code": {[]string{"execute,remote_code|sh", "remote_code|bash", "remote_code|eval", "remote_code|."},
		[]string{"remote_code|python3", "remote_code|npx", "inline_code|sh"}},
	"operator": {[]string{"execute,operator|myc", "operator|curl"}, []string{"execute|myc"}},
	"forced-main": {
		[]string{
			"push,force_push|git", "force_push|git|main", "force_push|git|feature,master", "force_push|git|refs/heads/main",
			"force_push|git|heads/main",
			"force_push|git|HEAD", "force_push|git|@", "force_push|git|*", "force_push|git|refs/heads/*", "force_push|git|refs/*",
			"force_push|git|m*", "force_push|git|ma*r",
		},
		[]string{"push|git", "push|git|main", "force_push|git|feature", "force_push|git|feature/main", "force_push|git|refs/tags/main",
			"force_push|git|refs/tags/*", "force_push|git|feature/*", "force_push|git|mainline"},
	},
}

// banPart is the part of a line of the table.
func banPart(line string) Part {
	fields := strings.Split(line, "|")
	part := Part{Program: fields[1], Argv: []string{fields[1]}, Effects: []string{EffectExecute}}
	if fields[0] != "" {
		part.Effects = append(part.Effects, strings.Split(fields[0], ",")...)
	}
	if len(fields) > 2 {
		part.Branches = strings.Split(fields[2], ",")
	}
	return part
}

// TestRefusedEffects: the table of effects says which of them a base constraint refuses.
func TestRefusedEffects(t *testing.T) {
	for _, e := range Effects() {
		part := Part{Program: "sh", Effects: []string{e.Name}}
		if got := banned(&part) != nil; got != e.Refused {
			t.Errorf("%s: refused %v, and the table says %v", e.Name, got, e.Refused)
		}
	}
}

func TestBans(t *testing.T) {
	for name, c := range bans {
		for _, s := range c.refused {
			part := banPart(s)
			if r := banned(&part); r == nil || r.name != "base:"+name {
				t.Errorf("%s: %v, want base:%s", s, r, name)
			}
		}
		for _, s := range c.open {
			part := banPart(s)
			if r := banned(&part); r != nil {
				t.Errorf("%s is refused by %s", s, r.name)
			}
		}
	}
	for path, want := range map[string]string{
		"/dev/sda": "base:disk", "/dev/nvme0n1p1": "base:disk", "/dev/mapper/x": "base:disk", "/dev/null": "", "/dev/stdout": "",
		"/": "base:destructive", "/usr": "base:destructive", "/usr/x": "", "/tmp": "", "/tmp/x": "",
	} {
		for _, p := range []Path{{Access: Delete, Clean: path}, {Access: Delete, Clean: "/p/link", Resolved: path}} {
			got := ""
			if r := banned(&Part{Paths: []Path{p}}); r != nil {
				got = r.name
			}
			if got != want {
				t.Errorf("delete %+v: %q, want %q", p, got, want)
			}
		}
	}
	if r := banned(&Part{Paths: []Path{{Access: Write, Clean: "/usr"}, {Access: Read, Clean: "/dev/sda"}}}); r != nil {
		t.Errorf("writing below the root and reading a disk is refused by %s", r.name)
	}
}

// TestBansNeverPanic: whatever the facts are.
func TestBansNeverPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		effects := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{EffectForcePush, EffectRemoteCode, EffectOpenRights}), rapid.String()))
		branches := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{"", "*", "**", "refs/", "refs/heads/", "HEAD", "main"}), rapid.String()))
		part := Part{Program: rapid.String().Draw(t, "program"), Effects: effects.Draw(t, "effects"), Branches: branches.Draw(t, "branches")}
		banned(&part)
	})
}

// TestBansHoldForEveryConfiguration: no rule, role or fallback opens what is banned.
func TestBansHoldForEveryConfiguration(t *testing.T) {
	var refused []string
	for _, c := range bans {
		refused = append(refused, c.refused...)
	}
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		src.Fallback = Fallback{MCP: "allow", Agent: "allow"}
		src.Rules = append(src.Rules, Rule{Name: "everything", Action: "allow", Tool: Names{"*"}})
		src.Grants = append(src.Grants, Grant{Name: "all", AllowedRoles: []string{"*"}, AllowedTools: []string{"agent__Bash"}})
		p, _ := New(src)
		s := Scope{Principal: Principal{ID: "x", Role: rapid.SampledFrom(lawRoles).Draw(t, "role")}}
		s.Skills = p.StartSkills(s.Principal.Role)
		part := banPart(rapid.SampledFrom(refused).Draw(t, "command"))
		harmless := Part{Program: "ls", Argv: []string{"ls"}, Effects: []string{EffectExecute, EffectRead}}
		for _, parts := range [][]Part{{part}, {harmless, part}, {part, harmless}} {
			c := Call{Scope: s, Item: Item{Server: AgentServer, Name: "Bash"}, Facts: Facts{Dir: "/p", Parts: parts}}
			if d := p.Decide(c); d.Effect != Deny {
				t.Fatalf("%v: %+v", parts, d)
			}
		}
	})
}

func TestRulesByAccess(t *testing.T) {
	inside, usr, all := "./**", "/usr/**", "**"
	p, probs := New(Source{
		Dir: "/p", Home: "/home/dev", Fallback: Fallback{Agent: "ask"},
		Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__Bash"}}},
		Rules: []Rule{
			{Name: "git", Action: "deny", Tool: Names{"*"}, Match: map[string]Values{"write": {{Glob: ptr("**/.git/**")}}}},
			{Name: "inside", Action: "allow", Tool: Names{"Bash"}, Match: map[string]Values{"read": {{Glob: &inside}, {Glob: &usr}},
				"write": {{Glob: &inside}}}},
			{Name: "scripts", Action: "allow", Tool: Names{"Bash"}, Match: map[string]Values{"execute": {{Glob: &all}},
				"program": {{Literal: ptr("x.sh")}}}},
		},
	})
	if len(probs) > 0 {
		t.Fatal(probs)
	}
	at := func(a Access, s string) Path { return Path{Access: a, Raw: s, Clean: s, Resolved: s} }
	for _, c := range []struct {
		want  string
		paths []Path
	}{
		{"inside", nil},
		{"inside", []Path{at(Read, "/usr/x")}},
		{"inside", []Path{at(Read, "/usr/x"), at(Write, "/p/x")}},
		{"", []Path{at(Read, "/p/x"), at(Write, "/usr/x")}},
		{"", []Path{at(Read, "/p/x"), at(Delete, "/p/x")}}, // no word about deleting
		{"", []Path{at(Read, "/p/x"), at(Execute, "/p/x")}},
		{"", []Path{{Access: Read, Raw: "x", Clean: "/p/x"}}}, // not resolved
		{"git", []Path{at(Write, "/p/.git/config")}},
		{"inside", []Path{at(Read, "/p/.git/config")}},
	} {
		call := Call{
			Scope: Scope{Principal: Principal{ID: "x", Role: "dev"}, Skills: []string{"s"}}, Item: Item{Server: AgentServer, Name: "Bash"},
			Facts: Facts{Dir: "/p", Parts: []Part{{Program: "cp", Argv: []string{"cp"}, Paths: c.paths, Effects: []string{EffectExecute}}}},
		}
		if d := p.Decide(call); d.Rule != c.want {
			t.Errorf("%+v: decided by %q, want %q", c.paths, d.Rule, c.want)
		}
	}
}
