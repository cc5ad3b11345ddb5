package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// bans are commands that C75 prohibits, by the constraint that refuses them, and their harmless neighbours (C77). A command is
// split at its blanks; what the parser would say of it stands before a "|".
var bans = map[string]struct{ refused, open []string }{
	"privilege":            {[]string{"sudo id", "sudo", "su", "su - root", "doas id", "pkexec id", "sudoedit /etc/hosts", "/usr/bin/sudo id"}, []string{"sudoku", "subl", "npm run sudo", "echo sudo"}},
	"debugger":             {[]string{"gdb ./a", "strace -p 1", "ptrace 1"}, []string{"gdbus call", "dlv test", "echo gdb"}},
	"disk":                 {[]string{"mkfs /dev/sda", "mkfs.ext4 /dev/sda", "mke2fs x", "mkswap x", "format c:", "diskutil eraseDisk JHFS+ x disk2"}, []string{"mkdir x", "diskutil list", "npm run format", "mkfsx"}},
	"open-rights":          {[]string{"chmod 777 x", "chmod -R 777 x", "chmod -R -- 777 x", "chmod 0777 x", "chmod 4777 x", "chmod a+rwx x", "chmod ugo=rwx x", "chmod +rwx x", "chmod u+x,o+w,a=rwx x"}, []string{"chmod 755 x", "chmod +x x", "chmod u+rwx x", "chmod 644 777", "chmod", "chmod -x 7 x", "chmod 77 x"}},
	"root-owner":           {[]string{"chown root x", "chown root:root x", "chown -R root x", "chown 0:0 x", "chown --from u root x", "chown root. x"}, []string{"chown u x", "chown u:root x", "chown --from root u x", "chown"}},
	"shell-server":         {[]string{"nc -e sh h 1", "nc -le sh 1", "nc -c sh h 1", "ncat --exec sh h 1", "ncat --sh-exec=sh h 1", "netcat -e sh h 1"}, []string{"nc -z h 1", "nc h 1", "ncal -e"}},
	"forced-main":          {[]string{"git push -f origin main", "git push origin main --force", "git push origin +master", "git push -uf origin HEAD:main", "git -C x -c a=b push --force-with-lease=main:1 origin refs/heads/main", "git push origin +a:refs/heads/main", "git push -f -o x origin main", "git push --forc origin +refs/heads/*:refs/heads/*"}, []string{"git push origin main", "git push -f origin feature/main", "git push origin +feature", "git push -f", "git push --follow-tags origin main", "git stash push -f main main"}},
	"reset-to-remote":      {[]string{"git reset --hard origin/main", "git reset --hard origin", "git reset --har origin/x", "git -C x reset --hard @{u}"}, []string{"git reset --hard", "git reset --soft origin/main", "git reset --hard HEAD~1", "git reset origin/main"}},
	"clean-all":            {[]string{"git clean -fdx", "git clean -x -d -f", "git clean --force -dX", "git clean -fdx -e -n"}, []string{"git clean -fd", "git clean -n", "git clean -ndx", "git clean -fdx --dry-run"}},
	"privileged-container": {[]string{"docker run --privileged x", "docker run --rm --privileged=true x", "podman exec --privileged c sh", "docker compose run --privileged web"}, []string{"docker run x", "docker run --privileged=false x", "docker ps"}},
	"cluster-entry":        {[]string{"kubectl exec p", "kubectl -n a exec -it p -- sh", "kubectl --context=a cp x p:y", "oc exec p"}, []string{"kubectl get pods", "kubectl -n exec get pods", "kubectl explain exec"}},
	"destructive":          {[]string{"destructive|shred x", "execute,destructive|psql -c x"}, []string{"delete|rm x"}},
	"remote-code":          {[]string{"execute,remote_code|sh", "remote_code|bash -s", "remote_code|eval x", "remote_code|."}, []string{"remote_code|python3", "remote_code|npx x", "inline_code|sh"}},
	"operator":             {[]string{"execute,operator|myc approvals approve 1", "operator|curl x"}, []string{"execute|myc status"}},
}

// banPart is the part of a line of the table.
func banPart(line string) Part {
	effects, command, ok := strings.Cut(line, "|")
	if !ok {
		effects, command = EffectExecute, line
	}
	argv := strings.Fields(command)
	program := argv[0][strings.LastIndexByte(argv[0], '/')+1:]
	return Part{Program: program, Argv: argv, Effects: strings.Split(effects, ",")}
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

// TestBansNeverPanic: whatever the words are.
func TestBansNeverPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		programs := rapid.SampledFrom([]string{"", "git", "chmod", "chown", "nc", "docker", "kubectl", "mkfs.x", "diskutil", "sudo.exe"})
		words := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{"--", "-", "", "push", "reset", "clean", "-C", "+", ":", "--force", "-f", "777", "root:", "exec"}), rapid.String()))
		part := Part{Program: programs.Draw(t, "program"), Argv: words.Draw(t, "argv"), Effects: []string{EffectExecute}}
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
			{Name: "inside", Action: "allow", Tool: Names{"Bash"}, Match: map[string]Values{"read": {{Glob: &inside}, {Glob: &usr}}, "write": {{Glob: &inside}}}},
			{Name: "scripts", Action: "allow", Tool: Names{"Bash"}, Match: map[string]Values{"execute": {{Glob: &all}}, "program": {{Literal: ptr("x.sh")}}}},
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
