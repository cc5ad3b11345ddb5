package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mycelium/internal/state"
)

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func write(t *testing.T, file string) {
	t.Helper()
	mkdir(t, filepath.Dir(file))
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestProjectDir: the nearest folder upwards that has a mycelium.yaml or of which files were accepted, in the main working tree. A folder
// in a project that has only views of ours is none.
func TestProjectDir(t *testing.T) {
	top := mkdir(t, t.TempDir())
	f := Flags{Agent: "claude", State: state.Root(filepath.Join(top, "state"))}
	in := func(names ...string) string { return filepath.Join(append([]string{top}, names...)...) }
	write(t, in("repo", "main", "mycelium.yaml"))
	write(t, in("repo", "main", "src", ".mycelium", "tools", "index.yaml"))
	write(t, in("repo", "main", "sub", "mycelium.yaml"))
	write(t, in("repo", "main", "sub", "deep", "a"))
	git(t, in("repo", "main"), "init", "-q")
	git(t, in("repo", "main"), "add", ".")
	git(t, in("repo", "main"), "commit", "-q", "-m", "a")
	git(t, in("repo", "main"), "worktree", "add", "-q", in("trees", "a"))
	for _, folder := range []string{"state", filepath.Join("plain", "state")} { // a worker's tree, and one that an agent has made look so
		tree := mkdir(t, filepath.Join(top, folder+"-trees", "p", "s.w"))
		own := filepath.Join(top, folder, "projects", "p", "swarm", "git", "s.w")
		for name, line := range map[string]string{"gitdir": filepath.Join(tree, ".git"), "main": in("repo", "main")} {
			write(t, filepath.Join(own, name))
			if err := os.WriteFile(filepath.Join(own, name), []byte(line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	mkdir(t, in("known", "below"))
	write(t, in("rules", "rules.yaml"))
	write(t, in("plain", "rules.yaml"))
	for _, name := range []string{"known", "rules"} {
		if err := f.State.Of(in(name)).WriteNote(state.Note{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, manifest := range map[string]string{"accepted": `{"version": 1, "files": [{"path": "rules.yaml"}]}`, "damaged": "{",
		"nothing": `{"version": 1, "files": []}`, "noted": ""} {
		mkdir(t, in(name, "below"))
		folder := mkdir(t, filepath.Join(f.State.Of(in(name)).Accepted(), "project"))
		if manifest == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, state.ManifestName), []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(in("accepted", "below"), in("link")); err != nil {
		t.Fatal(err)
	}
	mkdir(t, in("none", "below"))
	write(t, in("above", "mycelium.yaml"))
	mkdir(t, in("above", "repo"))
	git(t, in("above", "repo"), "init", "-q")
	git(t, in("above", "repo"), "commit", "-q", "--allow-empty", "-m", "a")
	git(t, in("above", "repo"), "worktree", "add", "-q", in("trees", "b"))
	for start, want := range map[string]string{
		in("repo", "main"):                     in("repo", "main"),
		in("repo", "main", "src"):              in("repo", "main"),
		in("repo", "main", "sub", "deep"):      in("repo", "main", "sub"),
		in("trees", "a"):                       in("repo", "main"),
		in("trees", "a", "src"):                in("repo", "main"),
		in("trees", "a", "sub", "deep"):        in("repo", "main", "sub"),
		in("state-trees", "p", "s.w"):          in("repo", "main"),
		in("plain", "state-trees", "p", "s.w"): "",
		in("known", "below"):                   "",
		in("rules"):                            in("rules"),
		in("plain"):                            "",
		in("accepted", "below"):                in("accepted"),
		in("link"):                             in("accepted"),
		in("damaged", "below"):                 in("damaged"),
		in("nothing", "below"):                 "",
		in("noted"):                            "",
		in("none", "below"):                    "",
		in("trees", "b"):                       in("above"),
	} {
		getenv := func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": start}[name] }
		got, found, err := f.ProjectDir(getenv)
		if err != nil || found && got != want || found != (want != "") || !found && got != start {
			t.Errorf("%s: %s, %v, %v; want %s", start, got, found, err, want)
		}
		named := f
		named.ID = "box"
		if _, found, err := named.ProjectDir(getenv); err != nil || !found {
			t.Errorf("%s: an entry with an id is for no project: %v", start, err)
		}
	}
	f.Dir = in("trees", "a", "sub")
	if got, found, err := f.ProjectDir(os.Getenv); err != nil || !found || got != in("repo", "main", "sub") {
		t.Errorf("given: %s, %v", got, err)
	}
	f.Dir = in("absent")
	if got, _, err := f.ProjectDir(os.Getenv); err == nil {
		t.Errorf("a folder that is not there: %s", got)
	}
	home := func(at string) bool { return at == in("above", "repo") }
	if got := nearest(in("above", "repo"), "", home, f.isProject); got != "" {
		t.Errorf("past the home folder: %s", got)
	}
	for _, beyond := range []bool{false, true} { // past a mount point only what a person has accepted counts
		if got := IsNearest(f.State.Of(in("above")), beyond); got == beyond {
			t.Errorf("not accepted, beyond %t: %t", beyond, got)
		}
		if !IsNearest(f.State.Of(in("accepted")), beyond) {
			t.Errorf("accepted, beyond %t: no project", beyond)
		}
	}
	var past []bool
	nearest("/proc/self", "", func(string) bool { return false }, func(_ string, beyond bool) bool { past = append(past, beyond); return false })
	if len(past) != 3 || past[0] || !past[2] {
		t.Errorf("from /proc/self: %v", past)
	}
}

// TestLeavingTheProject: what an agent can make in a working tree does not make it another project.
func TestLeavingTheProject(t *testing.T) {
	top := mkdir(t, t.TempDir())
	main, tree := filepath.Join(top, "main"), filepath.Join(top, "tree")
	write(t, filepath.Join(main, "mycelium.yaml"))
	write(t, filepath.Join(main, "sub", "a"))
	git(t, main, "init", "-q")
	git(t, main, "add", "sub")
	git(t, main, "commit", "-q", "-m", "a")
	git(t, main, "worktree", "add", "-q", tree)
	sub := filepath.Join(tree, "sub")
	for name, act := range map[string]func(){
		"a policy in a folder": func() { write(t, filepath.Join(sub, "mycelium.yaml")) },
		"a policy at the top":  func() { write(t, filepath.Join(tree, "mycelium.yaml")) },
		"a repository inside":  func() { git(t, sub, "init", "-q") },
	} {
		act()
		got, _, err := Flags{Agent: "claude", State: state.Root(filepath.Join(top, "state"))}.ProjectDir(func(string) string { return tree })
		if err != nil || got != main {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(sub, "mycelium.yaml")); err != nil {
		t.Fatal(err)
	}
	got, _, err := Flags{Agent: "claude"}.ProjectDir(func(string) string { return sub })
	if err != nil || got != main {
		t.Errorf("a repository inside: %s, %v", got, err)
	}
}

// TestOutside: calls outside of every project have one state for all folders, which no person can name for a project.
func TestOutside(t *testing.T) {
	root := state.Root(t.TempDir())
	a, err := Flags{State: root}.Paths("/a", false)
	b, bad := Flags{State: root}.Paths("/b", false)
	if err != nil || bad != nil || a.Folder() != b.Folder() || a.Folder() != root.Outside("").Folder() {
		t.Errorf("%s, %s, %v, %v", a.Folder(), b.Folder(), err, bad)
	}
	if p, err := root.Named("/a", filepath.Base(a.Folder())); err == nil {
		t.Errorf("a person can name it: %s", p.Folder())
	}
}
