package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/state"
)

// world is a home folder with a project folder in it, for one test.
type world struct {
	t         *testing.T
	home, dir string
	user      string // the user's folder of this program
	trusted   bool   // load reads the files of the project as they are on disk
}

// newWorld makes the folders and points the environment at them.
func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: home, dir: filepath.Join(home, "project"), user: filepath.Join(home, ".config", "mycelium")}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("MYCELIUM_CONFIG_PATH", "")
	w.mkdir(w.dir)
	return w
}

// state has the paths of the project's state.
func (w *world) state() state.Paths {
	root, err := state.OfPerson(os.Getenv)
	if err != nil {
		w.t.Fatal(err)
	}
	return root.Of(w.dir)
}

func (w *world) mkdir(dir string) {
	w.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// write writes a file of the project, or with a leading "~/" of the home folder.
func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(w.home, rest)
	}
	w.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// writeUser writes a file of the user's folder.
func (w *world) writeUser(name, text string) { w.write("~/.config/mycelium/"+name, text) }

// trust lets the files of the project be in force as they are on disk, for tests of what files mean.
func (w *world) trust() { w.trusted = true }

func (w *world) load() *Project {
	w.t.Helper()
	p, err := Load(Options{Dir: w.dir, OnDisk: w.trusted})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// acceptUser puts the user's own files in force, and leaves those of the project as they were accepted.
func (w *world) acceptUser() {
	w.t.Helper()
	c := w.waiting()
	c.parts = c.parts[:1]
	if err := c.Accept(time.Now()); err != nil {
		w.t.Fatal(err, lines(c.Why))
	}
}

// accept puts the files of the project and of the user in force as `myc trust --yes` does.
func (w *world) accept() {
	w.t.Helper()
	c, err := w.load().Candidate()
	if err == nil {
		err = c.Accept(time.Now())
	}
	if err != nil {
		w.t.Fatal(err, lines(c.Why))
	}
}

// line is a problem as one line.
func line(p policy.Problem) string {
	s := fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	if p.Warning {
		s = "warning: " + s
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

func lines(ps []policy.Problem) []string {
	var out []string
	for _, p := range ps {
		out = append(out, line(p))
	}
	return out
}

func tool(id string) policy.Item {
	it, err := policy.ParseTool(id)
	if err != nil {
		panic(err)
	}
	return it
}

func callOf(role, id string) policy.Call {
	return policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: "t", Role: role}}, Item: tool(id)}
}
