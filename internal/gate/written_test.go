package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// scripting is a project whose guest has the shell and the editor, and whose rules ask where something runs that was written in the session.
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
func (h *house) runs(t *testing.T, s *Session, r Request) string {
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
		request("agent__Write", `{"file_path":"x.sh","content":"rm -rf ~"}`), bash("echo x > Makefile"), bash("cp /tmp/x bin/run"), bash("sed -i s/a/b/ tool.py"), bash("ln -s /tmp/evil y.sh"),
	} {
		if rule := h.runs(t, s, r); rule != "" {
			t.Fatalf("%s was refused by %s", r.Args, rule)
		}
	}
	asks := []string{"bash x.sh", "sh ./x.sh", ". x.sh", "source x.sh", "./x.sh", "cat a; bash -c './x.sh'", "sudo -n bash x.sh", "make test", "bin/run", "python3 tool.py", "./y.sh", "cd bin && ./run", "bash < x.sh", "xargs -n1 ./x.sh < list"}
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
	next := &written{}
	next.open(filepath.Join(h.dir, "written"), s.ID)
	next.load()
	if _, ok := next.paths[filepath.Join(h.dir, "x.sh")]; !ok || len(next.paths) < 5 {
		t.Errorf("the next process knows of %v", next.paths)
	}
	if info, err := os.Stat(next.file); err != nil || info.Mode().Perm() != 0o600 {
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

// TestWrittenIsBounded: past the bound everything in the project counts as written, also for the next process.
func TestWrittenIsBounded(t *testing.T) {
	dir := t.TempDir()
	w := &written{}
	w.open(dir, "s1")
	var paths []string
	for i := range maxWritten + 10 {
		paths = append(paths, fmt.Sprintf("/p/%d\n\"", i))
	}
	w.add(paths)
	next := &written{}
	next.open(dir, "s1")
	next.load()
	if !w.all || !next.all || len(w.paths) != maxWritten || len(next.paths) != maxWritten {
		t.Errorf("%v %v, %d and %d paths", w.all, next.all, len(w.paths), len(next.paths))
	}
	strange := &written{}
	strange.open(dir, "../../x")
	strange.add([]string{"/p/a"})
	if strange.file != "" || len(strange.paths) != 1 {
		t.Errorf("%q", strange.file)
	}
}

// TestWrittenWhereNothingCanBeWritten: it is kept in memory, and nobody is refused for it.
func TestWrittenWhereNothingCanBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".mycelium"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &written{}
	w.open(filepath.Join(dir, ".mycelium"), "s1")
	w.add([]string{"/p/a"})
	w.load()
	if _, ok := w.paths["/p/a"]; !ok {
		t.Error("forgotten")
	}
}

// TestCommandsOfServers: a tool of a server that runs commands is a second shell (W2).
func TestCommandsOfServers(t *testing.T) {
	dir := t.TempDir()
	for _, args := range []policy.Args{
		{"command": "sudo rm -rf /"}, {"cmd": "sudo rm -rf /"}, {"script": "x=1\nsudo rm -rf /"}, {"command": "sudo", "args": []any{"rm", "-rf", "/"}}, {"command": []any{"sudo", "rm", "-rf", "/"}}, {"options": 1, "Command_Line": "sudo rm -rf /"},
	} {
		f, err := Facts(policy.Item{Server: "box", Name: "run_command"}, nil, args, dir, "/home/u")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(f.Parts, func(p policy.Part) bool { return p.Program == "sudo" }) ||
			!slices.ContainsFunc(f.Parts, func(p policy.Part) bool {
				return p.Program == "rm" && p.Paths[0].Access == policy.Delete && p.Paths[0].Clean == "/"
			}) {
			t.Errorf("%v: %+v", args, f.Parts)
		}
	}
	f, _ := Facts(policy.Item{Server: "box", Name: "run_command"}, nil, policy.Args{"command": 1.0}, dir, "")
	if !slices.Contains(f.Parts[len(f.Parts)-1].Effects, policy.EffectUnclear) {
		t.Errorf("%+v", f)
	}
}

// TestPatternsAreExpanded: what a pattern of a command matches on this disk is judged by its own name, and where it leads.
func TestPatternsAreExpanded(t *testing.T) {
	dir := tree(t)
	p := filepath.Join(dir, "p")
	f, err := Facts(bashTool, nil, policy.Args{"command": "cat se*"}, p, "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(f.Parts[0].Paths, func(at policy.Path) bool { return at.Resolved == dir+"/out/secret" }) {
		t.Errorf("%+v", f.Parts[0].Paths)
	}
	for i := range maxMatches + 1 {
		if err := os.WriteFile(fmt.Sprintf("%s/sub/f%d", p, i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, _ = Facts(bashTool, nil, policy.Args{"command": "rm sub/f*"}, p, "")
	if len(f.Parts[0].Unclear) == 0 {
		t.Error("too many are not unclear")
	}
}

// TestUnpackedIntoTheProject: what a session wrote or fetched is not unpacked into the project folder unasked, where the names that it
// brings may be those of the files that govern the agent (W6). An archive that was there before is.
func TestUnpackedIntoTheProject(t *testing.T) {
	h := scripting(t)
	s := h.enter("guest")
	unpack := func(archive, folder string) []string {
		return []string{
			"tar -xzf " + archive, "tar xf " + archive, "cat " + archive + " | tar x", "unzip " + archive, "7z x " + archive, "rsync -a " + folder + "/ .", "cp -r " + folder + "/. .", "tar -C . -xf " + archive, "base64 -d " + archive + " | tar xz",
		}
	}
	for _, command := range append(unpack("old.tgz", "/tmp/old"), "tar xf old.tgz -C sub") {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Errorf("%s was refused by %s before anything was written", command, rule)
		}
	}
	for _, command := range []string{"tar czf new.tgz sub", "cp new.tgz /tmp/new.tgz", "mkdir -p /tmp/new/skills", "echo x > /tmp/new/skills/a"} {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Fatalf("%s was refused by %s", command, rule)
		}
	}
	for _, command := range append(append(unpack("new.tgz", "/tmp/new"), unpack("/tmp/new.tgz", "/tmp/new")...), "echo x > y.tgz; tar xf y.tgz", "ar x new.tgz", "python3 -m zipfile -e new.tgz .") {
		if rule := h.runs(t, s, bash(command)); rule != "own-scripts" {
			t.Errorf("%s: %q", command, rule)
		}
	}
	for _, command := range []string{"tar xf new.tgz -C sub", "tar tf new.tgz", "rsync -a /tmp/new/ sub/", "cp new.tgz sub/", "cp /tmp/new/skills/a .", "git status", "tar xf old.tgz", "cat new.tgz"} {
		if rule := h.runs(t, s, bash(command)); rule != "" {
			t.Errorf("%s was refused by %s", command, rule)
		}
	}
}
