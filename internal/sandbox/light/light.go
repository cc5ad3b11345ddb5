// Package light plans the light wall: a mount namespace around an agent in which the files that govern the agent cannot be changed. It is no
// sandbox. Files, network, keys and services are the person's, as outside.
//
// Package jail builds it, and the node asks [Of] at every hook whether it still stands.
package light

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox/jail"
)

// Guard names the files and folders that the light wall protects.
type Guard struct {
	Home    string
	Folders []string // the project's, and that of a linked worktree in which the agent works
	Start   string   // the folder below them in which the agent starts: names that are protected everywhere are fixed in it; "": it is one of them
	// Fixed are further files and folders: the state, the programs, and where the settings of agents were moved to.
	Fixed []string
	// Closed are folders of which the files are fixed, and no new name can be made in them. Their folders are as writable as they are.
	Closed []string
	Open   []string // folders in the fixed ones in which the agent may write
}

// beside are protected paths that the light wall leaves writable, because programs of an ordinary day write them: Claude Code its sessions,
// git its worktrees.
var beside = []string{"~/.claude.json", "**/.git/worktrees"}

// Points returns the mount points of the wall, parents first. Each folder above a fixed path is one, so that it cannot be renamed. What is
// not there is left out: nothing can be mounted on it.
func (g Guard) Points() ([]jail.Point, error) {
	p := plan{}
	for _, path := range slices.Concat(g.Fixed, g.Closed) {
		if err := p.add(path, fixed); err != nil {
			return nil, err
		}
	}
	for _, path := range g.Open {
		if err := p.add(path, open); err != nil {
			return nil, err
		}
	}
	for _, path := range g.Closed {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("the light wall: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			if err := p.add(filepath.Join(path, e.Name()), open); err != nil {
				return nil, err
			}
		}
	}
	for _, b := range policy.BasePaths() {
		if slices.Contains(beside, b.Path) || !b.ChangeOnly && !strings.HasPrefix(b.Constraint, "mycelium-") {
			continue
		}
		for _, path := range g.places(b.Path) {
			if err := p.add(path, fixed); err != nil {
				return nil, err
			}
		}
	}
	for _, folder := range g.Folders { // a person's git runs them
		if err := p.add(filepath.Join(folder, ".git", "hooks"), fixed); err != nil {
			return nil, err
		}
	}
	return p.list(), nil
}

// places are the paths that a protected path stands for. A name that is protected everywhere is looked for in the folders themselves and in
// that in which the agent starts, and in no other folder: there it governs no agent that runs (docs/sandbox.md, "The light wall").
func (g Guard) places(path string) (out []string) {
	first, rest, _ := strings.Cut(path, "/")
	switch first {
	case "":
		return []string{path}
	case "~":
		return []string{filepath.Join(g.Home, rest)}
	case ".", "**":
		if first == "**" && g.Start != "" {
			out = append(out, filepath.Join(g.Start, rest))
		}
		for _, folder := range g.Folders {
			if rest == "roles" {
				out = append(out, roles(filepath.Join(folder, rest))...)
				continue
			}
			out = append(out, filepath.Join(folder, rest))
		}
	}
	return out
}

// roles returns the folder of the roles, or its files where other programs have folders in it, as ansible has.
func roles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil || !slices.ContainsFunc(entries, fs.DirEntry.IsDir) {
		return []string{dir}
	}
	var out []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// plan is the set of points, by path.
type plan map[string]kind

// kind is the use of a point. A path that is wanted as several is the last of these.
type kind int

const (
	above kind = iota // a fixed path lies below it
	open              // it lies in a fixed folder and is not fixed
	fixed
)

// maxLinks is how many links a path may have, as for the kernel (path_resolution(7)).
const maxLinks = 40

// add adds a path, the folders above it, and the links that lead to it. What is not there, or cannot be reached, is left out.
func (p plan) add(path string, as kind) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("the light wall: %s is no absolute path", path)
	}
	rest, at, links, found := components(path), "/", 0, plan{}
	for len(rest) > 0 {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		st, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
			return nil
		case err != nil:
			return fmt.Errorf("the light wall: look at %s: %w", next, err)
		case st.Mode()&fs.ModeSymlink == 0:
			at = next
			if found[next] = max(found[next], above); len(rest) == 0 {
				found[next] = as
			}
			continue
		}
		to, err := os.Readlink(next)
		if err != nil {
			return fmt.Errorf("the light wall: %w", err)
		}
		if links++; links > maxLinks {
			return fmt.Errorf("the light wall: %s has too many links", path)
		}
		found[next] = fixed // so that the link stays
		if !filepath.IsAbs(to) {
			to = filepath.Join(at, to)
		}
		rest, at = append(components(to), rest...), "/"
	}
	for path, as := range found {
		p[path] = max(p[path], as)
	}
	return nil
}

// components are the names in an absolute path.
func components(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(c rune) bool { return c == '/' })
}

// list returns the points, without those that a fixed folder covers.
func (p plan) list() (out []jail.Point) {
	for path, as := range p {
		if as == open || !p.covers(path) {
			out = append(out, jail.Point{Path: path, Fixed: as == fixed})
		}
	}
	slices.SortFunc(out, func(a, b jail.Point) int { return cmp.Compare(a.Path+"/", b.Path+"/") })
	return out
}

// covers reports whether the innermost point above a path that is fixed or open is fixed.
func (p plan) covers(path string) bool {
	for at := filepath.Dir(path); at != "/"; at = filepath.Dir(at) {
		if as := p[at]; as != above {
			return as == fixed
		}
	}
	return false
}

// Probe says why no light wall can be built on this machine; nil if one can. It builds one around a program that does nothing.
func Probe(self jail.Self) error {
	runtime.LockOSThread() // the child ends with this thread
	defer runtime.UnlockOSThread()
	cmd := &exec.Cmd{}
	if err := jail.BeginAround(self, jail.Around{Argv: []string{"/bin/sh", "-c", ":"}, Dir: "/",
		Points: []jail.Point{{Path: "/tmp", Fixed: true}}}, cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// Note says of a run of an agent whether it is behind the wall. It lies in the folder of the run, in the state.
type Note struct {
	Child  int          `json:"child,omitzero"` // the process id of the child of the wall
	Points []jail.Point `json:"points,omitempty"`
	None   string       `json:"none,omitzero"`   // why there is no wall; "": there is one
	Files  []File       `json:"files,omitempty"` // where there is no wall: files that govern the agent
}

const noteName = "light.json"

// Keep writes the note of a run.
func (n Note) Keep(folder string) error {
	text, err := json.Marshal(n, json.Deterministic(true))
	if err == nil {
		err = atomicfile.Note(filepath.Join(folder, noteName), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note the light wall of a run: %w", err)
	}
	return nil
}

// Of describes the wall around the agent of a run: its lost part, in words, or the reason why there is none, and then the file that is not as
// it was when the agent was started. All are "" if it stands, and for a run that has no note: nobody started its agent with this program.
func Of(folder string) (lost, none string) {
	n, err := Read(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ""
	case err != nil:
		return "its note cannot be read: " + err.Error(), ""
	case n.None != "":
		return n.changed(), n.None
	case n.Child == 0:
		return "it was never finished", ""
	}
	gone, err := jail.Lost(n.Child, n.Points)
	switch {
	case err != nil:
		return "its process is gone: " + err.Error(), ""
	case len(gone) == 0:
		return "", ""
	}
	return gone[0].Path + " was replaced, renamed or removed outside", ""
}
