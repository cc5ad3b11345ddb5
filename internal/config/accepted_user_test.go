package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/backend"
)

// ruleNames are the rules in force.
func ruleNames(p *Project) (out []string) {
	for _, r := range p.Rules {
		out = append(out, r.Name)
	}
	return out
}

// TestUserFilesWait: the user's own files are in force as they were accepted, in every project; what is changed, added or removed waits in
// every project, and is accepted in any.
func TestUserFilesWait(t *testing.T) {
	w := newWorld(t)
	w.write("mycelium.yaml", "{}\n")
	w.writeUser("rules.yaml", rule("mine"))
	w.accept()
	other := filepath.Join(w.home, "other")
	w.mkdir(other)
	inForce := func(want string) {
		t.Helper()
		for _, dir := range []string{w.dir, other, w.user} {
			p, err := Load(Options{Dir: dir})
			if err != nil || p.Broken.All != "" || strings.Join(ruleNames(p), " ") != want {
				t.Errorf("in %s: %q %q %v", dir, ruleNames(p), p.Broken.All, err)
			}
		}
	}
	inForce("mine")
	w.writeUser("rules.yaml", rule("theirs"))
	w.writeUser("mycelium.yaml", "trust: folder\n")
	w.write("rules.yaml", rule("project"))
	inForce("mine")
	for _, dir := range []string{w.dir, other, w.user} {
		p, err := Load(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Candidate()
		if got := names(c.Changes); err != nil || len(got) < 2 || got[0] != "new ~/.config/mycelium/mycelium.yaml" ||
			got[1] != "changed ~/.config/mycelium/rules.yaml" || !c.Changes[1].Yours || !strings.Contains(string(c.Changes[1].Before()), "mine") {
			t.Errorf("in %s: %q %v", dir, got, err)
		}
	}
	w.writeUser("mycelium.yaml", "{}\n")
	w.acceptUser()
	inForce("theirs")
	if err := os.RemoveAll(w.user); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(w.home, "elsewhere")) // neither does a variable take them away
	if p := w.load(); p.Rules[0].Name != "theirs" {
		t.Errorf("%q", ruleNames(p))
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	if got := names(w.waiting().Changes); !slices.Contains(got, "removed ~/.config/mycelium/rules.yaml") {
		t.Errorf("the removal does not wait: %q", got)
	}
}

// TestUnacceptedUserFilesDeny: what was never accepted could restrict, so no call is allowed anywhere; also a skill, which bounds another
// one of its name. A person who has no such files accepts that, and what appears later only waits.
func TestUnacceptedUserFilesDeny(t *testing.T) {
	for name, text := range map[string]string{"rules.yaml": rule("mine"), "mycelium.yaml": "trust: folder\n",
		"skills/reader/SKILL.yaml": aSkill("reader")} {
		w := newWorld(t)
		w.writeUser(name, text)
		p := w.load()
		if !p.User.Missing() || !strings.Contains(p.Broken.All, "nobody has accepted the user's own files (~/.config/mycelium/"+name+")") {
			t.Errorf("%s: %q", name, p.Broken.All)
		}
		if err := p.User.AcceptNone(time.Now()); err != nil || !w.load().User.Missing() {
			t.Errorf("%s: that there are none was accepted: %v", name, err)
		}
		if err := os.RemoveAll(w.user); err != nil {
			t.Fatal(err)
		}
		if err := w.load().User.AcceptNone(time.Now()); err != nil {
			t.Fatal(err)
		}
		w.writeUser(name, text)
		if p = w.load(); p.Broken.All != "" || len(p.Rules)+len(p.Skills) > 0 || p.File.Trust != "" || len(w.waiting().Changes) != 1 {
			t.Errorf("%s took effect: %+v, or does not wait", name, p.File)
		}
	}
}

// TestDamagedUserCopyDenies: nobody knows what a copy that was changed would have restricted.
func TestDamagedUserCopyDenies(t *testing.T) {
	w := newWorld(t)
	w.writeUser("rules.yaml", rule("mine"))
	w.accept()
	p := w.load()
	if err := os.WriteFile(p.User.accepted.Path("rules.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p = w.load(); !strings.Contains(p.Broken.All, "of the user's own files cannot be read") || p.User.Trusted {
		t.Errorf("%q", p.Broken.All)
	}
	if err := os.RemoveAll(w.user); err != nil {
		t.Fatal(err)
	}
	if c := w.waiting(); !c.Waits() {
		t.Error("nothing can be accepted, so it cannot be mended")
	}
	w.accept()
	if p = w.load(); p.Broken.All != "" {
		t.Errorf("%q", p.Broken.All)
	}
}

// TestDigestOfBoth: a digest that was reviewed on another machine is of the project's files, unless the user's own would be accepted too.
func TestDigestOfBoth(t *testing.T) {
	w := governed(t)
	alone := w.waiting().Digest
	w.writeUser("rules.yaml", rule("mine"))
	both := w.waiting().Digest
	w.writeUser("rules.yaml", rule("other"))
	if other := w.waiting().Digest; both == alone || other == both {
		t.Errorf("the digest does not tell the user's files: %s %s %s", alone, both, other)
	}
	w.acceptUser()
	if c := w.waiting(); c.Digest != alone || c.OfUser() || !c.OfProject() {
		t.Errorf("%s, want %s", c.Digest, alone)
	}
}

// TestOwnCandidate: what a command writes into a new project is accepted without the user's files that wait.
func TestOwnCandidate(t *testing.T) {
	w := newWorld(t)
	w.writeUser("rules.yaml", rule("mine"))
	w.acceptUser()
	w.writeUser("rules.yaml", "rulez: []\n")
	w.write("rules.yaml", rule("project"))
	c, err := OwnCandidate(w.load())
	if err == nil {
		err = c.Accept(time.Now())
	}
	if err != nil {
		t.Fatal(err, lines(c.Why))
	}
	if d := cmp.Diff([]string{"mine", "project"}, ruleNames(w.load())); d != "" {
		t.Error(d)
	}
	if c := w.waiting(); len(c.Changes) != 1 || !c.OfUser() || c.OfProject() || len(c.Why) == 0 {
		t.Errorf("%q %q", names(c.Changes), lines(c.Why))
	}
}

// TestWriteUser: an operator's change of the user's files is in force at once, and other lines stay pending.
func TestWriteUser(t *testing.T) {
	w := newWorld(t)
	w.writeUser("rules.yaml", rule("mine"))
	w.accept()
	w.writeUser("rules.yaml", rule("theirs"))
	err := w.load().User.Write(time.Now(), func(folders []string) error {
		for _, f := range folders {
			if err := os.WriteFile(filepath.Join(f, "policies.yaml"), []byte("policies:\n  - {id: pol_1, description: x}\n"), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	if p := w.load(); err != nil || len(p.Policies) != 1 || p.Rules[0].Name != "mine" {
		t.Errorf("%v %+v %q", err, p.Policies, ruleNames(p))
	}
	if got := names(w.waiting().Changes); len(got) != 1 || got[0] != "changed ~/.config/mycelium/rules.yaml" {
		t.Errorf("%q", got)
	}
}

// TestServerOfUser: a file in the user's folder that a server of the user runs governs like the entry.
func TestServerOfUser(t *testing.T) {
	w := newWorld(t)
	w.writeUser("mycelium.yaml", "mcpServers: {srv: {command: python3, args: ["+w.user+"/srv.py]}}\n")
	w.writeUser("srv.py", "print(1)\n")
	w.accept()
	p := w.load()
	srv := p.Servers[slices.IndexFunc(p.Servers, func(s backend.Server) bool { return s.Name == "srv" })]
	if err := p.MayStart(srv); err != nil {
		t.Error(err)
	}
	w.writeUser("srv.py", "print('evil')\n")
	if err := p.MayStart(srv); err == nil || !strings.Contains(err.Error(), "srv.py") {
		t.Errorf("%v", err)
	}
}
