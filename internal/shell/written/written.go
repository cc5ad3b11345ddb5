// Package written knows what some commands write, so that another command may be given it: numbers, hashes, names of containers, temporary
// files.
package written

import (
	"path"
	"strconv"
	"strings"

	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/program"
)

// AThing stands for the name of a thing that is not known but says nothing to a program: a hash, a number, the name of a container. It is
// written like the hash of a commit.
const AThing = "0000000"

// AReference stands for the name of a branch or a tag. Those of other repositories may begin with a hyphen.
const AReference = "-" + AThing

// LastJob stands for the number of the process that the shell itself began last: $!
const LastJob = "%!"

// Kind is what a command writes.
type Kind uint8

// What a command writes.
const (
	Anything  Kind = iota
	Number         // a number, or a name without a slash, in any case
	Thing          // names of things, or nothing
	Reference      // the name of a branch
)

// By returns what the commands from a part on write, which are a pipeline.
func By(w *program.Walk, from int) Kind {
	argv, alone := pipeline(w, from)
	if argv == nil {
		return Anything
	}
	kind := Anything
	switch args := argv[1:]; path.Base(argv[0]) {
	case "date":
		kind = writesDate(args)
	case "nproc":
		kind = kindIf(len(args) == 0, Number)
	case "uname":
		kind = kindIf(len(args) == 1 && program.Named("-s|-m|-r|-n|-o", args[0]), Number)
	case "id":
		kind = kindIf(len(args) == 1 && program.Named("-u|-g", args[0]), Number)
	case "seq":
		kind = writesSequence(args)
	case "git":
		kind = writesOfGit(args)
	case "docker", "podman":
		kind = kindIf(len(args) > 1 && writesContainers(args), Thing)
	case "kubectl":
		kind = kindIf(writesPods(args), Thing)
	case "gh":
		kind = kindIf(writesNumbersOfForge(args), Thing)
	case "pgrep", "pidof":
		kind = kindIf(!hasLetters(args, "lad"), Thing)
	case "lsof":
		kind = kindIf(len(args) > 0 && program.Named("-t|-ti|-nPti", args[0]) && !hasLetters(args, "F"), Thing)
	}
	if kind == Number && !alone {
		return Thing
	}
	return kind
}

// pipeline returns the words of the first command from a part on, if they are known and all commands behind it only take some of its lines.
func pipeline(w *program.Walk, from int) (argv []string, alone bool) {
	if from >= len(w.Parts) {
		return nil, false
	}
	for i := range w.Parts[from:] {
		p := &w.Parts[from+i]
		if i > 0 && (!program.IsFilter(p.Program) || len(p.Paths) > 0 || hasLetters(p.Argv[1:], "nobhHcr")) || len(p.Unclear) > 0 {
			return nil, false
		}
	}
	p := &w.Parts[from]
	if len(p.Argv) == 0 || path.Base(p.Argv[0]) != p.Program || strings.ContainsAny(strings.Join(p.Argv, ""), "$`\n") {
		return nil, false
	}
	return p.Argv, len(w.Parts) == from+1
}

func kindIf(is bool, kind Kind) Kind {
	if is {
		return kind
	}
	return Anything
}

func allAre(args []string, is func(string) bool) bool {
	for _, a := range args {
		if !is(a) {
			return false
		}
	}
	return true
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// hasLetters reports whether a short option has one of the letters, or an option is a long one.
func hasLetters(args []string, letters string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "--") || len(a) > 1 && a[0] == '-' && strings.ContainsAny(a[1:], letters) && !isNumber(a[1:]) {
			return true
		}
	}
	return false
}

// writesSequence is about seq, which writes nothing if the last number is below the first.
func writesSequence(args []string) Kind {
	if len(args) == 0 || len(args) > 3 || !allAre(args, func(a string) bool { return isNumber(a) && len(a) < 7 }) {
		return Anything
	}
	first, last := 1, 0
	if len(args) > 1 {
		first, _ = strconv.Atoi(args[0])
	}
	last, _ = strconv.Atoi(args[len(args)-1])
	if first > last {
		return Thing
	}
	return Number
}

// writesDate is about date +FORMAT, which writes neither a blank nor a slash, and begins with a digit or a letter.
func writesDate(args []string) Kind {
	kind := Number
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-u" || a == "--utc":
		case (a == "-d" || a == "-r") && i+1 < len(args): // not every text is a date
			i, kind = i+1, Thing
		case strings.HasPrefix(a, "-v") || strings.HasPrefix(a, "--date="):
			kind = Thing
		case i != len(args)-1 || !isDateFormat(a):
			return Anything
		default:
			return kind
		}
	}
	return Anything
}

// isDateFormat reports whether date writes one word for a format. Half of the day (%p) is not among them: in many languages it is nothing.
func isDateFormat(s string) bool {
	s, ok := strings.CutPrefix(s, "+")
	if !ok || s == "" || s[0] != '%' {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '%':
			if i++; i == len(s) || strings.IndexByte("YmdHMSsFTNjybBaAuVI", s[i]) < 0 {
				return false
			}
		case ch == '-' || ch == '_' || ch == ':' || ch == '.' || ch == '+':
		case (ch|0x20) < 'a' || (ch|0x20) > 'z':
			return false
		}
	}
	return true
}

// Temporary returns the file or folder that mktemp makes, if it does so in the folder for temporary files and cannot fail.
func Temporary(w *program.Walk, from int) (name program.Word, ok bool) {
	argv, alone := pipeline(w, from)
	if len(argv) == 0 || !alone || argv[0] != "mktemp" {
		return program.Word{}, false
	}
	at := "/tmp/tmp." + AThing
	for i, a := range argv[1:] {
		file, inTemp := strings.CutPrefix(a, "/tmp/")
		switch {
		case a == "-d", (a == "-t" || a == "-dt") && i+2 < len(argv), a == "--directory":
		case isPlainName(file) && !strings.Contains(file, "/") && strings.HasSuffix(file, "XXX") && (inTemp || program.Named("-t|-dt",
			argv[len(argv)-2])):
			at = "/tmp/" + file
		default:
			return program.Word{}, false
		}
	}
	return program.Known(at), true
}

// OneOf returns a pattern for any of the names.
func OneOf(names []program.Word) (program.Word, bool) {
	if len(names) == 1 {
		return names[0], true
	}
	texts := make([]string, len(names))
	for i, n := range names {
		if n.Unknown || len(n.Except) > 0 || !n.Pattern && globs.Has(n.Text) || strings.ContainsAny(n.Text, "{},") {
			return program.Word{}, false
		}
		texts[i] = n.Text
	}
	if len(texts) == 0 {
		return program.Word{}, false
	}
	root := ""
	if strings.HasPrefix(texts[0], "/") {
		root = "/"
	}
	for i, t := range texts {
		if strings.HasPrefix(t, "/") != (root != "") {
			return program.Word{}, false
		}
		texts[i] = strings.TrimPrefix(t, root)
	}
	return program.Word{Text: root + "{" + strings.Join(texts, ",") + "}", Pattern: true}, true
}
