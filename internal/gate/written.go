package gate

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/policy"
)

// Bounds of what is remembered of a session's writes.
const (
	maxWritten = 5000                // paths; past them everything in the project counts as written here
	keepFor    = 30 * 24 * time.Hour // how long the file of a session stays that nobody wrote to
)

// written is what the allowed calls of one session wrote (W3): a file for each session, a quoted path a line, so that a hook that
// decides without a daemon knows it too. A fault in it never refuses a call: what cannot be kept is kept in memory.
type written struct {
	mu    sync.Mutex
	file  string
	read  int64 // how much of the file is in paths
	paths map[string]struct{}
	all   bool // the bound was met
}

// everything is the line that says that the bound was met.
const everything = "*"

// open names the file of a session in a folder. An id that is no name of a file has none.
func (w *written) open(dir, session string) {
	if w.paths != nil {
		return
	}
	w.paths = map[string]struct{}{}
	if dir != "" && session != "" && strings.Trim(session, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" {
		w.file = filepath.Join(dir, session)
	}
}

// load reads what is new in the file: another process may have written it.
func (w *written) load() {
	if w.file == "" {
		return
	}
	if info, err := os.Stat(w.file); err != nil || info.Size() == w.read {
		return
	}
	data, err := os.ReadFile(w.file)
	if err != nil {
		return
	}
	w.read = int64(len(data))
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if line := lines.Text(); line == everything {
			w.all = true
		} else if path, err := strconv.Unquote(line); err == nil {
			w.paths[path] = struct{}{}
		}
	}
}

// add remembers paths.
func (w *written) add(paths []string) {
	w.load()
	var lines []byte
	for _, p := range paths {
		if _, known := w.paths[p]; known || w.all {
			continue
		}
		if len(w.paths) >= maxWritten {
			w.all = true
			lines = append(lines, everything+"\n"...)
			continue
		}
		w.paths[p] = struct{}{}
		lines = append(strconv.AppendQuote(lines, p), '\n')
	}
	if len(lines) == 0 || w.file == "" {
		return
	}
	f, err := os.OpenFile(w.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if os.IsNotExist(err) {
		if os.MkdirAll(filepath.Dir(w.file), 0o700) == nil {
			prune(filepath.Dir(w.file))
			f, err = os.OpenFile(w.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return
	}
	if n, err := f.Write(lines); err == nil {
		w.read += int64(n)
	}
	_ = f.Close()
}

// prune removes the files of sessions that are long gone.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepFor {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// wrote remembers what a call that is about to run writes: a shell command, and the tools whose arguments say what they write.
func (g *Gate) wrote(a *Admission) {
	if a.Item.Kind != policy.Tool || a.Item.Server != policy.AgentServer && a.Item.Server != "files" {
		return
	}
	var paths []string
	for i := range a.facts.Parts {
		for _, p := range a.facts.Parts[i].Paths {
			if p.Access != policy.Write || p.Clean == "" {
				continue
			}
			paths = append(paths, p.Clean)
			if p.Resolved != "" && p.Resolved != p.Clean {
				paths = append(paths, p.Resolved)
			}
		}
	}
	if len(paths) == 0 {
		return
	}
	w := &a.session.written
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open(g.written, a.session.ID)
	w.add(paths)
}

// markWritten adds the effect "written here" to the parts that execute what this session wrote, and to those that unpack it into the
// project.
func (g *Gate) markWritten(s *Session, f *policy.Facts) {
	g.markUnpacked(s, f)
	for i := range f.Parts {
		p := &f.Parts[i]
		for j := range p.Paths {
			if p.Paths[j].Access == policy.Execute && g.writtenHere(s, &p.Paths[j]) {
				p.Effects = append(p.Effects, policy.EffectWrittenHere)
				break
			}
		}
	}
}

// markUnpacked marks the parts that write files into the project folder under names that the command does not say (an archive, the contents
// of a folder), where what the command reads was written in this session: the names may be those of the files that govern the agent (W6).
func (g *Gate) markUnpacked(s *Session, f *policy.Facts) {
	for i := range f.Parts {
		p := &f.Parts[i]
		if slices.ContainsFunc(p.Paths, g.isProject) && g.readsWritten(s, f) {
			p.Effects = append(p.Effects, policy.EffectWrittenHere)
		}
	}
}

// isProject reports whether the project folder itself, or one above it, is what is written.
func (g *Gate) isProject(p policy.Path) bool {
	return p.Access == policy.Write && g.dir != "" && (holds(p.Clean, g.dir) || holds(p.Resolved, g.dir))
}

// readsWritten reports whether a command reads a file that this session or the command itself wrote, or a folder with one in it. The
// project folder does not count: there is always one in it.
func (g *Gate) readsWritten(s *Session, f *policy.Facts) bool {
	var before []policy.Path // what the parts before write
	for i := range f.Parts {
		for _, p := range f.Parts[i].Paths {
			if p.Access != policy.Read || p.Clean == "" || holds(p.Clean, g.dir) {
				continue
			}
			if g.writtenHere(s, &p) || g.writtenBelow(s, p.Clean) || g.writtenBelow(s, p.Resolved) ||
				slices.ContainsFunc(before, func(w policy.Path) bool { return holds(p.Clean, w.Clean) }) {
				return true
			}
		}
		for _, p := range f.Parts[i].Paths {
			if p.Access == policy.Write && !g.isProject(p) {
				before = append(before, p)
			}
		}
	}
	return false
}

// holds reports whether a path is the folder, or is below it. An empty folder holds nothing.
func holds(folder, path string) bool {
	return folder != "" && (path == folder || folder == "/" || strings.HasPrefix(path, folder+"/"))
}

// writtenBelow reports whether this session wrote something in a folder.
func (g *Gate) writtenBelow(s *Session, folder string) bool {
	w := &s.written
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.paths {
		if p != folder && holds(folder, p) {
			return true
		}
	}
	return false
}

func (g *Gate) writtenHere(s *Session, p *policy.Path) bool {
	w := &s.written
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open(g.written, s.ID)
	w.load()
	if w.all && strings.HasPrefix(p.Clean, g.dir+"/") {
		return true
	}
	_, clean := w.paths[p.Clean]
	_, resolved := w.paths[p.Resolved]
	return clean || resolved && p.Resolved != ""
}
