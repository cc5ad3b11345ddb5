package agentshell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/config"
	"mycelium/internal/harness"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/run"
	"mycelium/internal/state"
)

// TestWhere: whatever a command says of the folder in which it ended, the answer is a folder of the project that is there.
func TestWhere(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder, tree := filepath.Join(top, "run"), filepath.Join(top, "project")
	for _, dir := range []string{filepath.Join(folder, tempName), filepath.Join(tree, "sub"), filepath.Join(top, "project2")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(top, filepath.Join(tree, "out")); err != nil {
		t.Fatal(err)
	}
	said := filepath.Join(folder, tempName, wherePrefix+"x")
	for _, tt := range []struct{ says, want string }{
		{tree + "/sub\n", tree + "/sub"},
		{tree + "\n", tree},
		{tree + "/sub/../sub\n", tree + "/sub"},
		{tree + "/none\n", "here"},
		{tree + "/out\n", "here"},
		{top + "/project2\n", "here"},
		{tree + "/../project2\n", "here"},
		{"sub\n", "here"}, {"", "here"}, {"\x00", "here"}, {tree + "/sub\nx", "here"},
		{strings.Repeat("/x", 1<<16), "here"},
	} {
		if err := os.WriteFile(said, []byte(tt.says), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := where(folder, tree, "x", "here"); got != tt.want {
			t.Errorf("%.60q leads to %s, want %s", tt.says, got, tt.want)
		}
		if got := where(folder, tree, "x", "here"); got != "here" {
			t.Errorf("%.60q is said twice: %s", tt.says, got)
		}
	}
	if err := syscall.Mkfifo(said, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := where(folder, tree, "x", "here"); got != "here" {
		t.Errorf("a pipe leads to %s", got)
	}
	if err := os.Symlink(filepath.Join(top, "else"), said); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "else"), []byte(tree+"/sub\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := where(folder, tree, "x", "here"); got != "here" {
		t.Errorf("a link leads to %s", got)
	}
}

// TestReplace: what stands in the place of a command is one program and the name of a ticket, and what cannot be replaced is said.
func TestReplace(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(top, "it's")
	if err := os.MkdirAll(filepath.Join(project, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	paths := state.Root(filepath.Join(top, "state's")).Of(project)
	if err := os.MkdirAll(paths.Folder(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := paths.WriteNote(state.Note{Folder: project, Home: top}); err != nil {
		t.Fatal(err)
	}
	g := Of(&config.Project{State: paths})
	e := harness.Event{Agent: "claude", Session: "s/../..", ToolUse: "toolu_1", Dir: filepath.Join(project, "sub")}
	got, err := g.Replace(e, "rm -rf '$(x)'", box.Of("project"), policy.Closed{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "rm") {
		t.Errorf("the agent is given its own command: %s", got)
	}
	folders, err := filepath.Glob(paths.Run("*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders of sessions: %q %v", folders, err)
	}
	name := digest("rm -rf '$(x)'") + "-" + digest("toolu_1")
	want := harness.ShellWord(shim.Path(folders[0])) + " " + name
	if got != want+` && cd "$(`+want+` where)"` {
		t.Errorf("the agent is given %s", got)
	}
	if n, err := readNote(folders[0]); err != nil || !n.Named || n.Folder != project || n.Home != top {
		t.Errorf("the note is %+v, %v", n, err)
	}
	for _, tt := range []struct {
		change func(e *harness.Event)
		want   string
	}{
		{func(e *harness.Event) { e.ToolUse = "" }, "no id"},
		{func(e *harness.Event) { e.Session = "" }, "no id"},
		{func(e *harness.Event) { e.Prefix = "/x" }, "another program"},
		{func(e *harness.Event) { e.Dir = top }, "outside of the project"},
		{func(*harness.Event) {}, "its process has ended"},
	} {
		e := e
		tt.change(&e)
		if why := g.Irreplaceable(e); !strings.Contains(why, tt.want) {
			t.Errorf("%q, want %q", why, tt.want)
		}
	}
	e.Dir = top
	if got, err := g.Replace(e, "x", box.Of("project"), policy.Closed{}); err == nil {
		t.Errorf("outside of the project the agent is given %s", got)
	}
}

// TestInPlace: the commands of an agent that Mycelium starts, and before whose shell nothing stands, are replaced by a comment that says them
// on one line, where the agent shows it, and one word with the name of a ticket. Any other command that it ran is seen.
func TestInPlace(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	paths := state.Root(filepath.Join(top, "state")).Of(top)
	g := Of(&config.Project{State: paths})
	if err := Prepare(paths.Run("s"), "/myc", Note{Agent: "codex", Folder: top, Project: top, State: string(paths.Root), Named: true}, nil); err != nil {
		t.Fatal(err)
	}
	const own = "echo a\necho b \\\n"
	e := harness.Event{Agent: "codex", ToolUse: "call_1", Dir: top}
	if !g.Governs("s", e) || g.Governs("other", e) || g.Governs("s", harness.Event{Agent: "gemini"}) {
		t.Error("it governs another agent, or not this one")
	}
	got, err := g.Admit("s", e, own, run.Where{})
	said, line, _ := strings.Cut(got, "\n")
	if err != nil || said != `# echo a\necho b \\n` || line != shim.Path(paths.Run("s"))+" "+digest(own)+"-"+digest("call_1") {
		t.Errorf("the agent is given %q, %v", got, err)
	}
	for ran, ignored := range map[string]bool{got: false, line: false, own: true, got + "; echo evil": true, line + " && echo evil": true,
		"# x\necho evil\n" + line: true, shim.Path(paths.Run("s")) + " x": true} {
		if g.Ignores("s", e, ran) != ignored {
			t.Errorf("after %q: ignored is %t", ran, !ignored)
		}
	}
	if out, err := exec.Command("bash", "-c", said+"\necho ran").Output(); err != nil || string(out) != "ran\n" {
		t.Errorf("the comment does something: %q %v", out, err)
	}
}
