package main

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"mycelium/cmd/myc/internal/demo"
	"mycelium/internal/state"
)

// badPatience bounds every process of these tests: what hangs is a failure, not the end of the run.
const badPatience = 2 * time.Minute

// badWorld is a project with a home of its own, trusted, and perhaps a daemon that serves it.
type badWorld struct {
	t    *testing.T
	exe  string
	root string // short: the path of a socket may have 107 bytes
	dir  string // the project
	env  []string
	good map[string]string // files of the project and of the home as they were trusted
	addr string            // of the daemon
	pid  int               // its process
	vars map[string]string
}

// newBadWorld makes the project of testdata/badinput/project, with other files over it: names and texts in turn.
func newBadWorld(t *testing.T, over ...string) *badWorld {
	t.Helper()
	root, err := os.MkdirTemp("", "bad")
	if err != nil {
		t.Fatal(err)
	}
	w := &badWorld{t: t, exe: program(t), root: root, dir: filepath.Join(root, "p")}
	t.Cleanup(func() {
		endDaemons(t, root)
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	for _, d := range []string{"home", "run", "tmp", "p"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The race detector would sleep for a second at the end of every process.
	w.env = append(demo.ScratchEnv(os.Environ(), filepath.Join(root, "home")), "XDG_RUNTIME_DIR="+filepath.Join(root, "run"),
		"TMPDIR="+filepath.Join(root, "tmp"), "NO_COLOR=1", "GORACE=atexit_sleep_ms=0")
	w.vars = map[string]string{
		"dir": w.dir, "home": filepath.Join(root, "home"),
		"user": filepath.Join(root, "home", ".config", "mycelium"),
	}
	w.vars["root"], w.vars["state"], w.vars["keys"] = string(w.state().Root), w.state().Folder(), w.state().Keys()
	archive, err := txtar.ParseFile("testdata/badinput/project")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		w.write(f.Name, string(f.Data))
	}
	// The files are in force as they are, so that bad ones can be.
	w.write(filepath.Join(w.vars["user"], "mycelium.yaml"), "trust: folder\n")
	for i := 0; i+1 < len(over); i += 2 {
		w.write(over[i], over[i+1])
	}
	if out := w.run("", "trust", "--yes"); out.code != 0 {
		t.Fatalf("trust: %+v", out)
	}
	w.good = w.snapshot(w.root)
	maps.Copy(w.good, w.snapshot(w.state().Accepted()))
	return w
}

func (w *badWorld) state() state.Paths { return stateIn(w.vars["home"], w.dir) }

func (w *badWorld) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.dir, name)
}

func (w *badWorld) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// isState reports whether a folder holds the state of projects, or views that can be made again.
func (w *badWorld) isState(path string) bool {
	return filepath.Base(path) == state.FolderName || path == filepath.Dir(w.state().Folder()) || path == filepath.Dir(w.state().Keys())
}

// snapshot reads every file below a folder but sockets and the state.
func (w *badWorld) snapshot(root string) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && w.isState(path):
			return fs.SkipDir
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			out[path] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// restore makes the project what it was, and with state what is ours and the home too. A folder that is trusted stays the same folder.
func (w *badWorld) restore(state bool) {
	w.t.Helper()
	var made, folders []string
	root := w.root
	if !state {
		root = w.dir
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && w.isState(path):
			made = append(made, path)
			return fs.SkipDir
		case d.IsDir() && strings.HasPrefix(path, w.dir+"/"):
			folders = append(folders, path)
		case d.Type()&fs.ModeSocket == 0 && !d.IsDir():
			made = append(made, path)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		for _, f := range slices.Backward(folders) {
			_ = os.Remove(f) // if it is empty: nothing that was good is
		}
	}()
	for _, path := range made {
		if old, ok := w.good[path]; ok {
			if b, err := os.ReadFile(path); err == nil && string(b) == old {
				continue
			}
		}
		if err := os.RemoveAll(path); err != nil {
			w.t.Fatal(err)
		}
	}
	for path, text := range w.good {
		if st, err := os.Lstat(path); err == nil && st.IsDir() {
			if err := os.RemoveAll(path); err != nil {
				w.t.Fatal(err)
			}
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			w.write(path, text)
		}
	}
}

// unchanged wants the files as before: bad input writes nothing.
func (w *badWorld) unchanged(before map[string]string) {
	w.t.Helper()
	after := w.snapshot(w.dir)
	for path := range maps.Keys(after) {
		if old, ok := before[path]; !ok {
			w.t.Errorf("bad input made the file %s", path)
		} else if old != after[path] {
			w.t.Errorf("bad input changed %s", path)
		}
		delete(before, path)
	}
	for path := range before {
		w.t.Errorf("bad input removed %s", path)
	}
}

type badOutput struct {
	code        int
	out, errout string
}

// text is an answer in one line.
func (o badOutput) text() string {
	var parts []string
	for _, s := range []string{o.out, o.errout} {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, strings.ReplaceAll(s, "\n", " ⏎ "))
		}
	}
	return "exit " + string(rune('0'+o.code)) + " " + strings.Join(parts, " ⏎ ")
}

func (w *badWorld) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.exe, pinned(w.state().Root, args)...)
	cmd.Dir = w.dir
	cmd.Env = slices.Clip(w.env) // who adds to it has an own one
	return cmd
}

// run runs a command in the project.
func (w *badWorld) run(stdin string, args ...string) badOutput { return w.runEnv(nil, stdin, args...) }

func (w *badWorld) runEnv(env []string, stdin string, args ...string) badOutput {
	w.t.Helper()
	return w.runCommand(w.command(args...), env, stdin)
}

// runCommand runs a command to its end.
func (w *badWorld) runCommand(cmd *exec.Cmd, env []string, stdin string) badOutput {
	w.t.Helper()
	args := cmd.Args
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	timer := time.AfterFunc(badPatience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("myc %q: %v", args, err)
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 && code < 10 {
		return badOutput{code, w.plain(out.String()), w.plain(errout.String())}
	}
	w.t.Fatalf("myc %q: %v: %s", args, err, errout.String())
	return badOutput{}
}

var (
	badTime = regexp.MustCompile(`time=\S+ `)
)

// plain takes out what differs from run to run.
func (w *badWorld) plain(s string) string {
	s = strings.ReplaceAll(s, w.state().Folder(), "$STATE")
	s = strings.ReplaceAll(s, w.state().Keys(), "$KEYS")
	s = strings.ReplaceAll(s, w.dir, "$DIR")
	s = strings.ReplaceAll(s, filepath.Join(w.root, "home"), "$HOME")
	s = badTime.ReplaceAllString(s, "")
	if w.addr != "" {
		s = strings.ReplaceAll(s, w.addr, "$ADDR")
	}
	return s
}

// serve starts the daemon.
func (w *badWorld) serve() {
	w.t.Helper()
	cmd := w.command("serve", "--addr", "127.0.0.1:0")
	errout, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewReader(errout)
	w.pid = cmd.Process.Pid
	line, err := lines.ReadString('\n')
	_, rest, ok := strings.Cut(line, "http://")
	if err != nil || !ok {
		w.t.Fatalf("serve: %q %v", line, err)
	}
	w.addr, _, _ = strings.Cut(rest, "/")
	drained := make(chan string, 1)
	go func() {
		var b strings.Builder
		_, _ = lines.WriteTo(&b)
		drained <- b.String()
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		said := <-drained
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("the daemon ended with %v", err)
		}
		if strings.Contains(said, "panic") || strings.Contains(said, "DATA RACE") {
			w.t.Errorf("the daemon said:\n%s", said)
		}
	})
	// The command has its socket before its first line, and answers as soon as it has said it.
	w.vars["host"] = w.addr
}

// mint makes a session and returns its token and id.
func (w *badWorld) mint(args ...string) (token, id string) {
	w.t.Helper()
	o := w.run("", append([]string{"session", "new", "--json"}, args...)...)
	if o.code != 0 {
		w.t.Fatalf("session new: %+v", o)
	}
	return jsonField(w.t, o.out, "token"), jsonField(w.t, o.out, "id")
}

// sessions counts the live ones.
func (w *badWorld) sessions() string {
	w.t.Helper()
	o := w.run("", "status", "--json")
	if o.code != 0 {
		w.t.Fatalf("status: %+v", o)
	}
	return jsonField(w.t, o.out, "sessions")
}

func jsonField(t *testing.T, text, key string) string {
	t.Helper()
	m := regexp.MustCompile(`"` + key + `": ?"?([^",}\n]+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in %s", key, text)
	}
	return m[1]
}

// intact wants a log that verifies, and no call that wrote anything.
func (w *badWorld) intact() {
	w.t.Helper()
	if o := w.run("", "audit", "verify"); o.code != 0 || !strings.HasPrefix(o.out, "ok: ") {
		w.t.Errorf("the log after bad input: %+v", o)
	}
	if o := w.run("", "audit", "query", "--tool", "files__write_file", "--outcome", "ok", "--json"); o.code != 0 ||
		strings.TrimSpace(o.out) != "[]" {
		w.t.Errorf("a write ran: %+v", o)
	}
}
