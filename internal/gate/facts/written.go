package facts

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"mycelium/internal/policy"
	"mycelium/internal/shell/compiled"
)

// Bounds of what is remembered of a session's writes.
const (
	maxWritten = 5000                // paths; past them every file in the project counts as written by the session
	keepFor    = 30 * 24 * time.Hour // a session's file is removed this long after the last write to it
)

// Written remembers which files the allowed calls of one session wrote (W3), and the digests of what was in them. It keeps them in a file
// for each session, one quoted path or one digest a line, so that a hook that decides without a daemon knows them too. An error of that
// file never refuses a call: the paths then stay in memory only. It is safe for concurrent use.
type Written struct {
	project string // its folder

	mu    sync.Mutex
	file  string
	read  int64 // how much of the file is in paths
	paths map[string]struct{}
	all   bool // the bound was met
	texts contents
}

// everything is the line that says that the bound was met.
const everything = "*"

// NewWritten returns the memory of a session. folder is where the files of all sessions are; with "", or with a session whose id is
// not a plain file name, there is no file. project is the project folder.
func NewWritten(folder, session, project string) *Written {
	w := &Written{project: project, paths: map[string]struct{}{}, texts: contents{sums: map[string]struct{}{}}}
	if folder != "" && session != "" && strings.Trim(session, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" {
		w.file = filepath.Join(folder, session)
	}
	return w
}

// load reads the file again if it has grown: another process may have written to it.
func (w *Written) load() {
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
			w.texts.wrote(path)
		} else {
			w.texts.read(line)
		}
	}
}

// add remembers paths. The lock is held.
func (w *Written) add(paths []string) {
	w.load()
	lines := w.texts.settle()
	for _, p := range paths {
		w.texts.wrote(p)
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

// prune removes the files that no session has written to for keepFor.
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

// Note remembers the files that a call writes which is about to run: a shell command, or a tool whose arguments say what it writes. What is
// compiled from files of the project that the session did not write is not remembered: see [compiled.Of].
func (w *Written) Note(it policy.Item, f *policy.Facts) {
	if it.Kind != policy.Tool || it.Server != policy.AgentServer && it.Server != "files" {
		return
	}
	var paths []string
	for i := range f.Parts {
		compiled := w.compiled(f, &f.Parts[i])
		for _, p := range f.Parts[i].Paths {
			if p.Access != policy.Write || p.Clean == "" || compiled {
				continue
			}
			paths = append(paths, p.Clean)
			if p.Resolved != "" && p.Resolved != p.Clean {
				paths = append(paths, p.Resolved)
			}
		}
		paths = append(paths, w.members(f, &f.Parts[i])...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(paths) > 0 || len(w.texts.pending) > 0 { // a program of this call may rename what the calls before wrote
		w.add(paths)
	}
}

// Mark adds [policy.EffectWrittenHere] to the parts that execute a file which the session wrote, and to those that unpack one into the
// project.
func (w *Written) Mark(f *policy.Facts) {
	w.markUnpacked(f)
	var built []string // from what the session wrote, by a part before
	for i := range f.Parts {
		p := &f.Parts[i]
		if slices.ContainsFunc(p.Paths, func(p policy.Path) bool {
			return p.Access == policy.Execute && (w.has(f, &p) || w.matches(&p) || slices.Contains(built, p.Clean))
		}) {
			p.Effects = append(p.Effects, policy.EffectWrittenHere)
		}
		if compiled.Compiles(p) && !w.compiled(f, p) {
			for _, at := range p.Paths {
				if at.Access == policy.Write && at.Clean != "" {
					built = append(built, at.Clean)
				}
			}
		}
	}
}

// compiled reports whether what a part writes is compiled from files of the project that the session did not write.
func (w *Written) compiled(f *policy.Facts, p *policy.Part) bool {
	return slices.ContainsFunc(w.projects(f), func(folder string) bool {
		return compiled.Of(p, folder, func(at policy.Path) bool { return w.has(f, &at) || w.matches(&at) || w.below(at.Clean) })
	})
}

// markUnpacked marks the parts that write files into the project folder under names which the command does not say (an archive, the
// contents of a folder), if the session wrote what the command reads: the names may be those of files that govern the agent (W6).
func (w *Written) markUnpacked(f *policy.Facts) {
	for i := range f.Parts {
		p := &f.Parts[i]
		if slices.ContainsFunc(p.Paths, func(p policy.Path) bool { return w.isProject(f, p) }) && w.reads(f) {
			p.Effects = append(p.Effects, policy.EffectWrittenHere)
		}
	}
}

// isProject reports whether a path is written that is a folder of the project, or one above it.
func (w *Written) isProject(f *policy.Facts, p policy.Path) bool {
	return p.Access == policy.Write && (w.above(f, p.Clean) || w.above(f, p.Resolved))
}

// above reports whether a path is a folder of the project, or one above it.
func (w *Written) above(f *policy.Facts, path string) bool {
	return w.project != "" && slices.ContainsFunc(w.projects(f), func(folder string) bool { return holds(path, folder) })
}

// projects are the folders of the project.
func (w *Written) projects(f *policy.Facts) []string {
	return append([]string{w.project}, f.Worktrees...)
}

// reads reports whether a command reads a file that the session or an earlier part of the command wrote, or a folder that holds one.
// The project folder does not count: it always holds one.
func (w *Written) reads(f *policy.Facts) bool {
	var before []policy.Path // what the parts before write
	for i := range f.Parts {
		for _, p := range f.Parts[i].Paths {
			if p.Access != policy.Read || p.Clean == "" || w.above(f, p.Clean) {
				continue
			}
			if w.has(f, &p) || w.below(p.Clean) || w.below(p.Resolved) ||
				slices.ContainsFunc(before, func(b policy.Path) bool { return holds(p.Clean, b.Clean) }) {
				return true
			}
		}
		for _, p := range f.Parts[i].Paths {
			if p.Access == policy.Write && !w.isProject(f, p) {
				before = append(before, p)
			}
		}
	}
	return false
}

// holds reports whether a path is the folder, or is below it. The folder "" holds no path.
func holds(folder, path string) bool {
	return folder != "" && (path == folder || folder == "/" || strings.HasPrefix(path, folder+"/"))
}

// below reports whether the session wrote a file in a folder.
func (w *Written) below(folder string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.paths {
		if p != folder && holds(folder, p) {
			return true
		}
	}
	return false
}

// matches reports whether the session wrote a file that a pattern of executed files matches.
func (w *Written) matches(p *policy.Path) bool {
	if !p.Pattern || p.Clean == "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.load()
	for path := range w.paths {
		for _, glob := range [...]string{p.Clean, p.Resolved} {
			if ok, err := doublestar.Match(glob, path); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// Paths returns the files that the session wrote whose names have one of the endings.
func (w *Written) Paths(endings ...string) (files []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.load()
	for path := range w.paths {
		if slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(path, end) }) {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files
}

// has reports whether the session wrote a file.
func (w *Written) has(f *policy.Facts, p *policy.Path) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.load()
	if w.all && slices.ContainsFunc(w.projects(f), func(dir string) bool { return strings.HasPrefix(p.Clean, dir+"/") }) {
		return true
	}
	_, clean := w.paths[p.Clean]
	_, resolved := w.paths[p.Resolved]
	return clean || resolved && p.Resolved != "" || p.Access == policy.Execute && !p.Pattern && w.texts.has(p.Clean)
}

// MoveWritten has the files that sessions wrote in a project's former folder count under the folder where the project is, too. A second
// call does nothing. folder is where the files of all sessions are.
func MoveWritten(folder, from, to string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("move what sessions wrote: %w", err)
	}
	for _, e := range entries {
		w := NewWritten(folder, e.Name(), to)
		w.load()
		var moved []string
		for path := range w.paths {
			if rest, below := strings.CutPrefix(path, from+"/"); below {
				moved = append(moved, filepath.Join(to, rest))
			}
		}
		w.add(moved)
		again := NewWritten(folder, e.Name(), to)
		again.load()
		if len(again.paths) < len(w.paths) || again.all != w.all {
			return fmt.Errorf("move what sessions wrote: %s cannot be written", filepath.Join(folder, e.Name()))
		}
	}
	return nil
}
