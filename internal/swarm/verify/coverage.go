package verify

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/lazy"
	"mycelium/internal/text"
)

// measure is how a program tells its coverage.
type measure int

const (
	none     measure = iota // it does not
	itself                  // the command prints it, because the project has it so
	profile                 // go test writes a profile
	pytest                  // with --cov, of pytest-cov
	istanbul                // with --coverage
)

// Measured returns the command that also measures coverage. It refuses a command that cannot. go test, pytest, jest and vitest are
// asked to; a package manager, make, cargo and a file of the project are run as they are, and print one of the lines that
// [Percent] reads.
func Measured(argv []string) ([]string, error) {
	if len(argv) == 0 {
		return nil, text.Hinted(fmt.Errorf("coverageTarget needs a verifyCommand, whose coverage is measured"), "verifyCommand: go test ./...")
	}
	how, args := programs[argv[0]], argv[1:]
	if inProject(argv[0]) {
		how = itself
	}
	has := func(flag string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return strings.TrimLeft(a, "-") == flag || strings.HasPrefix(strings.TrimLeft(a, "-"), flag+"=")
		})
	}
	switch {
	case how == itself:
		return argv, nil
	case how == profile && len(args) > 0 && args[0] == "test" && !has("coverprofile"):
		// The profile has each statement, so that packages count by their size. It goes to the output, because a file in the worktree
		// would be work that is not committed.
		return slices.Concat([]string{"go", "test", "-coverprofile=/dev/stdout"}, args[1:]), nil
	case how == pytest && has("cov"), how == istanbul && has("coverage"):
		return argv, nil
	case how == pytest:
		return append(slices.Clone(argv), "--cov"), nil
	case how == istanbul:
		return append(slices.Clone(argv), "--coverage"), nil
	}
	return nil, text.Hinted(fmt.Errorf("%s measures no coverage", text.OneLine(text.TruncateRunes(strings.Join(argv, " "), 100))),
		"go test, pytest, jest and vitest do; so do npm, yarn, pnpm, bun, deno, make, cargo and a file of the project that print it")
}

// The lines in which coverage is told, in percent.
var lines = []func() *regexp.Regexp{
	lazy.Regexp(`(?m)^total:\s+\(statements\)\s+([0-9.]+)%\s*$`),         // go tool cover -func
	lazy.Regexp(`(?m)^TOTAL\s.*?\s([0-9.]+)%\s*$`),                       // coverage.py
	lazy.Regexp(`(?m)^All files\s*\|\s*([0-9.]+)\s*\|`),                  // istanbul: jest, vitest, c8, nyc
	lazy.Regexp(`(?m)^([0-9.]+)% coverage, [0-9]+/[0-9]+ lines covered`), // cargo tarpaulin
	lazy.Regexp(`(?mi)^(?:total )?coverage:\s*([0-9.]+)%`),
}

// block is a line of a profile of go test: a place, how many statements it has, and how often they ran.
var block = lazy.Regexp(`^(\S+:[0-9]+\.[0-9]+,[0-9]+\.[0-9]+) ([0-9]+) ([0-9]+)$`)

// Percent reads the coverage out of what a command has printed. The last line that tells it counts.
func Percent(output string) (percent float64, ok bool) {
	if percent, ok = ofProfile(output); ok {
		return percent, true
	}
	at := -1
	for _, form := range lines {
		all := form().FindAllStringSubmatchIndex(output, -1)
		if len(all) == 0 {
			continue
		}
		last := all[len(all)-1]
		if n, err := strconv.ParseFloat(output[last[2]:last[3]], 64); err == nil && n <= 100 && last[0] > at {
			percent, ok, at = n, true, last[0]
		}
	}
	return percent, ok
}

// ofProfile adds up a profile of go test. A place comes once for each package that was tested. A profile whose beginning, the line
// "mode: …", is cut off tells nothing.
func ofProfile(output string) (percent float64, ok bool) {
	statements, ran := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "mode: ") {
			ok = true
		}
		if m := block().FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				return 0, false
			}
			statements[m[1]] = n
			ran[m[1]] = ran[m[1]] || strings.Trim(m[3], "0") != ""
		}
	}
	all, covered := 0, 0
	for place, n := range statements {
		if all += n; ran[place] {
			covered += n
		}
	}
	if !ok || all == 0 {
		return 0, false
	}
	return 100 * float64(covered) / float64(all), true
}

// Said is an output without the profile in it, which nobody reads.
func Said(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if s := strings.TrimSpace(line); !strings.HasPrefix(s, "mode: ") && !block().MatchString(s) {
			b.WriteString(line)
		}
	}
	return b.String()
}
