package harness

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"mycelium/internal/harness/shellwords"
)

// Prefix is the variable with which an agent starts a program of ours instead of a command of its shell. It is zero for an agent that has
// none.
type Prefix struct {
	Variable string // it names the program, which gets one argument: what the agent would have given to the shell
	unwrap   func(line string) (Wrapped, error)
}

// Wrapped is a command of an agent's shell with what the agent puts around it.
type Wrapped struct {
	Command  string // as the hook's event has it
	Shell    string // the shell that it is written for: bash or zsh
	Snapshot string // absolute: the file with the functions and options of the person's shell, which the command reads; may be ""
	Folder   string // absolute: the file to which the command writes the folder in which it ends
}

// errWrapped is the error for a line that is not what an agent of a version that we know wraps.
var errWrapped = errors.New("this is not what a known version of the agent wraps a command in")

// Unwrap takes apart what the program of an agent's Prefix is given for a command of its shell.
func (p Prefix) Unwrap(line string) (Wrapped, error) {
	if p.unwrap == nil {
		return Wrapped{}, errWrapped
	}
	return p.unwrap(line)
}

// unwrapClaude knows what Claude Code wraps, as it was measured with 2.1.197 and 2.1.330: it reads the snapshot of the person's shell,
// sets options, takes aliases away, evaluates the command and writes the folder in which that ends. There is no snapshot where the shell
// took longer than 10 seconds to write it: the agent then goes on without.
func unwrapClaude(line string) (w Wrapped, err error) {
	rest, ok := strings.CutPrefix(line, "source ")
	if !ok {
		rest = " && " + line
	} else if w.Snapshot, rest, ok = shellwords.Next(rest); !ok {
		return w, errWrapped
	}
	for more := true; more; {
		rest, more = cutStep(rest)
	}
	if rest, ok = strings.CutPrefix(rest, " && eval "); !ok {
		return w, errWrapped
	}
	if w.Command, rest, ok = shellwords.Next(rest); !ok {
		return w, errWrapped
	}
	rest = strings.TrimPrefix(rest, " < /dev/null") // without a here-document or an input of its own
	if rest, ok = strings.CutPrefix(rest, " && pwd -P >| "); !ok {
		return w, errWrapped
	}
	if w.Folder, rest, ok = shellwords.Next(rest); !ok || rest != "" {
		return w, errWrapped
	}
	return w, checkClaudeFiles(&w)
}

// checkClaudeFiles checks the names of the two files, and tells the shell by the name of the snapshot. Without a snapshot it is bash.
func checkClaudeFiles(w *Wrapped) error {
	cwd := filepath.Base(w.Folder)
	dir, name := filepath.Split(w.Snapshot)
	rest, named := strings.CutPrefix(name, "snapshot-")
	shell, _, dashed := strings.Cut(rest, "-")
	switch {
	case !filepath.IsAbs(w.Folder), filepath.Clean(w.Folder) != w.Folder, !strings.HasPrefix(cwd, "claude-"), !strings.HasSuffix(cwd, "-cwd"):
	case w.Snapshot != "" && (!named || !dashed || filepath.Base(dir) != "shell-snapshots" || !filepath.IsAbs(w.Snapshot)):
	case w.Snapshot != "" && shell != "bash" && shell != "zsh":
	default:
		w.Shell = cmp.Or(shell, "bash")
		return nil
	}
	return errWrapped
}

// claudeSteps are the steps before the command. The last two stand there for each of some programs, with its name for NAME.
var claudeSteps = []string{
	" 2>/dev/null || true",
	" && { shopt -u extglob || setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true", // 2.1.197
	` && { \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS; }` +
		" >/dev/null 2>&1 || true", // 2.1.330
	` && { \builtin unalias -- 'NAME'; \builtin unset -f -- 'NAME'; } >/dev/null 2>&1 || true`,
}

// cutStep takes one known step off.
func cutStep(line string) (rest string, ok bool) {
	for _, step := range claudeSteps {
		begin, tail, named := strings.Cut(step, "NAME")
		rest, ok := strings.CutPrefix(line, begin)
		if !ok {
			continue
		}
		if !named {
			return rest, true
		}
		name, _, _ := strings.Cut(rest, "'")
		if strings.Trim(name, shellwords.Plain) != "" {
			continue
		}
		if rest, ok = strings.CutPrefix(rest, name+strings.ReplaceAll(tail, "NAME", name)); ok {
			return rest, true
		}
	}
	return line, false
}
