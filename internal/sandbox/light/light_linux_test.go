package light

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/sandbox/jail"
)

// TestMain lets the test binary play the child of the wall.
func TestMain(m *testing.M) {
	if jail.IsAround(os.Args[1:]) {
		os.Exit(jail.AroundMain())
	}
	os.Exit(m.Run())
}

// home makes a home with a project and a state, and returns what stands behind the wall there.
func home(t *testing.T) Guard {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"state/bin/myc-hook", "p/rules.yaml", "p/mycelium.yaml", "p/roles/dev.yaml", "p/main.go", "p/.claude/settings.json",
		"p/.claude/commands/x.md", "p/.git/worktrees/w/HEAD", "dots/claude/settings.json", "p/skills/a b/SKILL.md"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("was"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("dots/claude", filepath.Join(dir, ".claude")); err != nil {
		t.Fatal(err)
	}
	return Guard{Home: dir, Folders: []string{filepath.Join(dir, "p")}, Fixed: []string{filepath.Join(dir, "state")},
		Closed: []string{filepath.Join(dir, "p", ".claude")}}
}

// TestPoints: each fixed path is a point, and so is each folder above it and each link to it. What is not there is none, nor what lies in
// a fixed folder, except the folders of a closed one.
func TestPoints(t *testing.T) {
	g := home(t)
	points, err := g.Points()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for i, p := range points {
		if rest, ok := strings.CutPrefix(p.Path, g.Home+"/"); ok {
			got[rest] = p.Fixed
		}
		if i > 0 && strings.HasPrefix(points[i-1].Path, p.Path+"/") {
			t.Errorf("%s comes before %s, which lies above it", points[i-1].Path, p.Path)
		}
	}
	if diff := cmp.Diff(map[string]bool{".claude": true, "dots": false, "dots/claude": false, "dots/claude/settings.json": true, "state": true,
		"p": false, "p/rules.yaml": true, "p/mycelium.yaml": true, "p/roles": true, "p/skills": true, "p/.claude": true,
		"p/.claude/commands": false}, got); diff != "" {
		t.Error(diff)
	}
	for at := g.Home; at != "/"; at = filepath.Dir(at) {
		if found := (plan{}).with(points)[at]; found != above {
			t.Errorf("%s is %v", at, found)
		}
	}
	if err := os.Mkdir(filepath.Join(g.Home, "p/roles/ansible"), 0o700); err != nil {
		t.Fatal(err)
	}
	if points, err = g.Points(); err != nil {
		t.Fatal(err)
	}
	if p := (plan{}).with(points); p[g.Home+"/p/roles"] == fixed || p[g.Home+"/p/roles/dev.yaml"] != fixed {
		t.Error("a folder of roles in which another program has folders is fixed as a whole")
	}
}

// with is the plan with points.
func (p plan) with(points []jail.Point) plan {
	for _, q := range points {
		p[q.Path] = map[bool]kind{true: fixed}[q.Fixed]
	}
	return p
}

// TestAround: a program behind the wall changes nothing that is fixed, in no way that a program has, and works beside it. A file that is
// replaced outside is fixed again; one that is removed is told of.
func TestAround(t *testing.T) {
	g := home(t)
	points, err := g.Points()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := t.TempDir()
	if lost, none := Of(run); lost != "" || none != "" {
		t.Errorf("a run without a note: %q %q", lost, none)
	}
	n := Note{Points: points}
	if err := n.Keep(run); err != nil {
		t.Fatal(err)
	}
	if lost, _ := Of(run); lost == "" {
		t.Error("a wall that was never finished stands")
	}
	cmd := exec.Command("sh", "-s") //nolint:noctx // it ends with its input
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := jail.BeginAround(jail.Self{Argv: []string{self, jail.ChildName}}, jail.Around{Points: points, Dir: filepath.Join(g.Home, "p"),
		Argv: []string{"/bin/sh", "-s"}, Env: []string{"PATH=/usr/bin:/bin", "H=" + g.Home}}, cmd); err != nil {
		t.Fatal(err)
	}
	n.Child = cmd.Process.Pid
	if err := n.Keep(run); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	try := func(command string) bool {
		t.Helper()
		if _, err := io.WriteString(in, "if ( "+command+" ) >/dev/null 2>&1; then echo yes; else echo no; fi\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line == "yes\n"
	}
	const nested = "unshare -Urm sh -c "
	for _, command := range []string{
		"echo x > rules.yaml", "echo x > $H/p/rules.yaml", "rm -f rules.yaml", "echo x > new && mv new rules.yaml", "ln -f main.go rules.yaml",
		"mv skills x", "touch skills/x", "touch roles/x.yaml", "mv $H/p $H/q", "touch $H/state/x", "mv $H/state $H/x", "rm -rf $H/state/bin/myc-hook",
		"echo x > $H/.claude/settings.json", "rm $H/.claude", "mv $H/.claude $H/x", "mv $H/dots $H/x", "mv $H/dots/claude $H/x",
		"touch .claude/settings.local.json", "mv .claude x", "echo x > .claude/settings.json", "mv $H $H.x",
		"umount $H/p/rules.yaml", "mount -o remount,bind,rw $H/state", "mount --bind main.go rules.yaml",
		nested + `"umount $H/p/rules.yaml"`, nested + `"umount -l $H/state"`, nested + `"mount -o remount,bind,rw $H/state"`,
		nested + `"mount --bind $H/state /mnt && touch /mnt/x"`, nested + `"mount --rbind $H /mnt && touch /mnt/state/x"`,
		nested + `"mount --bind $H /mnt"`, // it would show what is below the mounts
		"for p in /proc/[0-9]*; do touch $p/root/$H/state/x && exit 0; touch $p/cwd/rules.yaml && echo x >> $p/cwd/rules.yaml && exit 0; done; exit 1",
	} {
		if try(command) {
			t.Errorf("behind the wall: %s", command)
		}
	}
	for _, command := range []string{
		"echo x > main.go", "echo x > new && mv new other", "ln other third", "mkdir sub && mv other sub/", "touch $H/dots/claude/projects",
		"echo x > .claude/commands/y.md", "touch $H/y && rm $H/y", nested + `"mount -t tmpfs x /mnt && touch /mnt/x"`, "cat $H/state/bin/myc-hook",
	} {
		if !try(command) {
			t.Errorf("behind the wall does not work: %s", command)
		}
	}
	if lost, none := Of(run); lost != "" || none != "" {
		t.Errorf("the wall stands, and it says: %q %q", lost, none)
	}
	rules := filepath.Join(g.Home, "p", "rules.yaml")
	for range 3 { // a person's editor replaces it
		if err := os.WriteFile(rules+"~", []byte("next"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(rules+"~", rules); err != nil {
			t.Fatal(err)
		}
		for lost, _ := Of(run); lost != ""; lost, _ = Of(run) { // until the child has mounted it again
			runtime.Gosched()
		}
		if try("echo x > rules.yaml") {
			t.Error("a file that was replaced outside is written")
		}
	}
	if err := os.Remove(rules); err != nil {
		t.Fatal(err)
	}
	if lost, _ := Of(run); !strings.Contains(lost, rules) {
		t.Errorf("a file was removed outside, and it says %q", lost)
	}
	if err := os.WriteFile(rules, []byte("again"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lost, _ := Of(run); lost != ""; lost, _ = Of(run) {
		runtime.Gosched()
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if lost, _ := Of(run); !strings.Contains(lost, "gone") {
		t.Errorf("its process has ended, and it says %q", lost)
	}
	if data, err := os.ReadFile(filepath.Join(g.Home, "state/bin/myc-hook")); err != nil || string(data) != "was" {
		t.Errorf("the program is %q %v", data, err)
	}
}

// TestProbe: a wall can be built where the tests run.
func TestProbe(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := Probe(jail.Self{Argv: []string{self, jail.ChildName}}); err != nil {
		t.Error(err)
	}
}
