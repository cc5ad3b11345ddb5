package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/jail"
)

// smallProgram is the small program, built once.
var smallProgram = sync.OnceValues(func() (string, error) { return build("myc-hook", "build", "mycelium/cmd/myc-hook") })

// withDetector: this test binary has the race detector in it.
var withDetector bool

// plainSelf is this test binary without the race detector, built once.
var plainSelf = sync.OnceValues(func() (string, error) { return build("sandbox.test", "test", "-c", "-vet=off", ".") })

var builtFolders []string

// build builds a program with a command of go, in a folder of its own.
func build(name, command string, args ...string) (string, error) {
	dir, err := os.MkdirTemp("", "built")
	if err != nil {
		return "", err
	}
	builtFolders = append(builtFolders, dir)
	path := filepath.Join(dir, name)
	build := exec.Command("go", append([]string{command, "-o", path}, args...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, os.Chmod(dir, 0o755) //nolint:gosec // an ordinary user executes it
}

// removeBuilt removes what was built.
func removeBuilt() {
	for _, dir := range builtFolders {
		_ = os.RemoveAll(dir)
	}
}

// actor is what plays the child, the attacker and the drivers: this test binary, or itself without the race detector. They are started
// thousands of times, have little to do at the same time, and take several times as long with it. What starts them has it, and with
// RACE_PROGRAM=1 (`make soak`) they have it too.
func actor(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if withDetector && os.Getenv("RACE_PROGRAM") == "" {
		path, err = plainSelf()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func small(t *testing.T) string {
	t.Helper()
	path, err := smallProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// codeOf is the size of the child's code in KiB, as the command reads it.
func codeOf(t *testing.T, self jail.Self) int {
	t.Helper()
	c := projectCommand(t, "sed", "-n", "s/^VmExe:[^0-9]*\\([0-9]*\\).*/\\1/p", "/proc/1/status")
	var out bytes.Buffer
	c.Out = &out
	if result, err := Run(t.Context(), self, c); err != nil || result.ExitCode != 0 {
		t.Fatalf("%v %+v", err, result)
	}
	n, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSmall: the small program is the child if it is of the same build. It is far smaller than this one.
func TestSmall(t *testing.T) {
	t.Parallel()
	self := self(t)
	whole := codeOf(t, self)
	self.Small = small(t)
	if n := codeOf(t, self); n == 0 || n > whole*3/4 {
		t.Errorf("the child has %d KiB of code, this program %d", n, whole)
	}
}

// TestOtherSmall: a program that is not of this build, or that others can change, does not run a command and gets nothing of it.
func TestOtherSmall(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]fs.FileMode{"another build": 0o755, "others may change it": 0o777} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := projectCommand(t, "cat")
			dir := filepath.Dir(c.Project)
			other, got, ran := filepath.Join(dir, "other"), filepath.Join(dir, "got"), filepath.Join(dir, "ran")
			script := "#!/bin/sh\ntouch " + ran + "\nprintf '{\"build\":\"of another day\"}\\n' >&3\n" +
				"cat <&3 >" + got + "; cat >>" + got + "; echo other; echo other >&2\n"
			if err := os.WriteFile(other, []byte(script), mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(other, mode); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			c.In, c.Out, c.Err = strings.NewReader("a secret"), &out, &errs
			with := self(t)
			with.Small = other
			result, err := Run(t.Context(), with, c)
			if err != nil || result.ExitCode != 0 || out.String() != "a secret" || errs.Len() > 0 {
				t.Errorf("%v %+v %q %q", err, result, out.String(), errs.String())
			}
			if data, _ := os.ReadFile(got); len(data) > 0 {
				t.Errorf("it got %q", data)
			}
			if _, err := os.Lstat(ran); (err == nil) != (mode == 0o755) {
				t.Errorf("whether it was started: %v", err)
			}
		})
	}
}

// TestChildRefusesAnother: the child runs nothing for a program of another build.
func TestChildRefusesAnother(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "ran")
	for name, program := range map[string]string{"small": small(t), "whole": self(t).Argv[0]} {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
		cmd := exec.CommandContext(t.Context(), program, jail.ChildName)
		cmd.ExtraFiles = []*os.File{theirs}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = theirs.Close()
		in := bufio.NewReader(ours)
		hello, err := in.ReadString('\n')
		if err != nil || !strings.Contains(hello, jail.Build()) {
			t.Errorf("%s: it says %q of itself: %v", name, hello, err)
		}
		spec, err := json.Marshal(&jail.Spec{Build: "of another day", Argv: []string{"/bin/touch", marker}, Dir: "/", Fork: true,
			Without: jail.Layers()})
		if err != nil {
			t.Fatal(err)
		}
		err = unix.Sendmsg(int(ours.Fd()), append(spec, '\n'), unix.UnixRights(0, 1, 2), nil, 0) //nolint:gosec // a descriptor
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := in.ReadString('\n'); err != nil || !strings.Contains(answer, "another build") {
			t.Errorf("%s: it answers %q: %v", name, answer, err)
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("%s: it ended well", name)
		}
		_ = ours.Close()
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("the command ran")
	}
}

// TestBuildSaysAll: what Build tells of is all that the child is made of.
func TestBuildSaysAll(t *testing.T) {
	t.Parallel()
	const form = "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}} {{.Module.Version}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-f", form, "mycelium/internal/sandbox/jail").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(line, " ")
		named := slices.Contains(strings.SplitAfter(jail.Modules, "\n"), module)
		if path != "mycelium/internal/sandbox/jail" && !named {
			t.Errorf("%s is a part of the child, and jail.Modules does not have %q", path, module)
		}
	}
}

// TestNotRecorded: a command whose beginning cannot be recorded does not run.
func TestNotRecorded(t *testing.T) {
	t.Parallel()
	c := projectCommand(t, "touch", "ran")
	full := errors.New("the disk is full")
	c.Record = func() error { return full }
	if _, err := Run(context.Background(), self(t), c); !errors.Is(err, full) {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Lstat(filepath.Join(c.Project, "ran")); err == nil {
		t.Error("the command ran")
	}
	c.Record = func() error { return nil }
	if result, err := Run(context.Background(), self(t), c); err != nil || result.ExitCode != 0 {
		t.Errorf("%v %+v", err, result)
	}
}

// TestHidden: the fast look at /etc finds what a plain one finds.
func TestHidden(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("an ordinary user has nothing to hide")
	}
	var want []string
	_ = filepath.WalkDir(settingsFolder, func(path string, d fs.DirEntry, err error) error {
		st, infoErr := d.Info()
		if err != nil || infoErr != nil || st.Mode()&fs.ModeSymlink != 0 || st.Mode().Perm()&0o004 != 0 {
			return nil //nolint:nilerr // what cannot be read is not shown either
		}
		want = append(want, path)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	got := hidden()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || !slices.Contains(got, "/etc/shadow") {
		t.Errorf("%q, not %q", got, want)
	}
}
