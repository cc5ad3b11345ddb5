package daemon

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func sessionOf(pid int) (int, error) { return unix.Getsid(pid) }

func TestPathsOf(t *testing.T) {
	run := t.TempDir()
	short, err := os.MkdirTemp("/tmp", "r")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	link := filepath.Join(run, "link")
	if err := os.Symlink(short, link); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(run, strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	tmp := "/tmp/mycelium-" + strconv.Itoa(os.Getuid()) + "/"
	for _, c := range []struct{ name, xdg, want string }{
		{"the runtime folder", short, short + "/mycelium/"},
		{"none", "", tmp},
		{"a relative one", "run", tmp},
		{"one that does not exist", filepath.Join(run, "nowhere"), tmp},
		{"a link", link, tmp},
		{"one too long", long, tmp},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", c.xdg)
			p := pathsOf("/home/利用者/プロジェクト")
			if !strings.HasPrefix(p.Socket, c.want) || len(p.Socket) > maxSocketPath {
				t.Errorf("socket %s, want it in %s", p.Socket, c.want)
			}
			other := pathsOf("/home/利用者/プロジェクト2")
			again := pathsOf("/home/利用者/プロジェクト")
			if other.Socket == p.Socket || again.Socket != p.Socket {
				t.Errorf("%s, other folder %s, same folder %s", p.Socket, other.Socket, again.Socket)
			}
		})
	}
}

func TestWithoutRuntimeFolder(t *testing.T) {
	dir, p := project(t)
	attach(t, dir, p)
	// A client of another environment finds the owner by the lock file.
	t.Setenv("XDG_RUNTIME_DIR", "")
	q := pathsOf(dir)
	if q.Socket == p.Socket {
		t.Fatal("the same socket: this test shows nothing")
	}
	dial(t, q)
	// And an owner without the variable works too.
	p2 := known(t, t.TempDir())
	serveHere(t, p2, nil)
	dial(t, p2)
}

func TestOwnRefusesUnsafePlaces(t *testing.T) {
	_, p := project(t)
	folder := filepath.Dir(p.Socket)
	try := func(name, want string) {
		t.Helper()
		o, err := Own(t.Context(), p, Claim{Kind: Automatic})
		if err == nil {
			o.Close()
			t.Errorf("%s: owned", name)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if Owned(p) {
			t.Errorf("%s: the lock is still held", name)
		}
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, folder); err != nil {
		t.Fatal(err)
	}
	try("a link in place of the folder", "not a folder")
	os.Remove(folder)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Socket, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	try("a file in place of the socket", "not a socket")
	if b, _ := os.ReadFile(p.Socket); string(b) != "precious" {
		t.Error("the file was removed")
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder was not closed to others: %v %v", info.Mode(), err)
	}
	os.Remove(p.Socket)
	if os.Getuid() == 0 {
		if err := os.Chown(folder, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		try("somebody else's folder", "another user")
	}
	p.Socket = filepath.Join(elsewhere, strings.Repeat("x", maxSocketPath))
	try("a path too long", "more than the 107")
}

// TestLockFileOfAnotherProject: a lock file that names the socket of another project, or nothing, leads to no owner.
func TestLockFileOfAnotherProject(t *testing.T) {
	_, other := project(t)
	serveHere(t, other, nil)
	p := known(t, t.TempDir())
	if err := os.MkdirAll(filepath.Dir(p.Lock), 0o700); err != nil {
		t.Fatal(err)
	}
	for n, named := range map[string]bool{`{"pid":1,"socket":"` + other.Socket + `"}`: true, `{"socket":"relative"}`: false,
		`{"socket":"/` + strings.Repeat("x", 200) + `"}`: false, "no JSON": false, "": false} {
		if err := os.WriteFile(p.Lock, []byte(n), 0o600); err != nil {
			t.Fatal(err)
		}
		var stranger *StrangerError
		if c, err := Dial(t.Context(), p); err == nil || errors.As(err, &stranger) != named || errors.Is(err, ErrNotRunning) == named {
			t.Errorf("%s: attached to %v, %v", n, c, err)
		}
	}
	serveHere(t, p, nil)
	dial(t, p)
}

// asNobody runs this binary as another user.
func asNobody(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI runs as root")
		}
		t.Skip("only root can become another user")
	}
	bin := filepath.Join("/tmp", "myctest"+strconv.Itoa(os.Getpid()))
	raw, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(bin)
	cmd.Path, cmd.Args, cmd.Dir = bin, []string{bin}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// open makes the socket reachable for all users, so that only the check of the peer protects it.
func open(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestAnotherUserIsNotAnswered(t *testing.T) {
	dir, p := project(t)
	serveHere(t, p, nil)
	open(t, p.Socket)
	// The client of the other user sees a listener that is not its own; it must not speak to it either.
	out := asNobody(t, play(t, dir, "dial", "MYC_TEST_SOCKET="+p.Socket))
	if !strings.Contains(out, "another user") {
		t.Errorf("the other user's client said %q", out)
	}
	// And a client that does not check is not answered.
	if out := asNobody(t, play(t, dir, "shout", "MYC_TEST_SOCKET="+p.Socket)); out != "connected, answered \"\"\n" {
		t.Errorf("another user's line: %s", out)
	}
	dial(t, p) // this user still is
}

func TestListenerOfAnotherUserIsNotTrusted(t *testing.T) {
	_, p := project(t)
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI runs as root")
		}
		t.Skip("only root can become another user")
	}
	if err := os.Mkdir(filepath.Dir(p.Socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The kernel records the user at the time of listen(2), here root, so ask as another user.
	open(t, p.Socket)
	if out := asNobody(t, play(t, "/nowhere", "dial", "MYC_TEST_SOCKET="+p.Socket)); !strings.Contains(out, "another user") {
		t.Errorf("dialled into another user's listener: %s", out)
	}
}
