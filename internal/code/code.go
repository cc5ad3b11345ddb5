// Package code finds the code that runs out of files. It follows what scripts, Makefiles and package.json run or load by a literal name:
// from the facts of a call, so that an approval is bound to content ([Of]), and from the files that a server names, which govern as its
// entry does ([Loaded]). What it cannot follow, it says: nothing that was not read counts as read.
package code

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// The bounds of what is read for one question. What is beyond them counts as not read.
const (
	// maxFiles bounds the files. The largest script of this repository runs 3 others, and the module graph of the scripts in the npm packages
	// that its tests install stays below 40.
	maxFiles = 64
	// maxListed bounds the names that are looked for, with those of files that are not there.
	maxListed = 8 * maxFiles
	// maxBytes bounds the bytes that are digested. The largest interpreter that people keep in their home folder is node: 119 MiB (24.11.1).
	maxBytes = 256 << 20
	// maxGoverning bounds the files of a server. It leaves room for a whole application that
	// starts a server, and keeps a start below a second.
	maxGoverning = 512
	// maxText bounds a file in which other files are looked for. A shell script has the bound of a command, [shell.MaxLength].
	maxText = 1 << 20
	// maxKept bounds a text that is kept so that people can see a difference, and maxKeptAll all of them.
	maxKept    = 32 << 10
	maxKeptAll = 128 << 10
)

// Where says where a call works.
type Where struct {
	Project string // the project folder
	Home    string // of the user
	Path    string // the value of PATH, as far as it is known
}

// Of returns the code that a call with these facts would run. The folder of the facts is where it works.
func Of(f *policy.Facts, w Where) approval.Code {
	r := newReader(w, f.Dir, bounds{maxFiles, maxListed, maxBytes})
	r.projects = append(r.projects, f.Worktrees...)
	r.command(f)
	r.followAll()
	slices.SortFunc(r.out.Files, func(a, b approval.CodeFile) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(r.out.Unread)
	r.out.Unread = slices.Compact(r.out.Unread)
	return r.out
}

// Loaded returns the files of the project that a server runs or loads, by a literal name, from files that it names: the command, which is
// a program or its path, and its arguments. The result has no order. It has files that do not exist, because they would be loaded from then
// on. whole reports whether all of them were looked for: it is false if a bound was met.
func Loaded(command string, named []string, project string) (files []string, whole bool) {
	if len(named) == 0 {
		return nil, true
	}
	r := newReader(Where{Project: project}, project, bounds{maxGoverning, 8 * maxGoverning, maxBytes})
	r.only = project
	for _, path := range named {
		language := byContent
		if l := languageOf(filepath.Base(command), path); filepath.Ext(path) == "" && l != shellScript {
			language = l // a shell may start any language, and the first line says which
		}
		r.file(path, language)
	}
	r.followAll()
	for _, f := range r.out.Files {
		files = append(files, f.Path)
	}
	return files, !r.full
}

func newReader(w Where, dir string, most bounds) *reader {
	return &reader{Where: w, projects: []string{w.Project}, dir: dir, most: most, known: map[string]bool{}, texts: map[string][]byte{}}
}

// followAll looks in the files that were found, and in those that they name.
func (r *reader) followAll() {
	for len(r.todo) > 0 && !r.full {
		next := r.todo[0]
		r.todo = r.todo[1:]
		r.follow(next)
	}
}

// bounds are the most files that exist, names that are looked for, and bytes that are read.
type bounds struct {
	files, listed int
	bytes         int64
}

// reader collects the code of one call or server.
type reader struct {
	Where
	most     bounds
	only     string   // the folder outside of which nothing is looked at; empty: all files are
	projects []string // the folders of the project
	dir      string   // where the call works
	root     string   // while a Python file is looked at: the folder of the script that loads it, which is first in sys.path
	out      approval.Code
	known    map[string]bool   // paths that were looked at
	texts    map[string][]byte // of the files package.json
	todo     []source
	there    int   // files that exist
	bytes    int64 // that were digested
	kept     int   // bytes of texts that are kept
	full     bool  // a bound was met
}

// source is a file in which other files are looked for.
type source struct {
	path     string
	language language
	text     string
	root     string // of a Python module: see reader
}

// command takes what a command runs: the files that it executes, those in which its programs find commands, and the programs themselves.
func (r *reader) command(f *policy.Facts) {
	for i := range f.Parts {
		r.part(&f.Parts[i], f)
	}
}

func (r *reader) part(p *policy.Part, f *policy.Facts) {
	named := false
	for _, at := range p.Paths {
		if at.Access == policy.Execute {
			named = true
			r.execute(p, at)
		}
	}
	if !has(p, policy.EffectProjectCode, policy.EffectInlineCode, policy.EffectDeps, policy.EffectInstall) {
		r.program(p)
		return
	}
	found := r.manifests(p)
	switch {
	case len(p.Unclear) > 0:
		r.unread(p.Program + ": " + strings.Join(p.Unclear, ", "))
		r.inputs(f)
	case !named && !found && has(p, policy.EffectProjectCode):
		r.out.More = true
	}
	r.program(p)
}

// has reports whether a part has one of the effects.
func has(p *policy.Part, effects ...string) bool {
	return slices.ContainsFunc(p.Effects, func(e string) bool { return slices.Contains(effects, e) })
}

// execute takes a file that a part of a command executes.
func (r *reader) execute(p *policy.Part, at policy.Path) {
	if at.Clean == "" {
		r.unread("the path of " + at.Raw + " is not known")
		return
	}
	if info, err := os.Stat(at.Clean); err == nil && info.IsDir() {
		r.folder(p, at.Clean)
		return
	}
	if strings.ContainsAny(at.Clean, "*?[") {
		if _, err := os.Lstat(at.Clean); err != nil {
			r.unread("which files " + at.Raw + " names is not known")
			return
		}
	}
	if isSystem(at.Clean) {
		return
	}
	r.file(at.Clean, languageOf(p.Program, at.Clean))
}

// folder takes a folder that is executed. Of a Go program it reads the files; what they import is not read.
func (r *reader) folder(p *policy.Part, dir string) {
	r.out.More = true
	if p.Program != "go" {
		return
	}
	names, err := filepath.Glob(filepath.Join(quoteGlob(dir), "*.go"))
	if err != nil {
		r.unread(dir)
	}
	for _, name := range names {
		r.file(name, opaque)
	}
}

// quoteGlob quotes a path for filepath.Glob.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// inputs takes the files that a command reads, where the code that runs is what one of its parts writes: cat x | sh.
func (r *reader) inputs(f *policy.Facts) {
	for i := range f.Parts {
		for _, at := range f.Parts[i].Paths {
			if info, err := os.Stat(at.Clean); at.Access == policy.Read && err == nil && info.Mode().IsRegular() && !isSystem(at.Clean) {
				r.file(at.Clean, opaque)
			}
		}
	}
}

// program takes the program of a part, if it lies in the project or in the home folder: no package manager of the system keeps it.
func (r *reader) program(p *policy.Part) {
	if p.Program == "" || strings.ContainsRune(p.Program, '/') {
		return
	}
	for _, at := range p.Paths {
		if at.Access == policy.Execute && filepath.Base(at.Clean) == p.Program {
			return // it was named by its path
		}
	}
	for _, dir := range filepath.SplitList(r.Path) {
		path := filepath.Join(dir, p.Program)
		info, err := os.Stat(path)
		if !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if inside(path, r.Home) || slices.ContainsFunc(r.projects, func(dir string) bool { return inside(path, dir) }) {
			r.file(path, opaque) // the program is another's: what it loads is not looked for
		}
		return
	}
}

// inside reports whether a path lies in a folder.
func inside(path, folder string) bool {
	return folder != "" && folder != "/" && strings.HasPrefix(path, folder+"/")
}

// isSystem reports whether a file belongs to the system's packages: only root changes it.
func isSystem(path string) bool {
	for _, dir := range [...]string{"/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/share",
		"/nix/store", "/snap"} {
		if inside(path, dir) {
			return true
		}
	}
	return false
}

// unread notes code that could not be read.
func (r *reader) unread(what string) {
	r.out.Unread = append(r.out.Unread, strings.ReplaceAll(what, r.dir+"/", ""))
}

// commandsOf returns what a text of shell commands would do in a folder.
func (r *reader) commandsOf(text, dir string) policy.Facts {
	return shell.Facts(text, shell.Options{Dir: dir, Home: r.Home})
}
