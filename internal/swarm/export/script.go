package export

import (
	"path"
	"strings"

	"mycelium/internal/harness"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// Place is where the work of a session is.
type Place struct {
	Repository string // the top of the person's checkout, absolute
	Prefix     string // from there to the project, with slashes; empty: they are the same
	Revision   string // the commit at which the branch of the session stands, as git finds it
}

// scriptHead is how init.sh begins.
const scriptHead = "#!/bin/sh\n# " + by

// most bounds a description in the script, in columns.
const most = 160

// script is init.sh. All that comes from a plan is in it either as a comment of one line, in which [text.Flatten] leaves no character that
// breaks a line, or as one quoted word.
func script(s *book.Session, at Place) string {
	folder := path.Clean(at.Repository) + "-" + s.ID
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	line(scriptHead)
	line("# ", stands(s))
	line("#")
	line("# Usage: sh ", Init, " [FOLDER]")
	line("# It makes a worktree in FOLDER (", text.OneLine(folder), ") with what has landed, and says how that is verified.")
	line("# No branch is checked out there, because nothing could land on it then. No hook and no check is run.")
	line("#")
	for _, f := range s.Features {
		line("# ", text.OneLine(f.ID), " (", f.State.Words(), "): ", text.Cell(strings.TrimSpace(text.Flatten(f.Description)), most))
	}
	line("set -eu")
	line("unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE")
	line("repository=", harness.ShellWord(at.Repository))
	line("revision=", harness.ShellWord(at.Revision))
	line("beside=", harness.ShellWord(folder))
	b.WriteString(makes)
	say := func(s string) { line("printf '%s\\n' ", harness.ShellWord(text.OneLine(s))) }
	line(`printf '%s\n' "The session stands in $folder"`)
	if commands := checks(s); len(commands) > 0 {
		line(`printf '%s\n' "To verify it: cd $folder"`, harness.ShellWord(strings.TrimSuffix("/"+text.OneLine(at.Prefix), "/")))
		for _, c := range commands {
			say("  " + c)
		}
	}
	repository := harness.ShellWord(text.OneLine(harness.ShellWord(at.Repository)))
	line(`printf '%s\n' "To remove it: git -C "`, repository, `" worktree remove $folder"`)
	return b.String()
}

// makes is the part of the script that makes the worktree. It touches no folder that is there: it may be the person's checkout.
const makes = `folder=${1:-$beside}
case $folder in
/*) ;;
*) folder=$PWD/$folder ;;
esac
if [ -e "$folder" ]; then
	printf '%s\n' "$folder is there already: name another folder" >&2
	exit 1
fi
git -c core.hooksPath=/dev/null -C "$repository" worktree add --quiet --detach -- "$folder" "$revision"
folder=$(cd "$folder" && pwd -P)
`

// checks are what landings and features must pass, as a person would type it.
func checks(s *book.Session) (out []string) {
	for _, argv := range s.Settings.Verify {
		out = append(out, typed(argv))
	}
	for _, f := range s.Features {
		if v := f.Validation; v != nil && v.Enabled && len(v.VerifyCommand) > 0 {
			out = append(out, typed(v.VerifyCommand)+"   # "+f.ID)
		}
	}
	return out
}

func typed(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = harness.ShellWord(w)
	}
	return strings.Join(words, " ")
}
