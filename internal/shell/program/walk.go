package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/compiled"
	"mycelium/internal/shell/effect"
)

// Bounds of the work on one command. A command that exceeds one of them is unclear as a whole.
const (
	MaxParts = 200 // parts of a command
	MaxDepth = 20  // commands in commands: bash -c, eval, $( ), functions
	MaxWords = 100 // words that one word may become, links, files of one copy
)

// Walk collects the facts of one command while package shell walks it, and keeps what holds for the rest of the walk.
type Walk struct {
	Home string // the user's home folder; empty if it is not known
	Dir  string // the working directory in which the command starts; empty if it is not known

	Parts     []policy.Part
	Does      effect.Set // the effects of all parts since the walk last cleared it
	Inherited effect.Set // the effects that the wrappers around add to every part: sudo adds Privilege
	Elsewhere bool       // the command runs on another machine or in a container: its paths are not ours
	Exceeded  bool       // a bound was met
	Endless   bool       // a command since the walk last cleared it writes a stream that has no end

	Errexit     bool // set -e: after a failure the shell runs no further command
	IFSChanged  bool // IFS was assigned: how values are split is not known
	PathChanged bool // PATH was assigned: which program a name means is not known
	Searched    bool // a variable names folders where an interpreter looks for modules
	BranchMoved bool // another branch may be checked out than when the command started

	// A text such as a[$(command)] runs the command where the shell evaluates the text as a number, and IFS=1 assigns there. The walk
	// records whether there is such a text (Armed) and such a place (Evaluates).
	Armed     bool
	Evaluates bool

	Changed []string // variables to which a word such as ${x:=value} assigns: their values are not known
	Numbers []string // variables to which an expression or {x}>file assigns a number: all other values are not known

	Level    int     // how many functions are being called
	Returned []State // where return left a function
	Broken   []State // where break and continue left a turn of a loop

	Traps       []string // what traps run: what it means must not change later
	InTrap      bool     // the text of a trap is walked
	TrapHere    bool     // a trap works in the working directory
	TrapChanged bool     // what a trap uses was assigned or declared after it was set

	Found    []Word // the files that the last find of the command finds
	assigned int
	links    []link
	loose    []string // folders in which one of the links may lie under any name
	folders  []string // working directories that are patterns
	unpacked []unpacked
	fetched  []unpacked
}

// Exceed records that the command does too much to be read as a whole.
func (w *Walk) Exceed() { w.Exceeded = true }

// Add appends a part with its effects. If does is empty, the part brings its own.
func (w *Walk) Add(p policy.Part, does effect.Set) {
	if len(w.Parts) >= MaxParts {
		w.Exceed()
		return
	}
	w.BranchMoved = w.BranchMoved || does == 0 // the part was not read
	if does != 0 {
		does |= w.Inherited
		p.Effects = does.Names()
	}
	w.Does |= does
	w.Parts = append(w.Parts, p)
}

// Assign returns the state after an assignment, and records what the assignment means for the commands that follow.
func (w *Walk) Assign(s State, name string, values ...Word) State {
	if w.assigned++; w.assigned > maxBindings {
		w.Exceed()
		return s
	}
	w.Arm(values...)
	if slices.Contains(w.Changed, name) || slices.Contains(w.Numbers, name) && !IsNumber(values) {
		values = UnknownWords
	}
	if keepsOwn(name) && !IsNumber(values) {
		values = UnknownWords
	}
	if before, _ := s.Lookup(name); len(w.Traps) > 0 && !Same(before, values) {
		w.TrapChanged = w.TrapChanged || slices.ContainsFunc(w.Traps, func(text string) bool {
			return ContainsAny(text, "$"+name, "{"+name, "{!", "{#"+name)
		})
	}
	switch name {
	case "IFS":
		w.IFSChanged = true
	case "PATH":
		w.PathChanged = w.PathChanged || len(values) != 1 || !systemPath(values[0]) && !samePath(values[0])
	}
	return s.With(name, values...)
}

// IsNumber reports whether a variable has one value, which is written in digits.
func IsNumber(values []Word) bool {
	return len(values) == 1 && !values[0].Unknown && strings.Trim(values[0].Text, "0123456789") == "" && values[0].Text != ""
}

// TrapNames reports whether a trap may call what has the given name.
func (w *Walk) TrapNames(name string) bool {
	between := func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}`", r) }
	return slices.ContainsFunc(w.Traps, func(text string) bool { return slices.Contains(strings.FieldsFunc(text, between), name) })
}

// Arm records whether one of the values runs a command where it is evaluated as a number, or changes where words end: IFS=1.
func (w *Walk) Arm(values ...Word) {
	for i := range values {
		w.Armed = w.Armed || Arms(values[i].Text) || strings.Contains(values[i].Text, "IFS")
	}
}

// Arms reports whether a text runs a command where it is evaluated as a number or as the name of a variable.
func Arms(s string) bool {
	i := strings.IndexByte(s, '[')
	if i < 0 {
		return false
	}
	s = s[i:]
	return strings.Contains(s, "$(") || strings.IndexByte(s, '`') >= 0 || strings.Contains(s, "${ ") || strings.Contains(s, "${|")
}

// Fetch records that the command brings files of another machine to a place: into a folder, or a file. The project declares none of them.
func Fetch(c *Call, at Word) {
	if at.Unknown || len(c.Walk.fetched) >= MaxWords {
		return
	}
	for _, d := range c.State.Dirs {
		c.Walk.fetched = append(c.Walk.fetched, unpacked{JoinPath(d, at.Text), len(c.Walk.Parts)})
	}
}

// runsFetched reports whether a part runs code that an earlier part of the same command brought from another machine.
func (w *Walk) runsFetched(i int) bool {
	p := &w.Parts[i]
	builds := slices.ContainsFunc(p.Effects, func(e string) bool {
		return e == policy.EffectProjectCode || e == policy.EffectDeps || e == policy.EffectInstall
	})
	return slices.ContainsFunc(p.Paths, func(at policy.Path) bool {
		return (builds || at.Access == policy.Execute) && slices.ContainsFunc(w.fetched, func(f unpacked) bool {
			return f.part < i && (at.Clean == f.dir || strings.HasPrefix(at.Clean, f.dir+"/"))
		})
	})
}

// MarkWrittenHere marks the parts that execute a file which an earlier part of the same command wrote, but for [compiled.Of] ones, and
// those that run what one fetched.
func (w *Walk) MarkWrittenHere() {
	var written, downloaded []string
	for i := range w.Parts {
		p := &w.Parts[i]
		remote := len(w.fetched) > 0 && w.runsFetched(i) || len(downloaded) > 0 && slices.ContainsFunc(p.Paths, func(at policy.Path) bool {
			return at.Access == policy.Execute && slices.Contains(downloaded, at.Clean)
		})
		if remote && !slices.Contains(p.Effects, policy.EffectRemoteCode) {
			p.Effects = append(p.Effects, policy.EffectRemoteCode)
		}
		if slices.Contains(p.Effects, policy.EffectNetwork) {
			for _, at := range p.Paths {
				if at.Access == policy.Write && at.Clean != "" && at.Clean != w.Dir {
					downloaded = append(downloaded, at.Clean)
				}
			}
		}
		for _, at := range p.Paths {
			if at.Access != policy.Execute || at.Clean == "" {
				continue
			}
			if slices.Contains(written, at.Clean) || at.Pattern && matchesAny(at.Clean, written) || w.wasUnpacked(at.Clean, i) {
				p.Effects = append(p.Effects, policy.EffectWrittenHere)
				break
			}
		}
		if compiled.Of(p, w.Dir, func(at policy.Path) bool {
			return slices.Contains(written, at.Clean) || at.Pattern && matchesAny(at.Clean, written)
		}) {
			continue
		}
		for _, at := range p.Paths {
			if at.Access == policy.Write && at.Clean != "" {
				written = append(written, at.Clean)
			}
		}
	}
}

// Wrote reports whether an earlier part of the command writes a file that a word names.
func (w *Walk) Wrote(name Word) bool {
	to := JoinPath(w.Dir, name.Text)
	for i := range w.Parts {
		if slices.ContainsFunc(w.Parts[i].Paths, func(p policy.Path) bool { return p.Access == policy.Write && p.Clean == to }) {
			return true
		}
	}
	return false
}

// matchesAny reports whether a glob matches one of the paths.
func matchesAny(glob string, paths []string) bool {
	language := globs.Of(glob, false)
	return slices.ContainsFunc(paths, func(p string) bool { return language.Meets(globs.Of(globs.Quote(p), false)) })
}

// unpacked is a folder into which a part writes files that the command does not name.
type unpacked struct {
	dir  string
	part int
}

// wasUnpacked reports whether a part before the given one may have written the file without naming it.
func (w *Walk) wasUnpacked(file string, part int) bool {
	for _, u := range w.unpacked {
		if u.part < part && strings.HasPrefix(file, u.dir+"/") {
			return true
		}
	}
	return false
}
