package program

import (
	"path"
	"strconv"
	"strings"
)

// Thing stands for the name of a thing that is not known but says nothing to a program: a hash, a number, the name of a container. It is
// written like the hash of a commit.
const Thing = "0000000"

// Reference stands for the name of a branch or a tag. Those of other repositories may begin with a hyphen.
const Reference = "-" + Thing

// What a command writes.
const (
	WritesAnything  = iota
	WritesNumber    // a number, or a name without a slash, in any case
	WritesThing     // names of things, or nothing
	WritesReference // the name of a branch
)

// Writes returns what the commands from a part on write, which are a pipeline.
func (w *Walk) Writes(from int) int {
	argv, alone := w.pipeline(from)
	if argv == nil {
		return WritesAnything
	}
	kind := WritesAnything
	switch args := argv[1:]; path.Base(argv[0]) {
	case "date":
		kind = writesDate(args)
	case "nproc":
		kind = kindIf(len(args) == 0, WritesNumber)
	case "uname":
		kind = kindIf(len(args) == 1 && Named("-s|-m|-r|-n|-o", args[0]), WritesNumber)
	case "id":
		kind = kindIf(len(args) == 1 && Named("-u|-g", args[0]), WritesNumber)
	case "seq":
		kind = writesSequence(args)
	case "git":
		kind = writesOfGit(args)
	case "docker", "podman":
		kind = kindIf(len(args) > 1 && writesContainers(args), WritesThing)
	case "kubectl":
		kind = kindIf(writesPods(args), WritesThing)
	case "gh":
		kind = kindIf(writesNumbersOfForge(args), WritesThing)
	case "pgrep", "pidof":
		kind = kindIf(!hasLetters(args, "lad"), WritesThing)
	case "lsof":
		kind = kindIf(len(args) > 0 && Named("-t|-ti|-nPti", args[0]) && !hasLetters(args, "F"), WritesThing)
	}
	if kind == WritesNumber && !alone {
		return WritesThing
	}
	return kind
}

// pipeline returns the words of the first command from a part on, if they are known and all commands behind it only take some of its lines.
func (w *Walk) pipeline(from int) (argv []string, alone bool) {
	if from >= len(w.Parts) {
		return nil, false
	}
	for i := range w.Parts[from:] {
		p := &w.Parts[from+i]
		if i > 0 && (!isFilter(p.Program) || len(p.Paths) > 0 || hasLetters(p.Argv[1:], "nobhHcr")) || len(p.Unclear) > 0 {
			return nil, false
		}
	}
	p := &w.Parts[from]
	if len(p.Argv) == 0 || path.Base(p.Argv[0]) != p.Program || strings.ContainsAny(strings.Join(p.Argv, ""), "$`\n") {
		return nil, false
	}
	return p.Argv, len(w.Parts) == from+1
}

func kindIf(is bool, kind int) int {
	if is {
		return kind
	}
	return WritesAnything
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
func writesSequence(args []string) int {
	if len(args) == 0 || len(args) > 3 || !allAre(args, func(a string) bool { return isNumber(a) && len(a) < 7 }) {
		return WritesAnything
	}
	first, last := 1, 0
	if len(args) > 1 {
		first, _ = strconv.Atoi(args[0])
	}
	last, _ = strconv.Atoi(args[len(args)-1])
	if first > last {
		return WritesThing
	}
	return WritesNumber
}

// writesDate is about date +FORMAT, which writes neither a blank nor a slash, and begins with a digit or a letter.
func writesDate(args []string) int {
	kind := WritesNumber
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-u" || a == "--utc":
		case (a == "-d" || a == "-r") && i+1 < len(args): // not every text is a date
			i, kind = i+1, WritesThing
		case strings.HasPrefix(a, "-v") || strings.HasPrefix(a, "--date="):
			kind = WritesThing
		case i != len(args)-1 || !isDateFormat(a):
			return WritesAnything
		default:
			return kind
		}
	}
	return WritesAnything
}

func isDateFormat(s string) bool {
	s, ok := strings.CutPrefix(s, "+")
	if !ok || s == "" || s[0] != '%' {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '%':
			if i++; i == len(s) || strings.IndexByte("YmdHMSsFTNjybBaAuVIp", s[i]) < 0 {
				return false
			}
		case ch == '-' || ch == '_' || ch == ':' || ch == '.' || ch == '+':
		case (ch|0x20) < 'a' || (ch|0x20) > 'z':
			return false
		}
	}
	return true
}

// writesOfGit is about commands of git that write hashes only, whatever the repository has. What git rev-parse does not understand it
// writes as it is, so only what names a commit may be among its words.
func writesOfGit(args []string) int {
	if len(args) == 0 {
		return WritesAnything
	}
	name, args := args[0], args[1:]
	switch name {
	case "rev-parse":
		some := false
		for _, a := range args {
			option := a == "--short" || a == "--verify" || a == "-q" || strings.HasPrefix(a, "--short=")
			if !option && !isCommitName(a) {
				return WritesAnything
			}
			some = some || !option
		}
		return kindIf(some, WritesThing)
	case "merge-base":
		return kindIf(allAre(args, func(a string) bool { return a[:min(1, len(a))] != "-" || Named("--all|--fork-point|--octopus", a) }), WritesThing)
	case "rev-list":
		return kindIf(allAre(args, onlyChooses), WritesThing)
	case "log":
		hashes := 0
		for _, a := range args {
			switch a {
			case "--format=%H", "--format=%h", "--pretty=%H", "--pretty=%h", "--pretty=format:%H", "--pretty=format:%h":
				hashes++
			default:
				if !onlyChooses(a) {
					return WritesAnything
				}
			}
		}
		return kindIf(hashes == 1, WritesThing)
	case "branch":
		return kindIf(len(args) == 1 && args[0] == "--show-current", WritesReference)
	case "describe":
		return kindIf(allAre(args, func(a string) bool {
			return Named("--tags|--always|--long|--exact-match|--all|HEAD|HEAD^", a) || strings.HasPrefix(a, "--abbrev=")
		}), WritesReference)
	}
	return WritesAnything
}

// isCommitName reports whether a word names HEAD, or a commit before it.
func isCommitName(s string) bool {
	rest, ok := strings.CutPrefix(s, "HEAD")
	if !ok {
		rest, ok = strings.CutPrefix(s, "@")
	}
	return ok && strings.Trim(rest, "~^0123456789") == ""
}

// onlyChooses reports whether a word of git log or git rev-list only says which commits are meant.
func onlyChooses(a string) bool {
	if !strings.HasPrefix(a, "-") {
		return true
	}
	name, _, _ := strings.Cut(a, "=")
	return isNumber(a[1:]) || strings.HasPrefix(a, "-n") && (a == "-n" || isNumber(a[2:])) || Named("--all|--reverse|--no-merges|--merges|"+
		"--first-parent|--max-count|--skip|--since|--after|--until|--before|--author|--grep|--branches|--tags|--remotes|--count|"+
		"--date-order|--topo-order|--", name)
}

// writesContainers reports whether docker writes only the numbers of containers or images.
func writesContainers(args []string) bool {
	if args[0] == "compose" {
		return len(args) > 2 && args[1] == "ps" && args[2] == "-q" && allAre(args[3:], isPlainName)
	}
	if args[0] != "ps" && args[0] != "images" {
		return false
	}
	quiet := false
	for i, a := range args[1:] {
		switch {
		case Named("-q|-aq|-qa|-lq|-ql|--quiet", a):
			quiet = true
		case Named("-a|-l|--all|--latest|-f|--filter", a) || strings.HasPrefix(a, "--filter="):
		case i > 0 && Named("-f|--filter", args[i]), args[0] == "images" && isPlainName(a):
		default:
			return false
		}
	}
	return quiet
}

// isPlainName reports whether a word has only letters, digits, dots and the like, and begins with no hyphen.
func isPlainName(s string) bool {
	for i := range len(s) {
		ch := s[i] | 0x20
		if (ch < 'a' || ch > 'z') && (s[i] < '0' || s[i] > '9') && (i == 0 || strings.IndexByte("._-:/", s[i]) < 0) {
			return false
		}
	}
	return s != ""
}

// writesPods reports whether kubectl writes only the names of pods.
func writesPods(args []string) bool {
	if len(args) < 2 || args[0] != "get" || !Named("pod|pods|po", args[1]) {
		return false
	}
	named := false
	for i := 2; i < len(args); i++ {
		a := args[i]
		switch {
		case Named("-n|-l|--namespace|--selector|--field-selector|--sort-by", a) && i+1 < len(args):
			i++
		case a == "-o" && i+1 < len(args):
			i++
			named = namesOnly(args[i])
		case strings.HasPrefix(a, "-o") || strings.HasPrefix(a, "--output="):
			named = namesOnly(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(a, "--output"), "-o"), "="))
		case strings.HasPrefix(a, "--selector="), strings.HasPrefix(a, "--namespace="), strings.HasPrefix(a, "--field-selector="),
			strings.HasPrefix(a, "--sort-by="), strings.HasPrefix(a, "-l") && len(a) > 2, a == "--no-headers":
		default:
			return false
		}
	}
	return named
}

func namesOnly(output string) bool {
	name, ok := strings.CutPrefix(output, "jsonpath={.items[")
	index, ok2 := strings.CutSuffix(name, "].metadata.name}")
	return output == "name" || ok && ok2 && (index == "*" || index == ":1" || isNumber(index))
}

// writesNumbersOfForge reports whether gh writes only the numbers of runs, requests or issues.
func writesNumbersOfForge(args []string) bool {
	if len(args) < 3 || !Named("run|pr|issue", args[0]) || args[1] != "list" {
		return false
	}
	numbers := false
	for i := 2; i < len(args); i++ {
		switch name, value, attached := strings.Cut(args[i], "="); {
		case !Named("--limit|-L|--workflow|-w|--branch|-b|--state|-s|--json|--jq|-q|--head|-H|--base|-B|--author|-A|--status", name):
			return false
		case attached:
			numbers = numbers || Named("--jq|-q", name) && isNumberQuery(value)
		case i+1 < len(args):
			i++
			if Named("--jq|-q", name) {
				numbers = isNumberQuery(args[i])
			}
		}
	}
	return numbers
}

func isNumberQuery(query string) bool {
	rest, ok := strings.CutPrefix(query, ".[")
	index, name, ok2 := strings.Cut(rest, "].")
	return ok && ok2 && (index == "" || isNumber(index)) && Named("databaseId|number", name)
}

// Temporary returns the file or folder that mktemp makes, if it does so in the folder for temporary files and cannot fail.
func (w *Walk) Temporary(from int) (name Word, ok bool) {
	argv, alone := w.pipeline(from)
	if len(argv) == 0 || !alone || argv[0] != "mktemp" {
		return Word{}, false
	}
	at := "/tmp/tmp." + Thing
	for _, a := range argv[1:] {
		file, inTemp := strings.CutPrefix(a, "/tmp/")
		switch {
		case a == "-d", a == "-t", a == "-dt", a == "--directory":
		case isPlainName(file) && !strings.Contains(file, "/") && strings.HasSuffix(file, "XXX") && (inTemp || Named("-t|-dt", argv[len(argv)-2])):
			at = "/tmp/" + file
		default:
			return Word{}, false
		}
	}
	return Known(at), true
}

// OneOf returns a pattern for any of the names.
func OneOf(names []Word) (Word, bool) {
	if len(names) == 1 {
		return names[0], true
	}
	texts := make([]string, len(names))
	for i, n := range names {
		if n.Unknown || len(n.Except) > 0 || !n.Pattern || strings.ContainsAny(n.Text, "{},") {
			return Word{}, false
		}
		texts[i] = n.Text
	}
	if len(texts) == 0 || !strings.HasPrefix(texts[0], "/") {
		return Word{}, false
	}
	return Word{Text: "{" + strings.Join(texts, ",") + "}", Pattern: true}, true
}

// takesThings reports whether the names of things among the words of a program are text and nothing else.
func (c *Call) takesThings() bool {
	first, _, _ := strings.Cut(c.Row.Name, "|")
	switch c.Part.Program {
	case "ps", "top", "lsof", "pmap", "pstree":
		return true
	case "git":
		return Named("status|describe|rev-parse|log", first)
	case "docker", "podman":
		return Named("ps|inspect|ls", first)
	case "kubectl":
		return first == "get"
	case "gh":
		return first == "list"
	}
	return false
}

// filled returns the words of a program that takes names of things, with Thing in the place of each. A word that may begin with a hyphen
// stays unknown.
func (c *Call) filled(args []Word) []Word {
	for i, w := range args {
		if w.Filled == "" || w.Filled[0] == '-' || !c.takesThings() {
			continue
		}
		known := make([]Word, len(args))
		copy(known, args)
		w.Text, w.Filled, w.Unknown, w.Unquoted, w.Default = w.Filled, "", false, false, ""
		known[i] = w
		args = known
	}
	return args
}
