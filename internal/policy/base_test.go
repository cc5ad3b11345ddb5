package policy

import (
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy/protected"
)

// baseSamples has, for each base constraint, paths that it refuses. Each is tried as written, cleaned and resolved, in upper case, and
// with a call of every access that the constraint speaks of.
var baseSamples = map[string][]string{
	"passwd":    {"/etc/passwd", "/etc/passwd-"},
	"shadow":    {"/etc/shadow", "/etc/gshadow", "/etc/shadow-"},
	"sudoers":   {"/etc/sudoers", "/etc/sudoers.d/90-me"},
	"etc-ssh":   {"/etc/ssh/ssh_host_ed25519_key", "/etc/ssh"},
	"root-home": {"/root/.bashrc", "/root"},
	"boot":      {"/boot/vmlinuz", "/boot/grub/grub.cfg"},
	"kcore":     {"/proc/kcore"},
	"dev-mem":   {"/dev/mem", "/dev/kmem"},
	"ssh": {"/home/dev/.ssh/id", "/home/other/.ssh/config", "/Users/me/.ssh/x", "~/.ssh/x", "/home/dev/.\u017f\u017fh/x",
		"/home/dev/.s\u200csh/x"},
	"gnupg":               {"/home/dev/.gnupg/secring.gpg"},
	"aws":                 {"/home/dev/.aws/config"},
	"gcloud":              {"/home/dev/.config/gcloud/access.db"},
	"azure":               {"/home/dev/.azure/x"},
	"kube":                {"/home/dev/.kube/config", "/home/dev/.\u212aube/config"},
	"docker-config":       {"/home/dev/.docker/config.json"},
	"env-production":      {"/p/.env.production", "/p/a/b/.env.production", ".env.production"},
	"env-local":           {"/p/.env.local", "/tmp/.Env.Local"},
	"credentials-json":    {"/p/credentials.json"},
	"credentials-yaml":    {"/p/credentials.yaml", "/p/x/credentials.yml"},
	"secrets-json":        {"/p/secrets.json"},
	"secrets-yaml":        {"/p/secrets.yaml", "/p/secrets.yml", "/p/secrets.toml"},
	"id-rsa":              {"/p/id_rsa", "/tmp/keys/id_rsa"},
	"id-dsa":              {"/p/id_dsa", "/tmp/keys/id_dsa"},
	"id-ecdsa":            {"/p/id_ecdsa", "/tmp/keys/id_ecdsa"},
	"id-ed25519":          {"/p/id_ed25519"},
	"windows-system":      {`C:\Windows\System32\drivers\etc\hosts`, "c:/windows/SysWOW64/x", "/mnt/c/Windows/System32"},
	"windows-registry":    {`C:\Windows\NTDS\ntds.dit`},
	"windows-credentials": {`C:\Users\me\AppData\Roaming\Microsoft\Credentials\x`},
	"mycelium-config":     {"/p/mycelium.yaml", "/p/config.json", "/p/.mcp.json", "/tmp/x/mycelium.yaml", "sub/mycelium.yaml"},
	"mycelium-skills":     {"/p/skills/a/SKILL.md", "/p/roles/dev.yaml", "/p/rules.yaml", "/p/protocols/x", "/p/workflows/x", "/p/skills"},
	"mycelium-worktrees":  {"/p/.git/worktrees/x/gitdir", "/p/.git/worktrees", "/elsewhere/.git/worktrees/x/commondir"},
	"mycelium-state":      {"/p/.mycelium/mycelium.db", "/p/.mycelium"},
	"mycelium-user":       {"/home/dev/.config/mycelium/rules.yaml", "/home/dev/.local/state/mycelium/key"},
	"mycelium-programs":   {"/p/bin/myc", "/home/dev/bin/myc-hook", "bin/myc"},
	"claude-settings": {"/p/.claude/settings.json", "/p/.claude/settings.local.json", "/home/dev/.claude/settings.json",
		"/home/dev/.claude.json", "/tmp/wt/.claude/settings.json", "/p/sub/.claude/settings.local.json", ".claude/settings.json",
		"/p/../wt/.claude/Settings.json"},
	"codex-settings":  {"/p/.codex/config.toml", "/home/dev/.codex/hooks.json", "/tmp/wt/.codex/config.toml", "/p/sub/.codex"},
	"gemini-settings": {"/p/.gemini/settings.json", "/home/dev/.gemini/settings.json", "/tmp/wt/.gemini/settings.json"},
	"crush-settings": {"/p/crush.json", "/p/.crush.json", "/home/dev/.config/crush/crush.json", "/tmp/wt/crush.json",
		"/p/sub/.crush.json"},
	"cursor-settings": {"/p/.cursor/mcp.json", "/p/sub/.cursor/hooks.json", "/p/.cursor/cli.json", "/home/dev/.cursor/mcp.json",
		"/home/dev/.cursor/cli-config.json", ".cursor/mcp.json"},
	"windsurf-settings": {"/p/.windsurf/hooks.json", "/home/dev/.codeium/windsurf/mcp_config.json", "/home/dev/.codeium/windsurf"},
	"vscode-settings":   {"/p/.vscode/mcp.json", "/p/sub/.vscode/mcp.json", "/home/dev/.config/Code/User/mcp.json"},
	"copilot-hooks":     {"/p/.github/hooks", "/p/.github/hooks/pre.json", "/p/sub/.github/hooks/x.json", ".github/hooks/pre.json"},
	"zed-settings":      {"/p/.zed/settings.json", "/home/dev/.config/zed/settings.json"},
}

func TestBaseConstraints(t *testing.T) {
	b := compileBase("/p", "/home/dev", nil, "")
	paths := 0
	for name := range baseSamples {
		if !slices.ContainsFunc(protected.Constraints(), func(c protected.Constraint) bool { return c.Name == name }) {
			t.Errorf("there is no constraint %s", name)
		}
	}
	for _, c := range protected.Constraints() {
		samples := baseSamples[c.Name]
		if len(samples) == 0 {
			t.Errorf("constraint %s has no test", c.Name)
		}
		if !c.ChangeOnly && !strings.HasPrefix(c.Name, "mycelium") {
			paths++
		}
		for _, s := range samples {
			for _, p := range []Path{{Raw: s}, {Raw: "x", Clean: s}, {Raw: "x", Clean: "/p/x", Resolved: s}, {Raw: strings.ToUpper(s)}} {
				if s[0] == '~' && p.Raw == "x" {
					continue // only a path as written has it
				}
				for _, a := range []Access{Read, Write, Delete, Execute, ""} {
					p.Access = a
					r := b.refuses(&Facts{Dir: "/p"}, &p)
					want := !c.ChangeOnly || a != Read && a != Execute
					if (r != nil) != want || r != nil && r.name != "base:"+c.Name {
						t.Errorf("%s: %+v: refused by %v, want %v", c.Name, p, r, want)
					}
				}
			}
		}
	}
	if paths != 28 {
		t.Errorf("%d prohibited paths, want the 26 of C75, and two more kinds of keys", paths)
	}
}

func TestBaseConstraintsLeaveAlone(t *testing.T) {
	for _, dir := range []string{"/p", "/root/p", "/root"} {
		b := compileBase(dir, "/root", nil, "")
		for _, s := range []string{"/a.go", "/.env.example", "/.env", "/src/secret_santa.md", "/src/secrets/a.go", "/skillset/a",
			"/my.credentials.json.md", "/config.json.bak", "/sub/config.json", "/sub/skills/a.go", "/id_rsa.pub", "/sub/.mcp.json",
			"/sub/settings.json", "/.vscode/settings.json", "/x.claude/settings.json", "/.claude/commands/a.md", "/sub/mycelium.yaml.md",
			"/.gemini/GEMINI.md", "/mycrush.json", "/.cursor/rules/a.mdc", "/.windsurf/rules/a.md", "/mcp.json", "/.zed/tasks.json"} {
			p := Path{Access: Write, Raw: "." + s, Clean: dir + s, Resolved: dir + s}
			if r := b.refuses(&Facts{Dir: dir}, &p); r != nil {
				t.Errorf("%s refused by %s", p.Clean, r.name)
			}
		}
	}
	b := compileBase("/root/p", "/root", nil, "")
	for s, want := range map[string]string{"/root/x": "base:root-home", "/root/px/y": "base:root-home", "/root/p/../x": "base:root-home",
		"/root/p/skills/x": "base:mycelium-skills", "/root/.ssh/x": "base:root-home"} {
		p := Path{Access: Write, Raw: s, Clean: cleanPath("/", s)}
		if r := b.refuses(&Facts{}, &p); r == nil || r.name != want {
			t.Errorf("%s: %v, want %s", s, r, want)
		}
	}
	// A link inside the project that leads to the home of root is outside.
	p := Path{Access: Read, Raw: "l", Clean: "/root/p/l", Resolved: "/root/.bashrc"}
	if r := b.refuses(&Facts{}, &p); r == nil {
		t.Error("a link out of the project is not refused")
	}
}

// TestProgramsAreProtected: the programs of a policy may be run and read, and not changed or taken away with a folder, in the project too.
func TestProgramsAreProtected(t *testing.T) {
	b := compileBase("/work/p", "/home/dev", []string{"/work/p/bin/myc", "/opt/m/myc-hook", "relative"}, "")
	for _, s := range []string{"/work/p/bin/myc", "/opt/m/myc-hook"} {
		for a, want := range map[Access]bool{Read: false, Execute: false, Write: true, Delete: true} {
			p := Path{Access: a, Raw: s, Clean: s, Resolved: s}
			if r := b.refuses(&Facts{}, &p); (r != nil) != want || want && r.name != "base:mycelium-programs" {
				t.Errorf("%s %s: %v", a, s, r)
			}
		}
	}
	for s, want := range map[string]bool{"/work/p/sub/bin/myc": true, "/home/dev/bin/myc-hook": true,
		"/work/p/cmd/myc": false, "/work/p/bin/mycroft": false} {
		p := Path{Access: Write, Raw: s, Clean: s, Resolved: s}
		if got := b.refuses(&Facts{}, &p) != nil; got != want {
			t.Errorf("write %s: %t", s, got)
		}
	}
	for s, want := range map[string]bool{"/work/p/bin": true, "/opt/m": true, "/work/p/bin/other": false, "/work/p/src": false} {
		p := Path{Access: Delete, Raw: s, Clean: s, Resolved: s}
		if got := b.refuses(&Facts{}, &p) != nil; got != want {
			t.Errorf("delete %s: %t", s, got)
		}
	}
}

// TestBaseConstraintsRemoval: with a folder goes what is protected in it.
func TestBaseConstraintsRemoval(t *testing.T) {
	b := compileBase("/work/p", "/home/dev", nil, "")
	for s, want := range map[string]bool{"/": true, "/etc": true, "/etc/": true, "/work": true, "/work/p": true, "/home/dev": true,
		"/home/dev/.config": true, "/home": true, "/proc": true, "/work/p/src": false, "/tmp/x": false, "/work/p/node_modules": false,
		"/opt": false} {
		p := Path{Access: Delete, Raw: s, Clean: s}
		if got := b.refuses(&Facts{}, &p) != nil; got != want {
			t.Errorf("delete %s: refused %v, want %v", s, got, want)
		}
		p.Access = Read
		if s != "/etc/passwd" && b.refuses(&Facts{}, &p) != nil {
			t.Errorf("read %s is refused", s)
		}
	}
}

// TestStateIsProtected: an agent neither reads nor changes state and keys, wherever they are.
func TestStateIsProtected(t *testing.T) {
	b := compileBase("/work/p", "/home/dev", nil, "/x/state/mycelium")
	for s, want := range map[string]bool{"/x/state/mycelium/keys/p-1/daemon.key": true, "/x/state/mycelium": true,
		"/x/state/mycelium2": false} {
		for _, a := range []Access{Read, Write, Delete, Execute} {
			p := Path{Access: a, Raw: s, Clean: s, Resolved: s}
			if r := b.refuses(&Facts{}, &p); (r != nil) != want || want && r.name != "base:mycelium-state" {
				t.Errorf("%s %s: %v", a, s, r)
			}
		}
	}
}
