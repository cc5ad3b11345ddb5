package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// world is a home folder with a project folder in it, for one test.
type world struct {
	t         *testing.T
	home, dir string
	user      string // the user's folder of this program
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

func (w *world) trust() {
	w.t.Helper()
	if err := Trust(w.dir); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load() *Project {
	w.t.Helper()
	p, err := Load(Options{Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
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

func event(path string) fsnotify.Event { return fsnotify.Event{Name: path, Op: fsnotify.Write} }

func callOf(role, id string) policy.Call {
	return policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: "t", Role: role}}, Item: tool(id)}
}

// indexedTool is a tool as an index file has it.
type indexedTool struct {
	ID          string         `yaml:"id" json:"id"`
	Name        string         `yaml:"name" json:"name"`
	Description string         `yaml:"description" json:"description"`
	Category    string         `yaml:"category" json:"category"`
	Mutates     bool           `yaml:"mutates" json:"mutates"`
	Parameters  map[string]any `yaml:"parameters" json:"parameters,omitempty"`
}

// toolIndex is a tool index as it was read.
type toolIndex struct {
	GeneratedAt time.Time     `yaml:"generatedAt" json:"generatedAt"`
	SourceHash  string        `yaml:"sourceHash" json:"sourceHash"`
	Tools       []indexedTool `yaml:"tools" json:"tools"`
}

// readToolIndex reads an index file, ours or one of the founding documents'.
func readToolIndex(file string, data []byte) (toolIndex, []policy.Problem) {
	var x toolIndex
	problems := yamlfile.Decode(file, data, &x)
	if faulty(problems) {
		return toolIndex{}, problems
	}
	return x, problems
}
