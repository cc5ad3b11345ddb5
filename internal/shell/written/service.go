package written

import (
	"strings"

	"mycelium/internal/shell/program"
)

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
		case program.Named("-q|-aq|-qa|-lq|-ql|--quiet", a):
			quiet = true
		case program.Named("-a|-l|--all|--latest|-f|--filter", a) || strings.HasPrefix(a, "--filter="):
		case program.Named("-qf|-aqf|-qaf", a):
			quiet = true
		case i > 0 && program.Named("-f|--filter|-qf|-aqf|-qaf", args[i]), args[0] == "images" && isPlainName(a):
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
	if len(args) < 2 || args[0] != "get" || !program.Named("pod|pods|po", args[1]) {
		return false
	}
	named := false
	for i := 2; i < len(args); i++ {
		a := args[i]
		switch {
		case program.Named("-n|-l|--namespace|--selector|--field-selector|--sort-by", a) && i+1 < len(args):
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
	if len(args) < 3 || !program.Named("run|pr|issue", args[0]) || args[1] != "list" {
		return false
	}
	numbers := false
	for i := 2; i < len(args); i++ {
		switch name, value, attached := strings.Cut(args[i], "="); {
		case !program.Named("--limit|-L|--workflow|-w|--branch|-b|--state|-s|--json|--jq|-q|--head|-H|--base|-B|--author|-A|--status", name):
			return false
		case attached:
			numbers = numbers || program.Named("--jq|-q", name) && isNumberQuery(value)
		case i+1 < len(args):
			i++
			if program.Named("--jq|-q", name) {
				numbers = isNumberQuery(args[i])
			}
		}
	}
	return numbers
}

func isNumberQuery(query string) bool {
	rest, ok := strings.CutPrefix(query, ".[")
	index, name, ok2 := strings.Cut(rest, "].")
	return ok && ok2 && (index == "" || isNumber(index)) && program.Named("databaseId|number", name)
}
