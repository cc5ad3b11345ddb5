package written

import (
	"strings"

	"mycelium/internal/shell/program"
)

// writesOfGit is about commands of git that write hashes only, whatever the repository has. What git rev-parse does not understand it
// writes as it is, so only what names a commit may be among its words.
func writesOfGit(args []string) Kind {
	if len(args) == 0 {
		return Anything
	}
	name, args := args[0], args[1:]
	switch name {
	case "rev-parse":
		some := false
		for _, a := range args {
			option := a == "--short" || a == "--verify" || a == "-q" || strings.HasPrefix(a, "--short=")
			if !option && !isCommitName(a) {
				return Anything
			}
			some = some || !option
		}
		return kindIf(some, Thing)
	case "merge-base":
		return kindIf(allAre(args, func(a string) bool {
			return a[:min(1,
				len(a))] != "-" || program.Named("--all|--fork-point|--octopus", a)
		}), Thing)
	case "rev-list":
		return kindIf(allAre(args, onlyChooses), Thing)
	case "log":
		hashes := 0
		for _, a := range args {
			switch a {
			case "--format=%H", "--format=%h", "--pretty=%H", "--pretty=%h", "--pretty=format:%H", "--pretty=format:%h":
				hashes++
			default:
				if !onlyChooses(a) {
					return Anything
				}
			}
		}
		return kindIf(hashes == 1, Thing)
	case "branch":
		return kindIf(len(args) == 1 && args[0] == "--show-current", Reference)
	case "describe":
		return kindIf(allAre(args, func(a string) bool {
			return program.Named("--tags|--always|--long|--exact-match|--all|HEAD|HEAD^", a) || strings.HasPrefix(a, "--abbrev=")
		}), Reference)
	}
	return Anything
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
	return isNumber(a[1:]) || strings.HasPrefix(a,
		"-n") && (a == "-n" || isNumber(a[2:])) || program.Named("--all|--reverse|--no-merges|--merges|"+
		"--first-parent|--max-count|--skip|--since|--after|--until|--before|--author|--grep|--branches|--tags|--remotes|--count|"+
		"--date-order|--topo-order|--", name)
}
