package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// scripting is a project whose guest has the shell and the editor, and whose rules ask where something runs that was written in the
// session.
func scripting(t *testing.T) *house {
	t.Helper()
	p := three()
	p.skills[0].AllowedTools = append(p.skills[0].AllowedTools, "agent__Bash", "agent__Write")
	written, all := policy.EffectWrittenHere, policy.Names{"agent__Bash", "agent__Write"}
	p.rules = []policy.Rule{
		{Name: "own-scripts", Action: "ask", Tool: all, Match: map[string]policy.Values{"effect": {{Literal: &written}}}},
		{Name: "work", Action: "allow", Tool: all},
	}
	return build(t, p)
}

func bash(command string) Request {
	args, _ := json.Marshal(map[string]string{"command": command})
	return request("agent__Bash", string(args))
}

// runs admits a call and ends it; it returns the rule that refused it, or nothing.
func (h *house) runs(t *testing.T, s *session.Session, r Request) string {
	t.Helper()
	a, err := h.Admit(t.Context(), s, r)
	if err != nil {
		return denied(t, err).Decision.Rule
	}
	a.Done(t.Context(), Reply{Result: []byte(`{}`)}, nil)
	return ""
}

// TestWrittenThenRun: what a session wrote, by its editor or its shell, does not run unasked (W3), in this process or in the next.
func TestWrittenThenRun(t *testing.T) {
	h := scripting(t)
	s := h.enter("guest")
	for _, command := range []string{"bash old.sh", "make", "bash x.sh", "python3 tool.py"} {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Fatalf("%s was refused by %s before anything was written", command, rule)
		}
	}
	for _, r := range []Request{
		request("agent__Write", `{"file_path":"x.sh","content":"rm -rf ~"}`), bash("echo x > Makefile"), bash("cp /tmp/x bin/run"),
		bash("sed -i s/a/b/ tool.py"), bash("ln -s /tmp/evil y.sh"),
	} {
		if rule := h.runs(t, s, r); rule != "" {
			t.Fatalf("%s was refused by %s", r.Args, rule)
		}
	}
	asks := []string{"bash x.sh", "sh ./x.sh", ". x.sh", "source x.sh", "./x.sh", "cat a; bash -c './x.sh'", "sudo -n bash x.sh", "make test",
		"bin/run", "python3 tool.py", "./y.sh", "cd bin && ./run", "bash < x.sh", "xargs -n1 ./x.sh < list"}
	for _, command := range asks {
		if rule := h.runs(t, s, bash(command)); rule != "own-scripts" && !strings.HasPrefix(rule, "base:") {
			t.Errorf("%s: %q", command, rule)
		}
	}
	for _, command := range []string{"bash old.sh", "cat x.sh", "python3 other.py", "go test ./...", "make -C sub"} {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Errorf("%s was refused by %s", command, rule)
		}
	}
	if rule := h.runs(t, h.enter("guest"), bash("bash x.sh")); rule != "" {
		t.Errorf("another session was refused by %s", rule)
	}
	next := facts.NewWritten(filepath.Join(h.dir, "written"), s.ID, h.dir)
	for _, name := range []string{"x.sh", "Makefile", "bin/run", "tool.py", "y.sh"} {
		path := filepath.Join(h.dir, name)
		f := policy.Facts{Parts: []policy.Part{{Paths: []policy.Path{{Access: policy.Execute, Clean: path}}}}}
		if next.Mark(&f); !slices.Contains(f.Parts[0].Effects, policy.EffectWrittenHere) {
			t.Errorf("the next process does not know that %s was written", name)
		}
	}
	if info, err := os.Stat(filepath.Join(h.dir, "written", s.ID)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// TestARefusedCallWroteNothing: only what ran is remembered.
func TestARefusedCallWroteNothing(t *testing.T) {
	h := scripting(t)
	s := h.enter("guest")
	if rule := h.runs(t, s, bash("echo x > z.sh; sudo true")); rule == "" {
		t.Fatal("it ran")
	}
	if rule := h.runs(t, s, bash("bash z.sh")); rule != "" {
		t.Errorf("refused by %s", rule)
	}
}

// TestUnpackedIntoTheProject: what a session wrote or fetched is not unpacked into the project folder unasked, where the names that it
// brings may be those of the files that govern the agent (W6). An archive that was there before is.
func TestUnpackedIntoTheProject(t *testing.T) {
	h := scripting(t)
	s := h.enter("guest")
	unpack := func(archive, folder string) []string {
		return []string{
			"tar -xzf " + archive, "tar xf " + archive, "cat " + archive + " | tar x", "unzip " + archive, "7z x " + archive,
			"rsync -a " + folder + "/ .", "cp -r " + folder + "/. .", "tar -C . -xf " + archive, "base64 -d " + archive + " | tar xz",
		}
	}
	for _, command := range append(unpack("old.tgz", "/tmp/old"), "tar xf old.tgz -C sub") {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Errorf("%s was refused by %s before anything was written", command, rule)
		}
	}
	for _, command := range []string{"tar czf new.tgz sub", "cp new.tgz /tmp/new.tgz", "mkdir -p /tmp/new/skills",
		"echo x > /tmp/new/skills/a"} {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Fatalf("%s was refused by %s", command, rule)
		}
	}
	for _, command := range append(append(unpack("new.tgz", "/tmp/new"), unpack("/tmp/new.tgz", "/tmp/new")...),
		"echo x > y.tgz; tar xf y.tgz", "ar x new.tgz", "python3 -m zipfile -e new.tgz .") {
		if rule := h.runs(t, s, bash(command)); rule != "own-scripts" {
			t.Errorf("%s: %q", command, rule)
		}
	}
	for _, command := range []string{"tar xf new.tgz -C sub", "tar tf new.tgz", "rsync -a /tmp/new/ sub/", "cp new.tgz sub/",
		"cp /tmp/new/skills/a .", "git status", "tar xf old.tgz", "cat new.tgz"} {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Errorf("%s was refused by %s", command, rule)
		}
	}
}
