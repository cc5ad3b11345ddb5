package differ

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// aNumber is what the facts write as 0 where a number is not known.
var aNumber = regexp.MustCompile(`[0-9]+`)

// ownTemporary is what programs make for themselves.
var ownTemporary = regexp.MustCompile(`^/tmp/(sort|tac)[A-Za-z0-9]{6}$`)

// made is how mktemp names what it makes. The facts write zeros.
var made = regexp.MustCompile(`tmp\.[A-Za-z0-9]{10}`)

// temporary is how sed -i and ln -f name a file of their own, which they make beside the one that they replace.
var temporary = regexp.MustCompile(`/(sed|Cu)[A-Za-z0-9]{6}$`)

// wrappers are programs that are no part of the facts where they only run another one, which is.
var wrappers = []string{"env", "nohup", "timeout", "sh", "dash", "bash", "xargs"}

// systemFolders are where the loader, the C library and the shells look of themselves, whatever the command says.
var systemFolders = []string{"/usr/lib", "/lib", "/lib64", "/usr/lib64", "/usr/share/locale", "/usr/share/zoneinfo", "/usr/share/terminfo",
	"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/localtime", "/etc/terminfo",
	"/etc/inputrc", "/etc/magic", "/etc/magic.mgc", "/usr/share/misc", "/usr/share/file",
	"/etc/host.conf", "/etc/resolv.conf", "/etc/hosts", "/etc/services", "/etc/gai.conf", "/proc", "/dev", "/sys/fs", "/usr/share/bash-completion"}

// understood reports whether the facts of a command say that all of it is understood. Code for an interpreter that was not read is not. The
// policy asks about any other command.
func understood(f policy.Facts) bool {
	return !slices.ContainsFunc(f.Parts, func(p policy.Part) bool {
		return len(p.Unclear) > 0 || slices.Contains(p.Effects, policy.EffectInlineCode)
	})
}

// unnamed returns the events that the facts do not name.
func unnamed(f policy.Facts, events []event) (out []event) {
	for _, e := range events {
		if !named(f, e) {
			out = append(out, e)
		}
	}
	return out
}

// named reports whether facts name what a process did. A shell does what any part says: it makes the redirections of all of them. Another
// program does what the parts of its name say.
//
//   - A program is named by its name. One in the home is named by its path too, as executed.
//   - A file that is read is named by a path that is read, written, deleted or executed, but not by one that is only looked at.
//   - A file that is written is named by a path that is written. One that is only made, and not emptied, is named by one that is made.
//   - A file that is deleted is named by a path that is deleted or written.
//   - Rights and times are named by a path that is written, in whatever way.
//   - A path is named by itself, with links followed or not, by a glob that matches it, and, for a program, by a folder around it. A number
//     that nobody knows stands as 0 or %! in the facts.
//   - A folder that is listed is named by any path of the program; what a shell lists for a glob is named where the names are used.
func named(f policy.Facts, e event) bool {
	switch {
	case e.Access == connects:
		return slices.ContainsFunc(f.Parts, func(p policy.Part) bool {
			return slices.Contains(p.Hosts, e.Path) || e.Path == "127.0.0.1" && slices.Contains(p.Hosts, "localhost")
		})
	case e.Access == executes:
		return runs(f, e)
	case underAny(clean(e.Path), systemFolders...) || underAny(e.Real, systemFolders...):
		return true
	case e.Access == reads && underAny(e.Real, "/usr/bin") && e.Shell: // dash looks for what "." names in PATH
		return true
	case ownTemporary.MatchString(e.Path), e.Access == makes && strings.HasSuffix(e.Path, "/"): // no file has such a name
		return true
	case e.Program == "mktemp" && made.MatchString(e.Path) && underAny(e.Path, "/tmp"): // nobody else's
		return true
	case e.Access == lists && (e.Shell || slices.Contains(wrappers, e.Program)):
		return true
	case e.Access == reads && (e.Program == "wc" || e.Program == "file"), e.Access == reads && strings.HasSuffix(e.Path, "/.") && isFolder(e.Real), e.Access == reads && isFolder(e.Real) && e.Shell:
		return true
	}
	if temporary.MatchString(e.Path) && slices.Contains([]string{"sed", "ln", "cp"}, e.Program) {
		e.Path, e.Real, e.Access = filepath.Dir(e.Path), "", writes
	}
	return slices.ContainsFunc(f.Parts, func(p policy.Part) bool {
		if !e.Shell && p.Program != e.Program && !slices.Contains(wrappers, e.Program) {
			return false
		}
		return slices.ContainsFunc(p.Paths, func(path policy.Path) bool { return allows(path, e) && means(path, e) })
	})
}

// runs reports whether facts name a program that ran.
func runs(f policy.Facts, e event) bool {
	name := filepath.Base(e.Path)
	if underAny(clean(e.Path), home, "/tmp") {
		return slices.ContainsFunc(f.Parts, func(p policy.Part) bool {
			return slices.ContainsFunc(p.Paths, func(path policy.Path) bool { return path.Access == policy.Execute && means(path, e) })
		})
	}
	return slices.Contains(wrappers, name) || slices.ContainsFunc(f.Parts, func(p policy.Part) bool { return p.Program == name })
}

// allows reports whether the access of a path is that of an event, or more.
func allows(p policy.Path, e event) bool {
	write := p.Access == policy.Write
	switch e.Access {
	case reads:
		return p.Only != policy.Looks || isFolder(e.Real)
	case lists:
		return true
	case makes:
		return write && p.Only != policy.Looks || p.Access == policy.Delete && e.Program == "shred"
	case writes:
		return write && p.Only != policy.Looks
	case deletes:
		return p.Access == policy.Delete || write && p.Only == ""
	case marks:
		return write || p.Access == policy.Delete
	case executes, connects:
	}
	return false
}

// means reports whether a path of the facts is the one of an event.
func means(p policy.Path, e event) bool {
	e.Path, e.Real = made.ReplaceAllString(e.Path, "tmp.0000000"), made.ReplaceAllString(e.Real, "tmp.0000000")
	for _, at := range []string{clean(e.Path), e.Real, aNumber.ReplaceAllString(e.Real, "0"), aNumber.ReplaceAllString(e.Real, "%!"), aNumber.ReplaceAllString(clean(e.Path), "0")} {
		for _, form := range []string{p.Clean, p.Resolved} {
			if form == "" || at == "" {
				continue
			}
			if at == form || e.Access == lists && at == filepath.Dir(form) || e.Program == "mktemp" && filepath.Dir(at) == filepath.Dir(form) || (e.Program == "mkdir" || e.Program == "install" || e.Real == "") && within(form, at) || !p.Pattern && !e.Shell && e.Access != executes && within(at, form) {
				return true
			}
			if p.Pattern && matches(form, at, !e.Shell) {
				return true
			}
		}
	}
	return false
}

// matches reports whether a glob matches a path, or, if below is set, a folder around it.
func matches(glob, path string, below bool) bool {
	language := globs.Of(glob, false)
	for ; len(path) > 1; path = filepath.Dir(path) {
		if language.Meets(globs.Of(globs.Quote(path), false)) {
			return true
		}
		if !below {
			return false
		}
	}
	return false
}

func within(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

func clean(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Clean(path)
}
