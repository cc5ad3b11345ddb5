package policy

import (
	"errors"
	"fmt"
	"strings"
)

// limit is what stands in the parentheses of agent__Bash(git *): the calls that the entry admits. Its syntax is that of
// Claude Code's permission rules.
type limit struct {
	text  string
	parts []string     // of a command: what stands between the stars
	words bool         // the command ends in " *": the words before it, then anything or nothing
	paths *pathMatcher // of any other tool: every path
	host  *glob        // domain:example.com: every host
}

func parseLimit(p Pattern, spec string) (*limit, error) {
	if spec == "" {
		return nil, errors.New("empty parentheses; write what the call may be, or leave them out")
	}
	l := &limit{text: p.String() + "(" + spec + ")"}
	it, exact := p.Exact()
	if !exact {
		return nil, fmt.Errorf("%q: a limit needs the name of one tool", l.text)
	}
	if it.Name == "Bash" {
		if rest, ok := strings.CutSuffix(spec, ":*"); ok {
			spec = rest + " *"
		}
		if rest, ok := strings.CutSuffix(spec, " *"); ok {
			l.words, spec = true, rest
		}
		l.parts = strings.Split(spec, "*")
		return l, nil
	}
	if domain, ok := strings.CutPrefix(spec, "domain:"); ok {
		g, err := compileGlob(strings.ToLower(domain))
		l.host = g
		return l, err
	}
	return l, nil // the paths are compiled with the places
}

// place compiles a limit over paths, which begin from the project.
func (l *limit) place(pl places) error {
	if l == nil || l.parts != nil || l.host != nil {
		return nil
	}
	_, spec, _ := strings.Cut(strings.TrimSuffix(l.text, ")"), "(")
	pm, err := pl.compile(Value{Glob: &spec}, false)
	l.paths = &pm
	return err
}

// admits reports whether a part of a call stays within the limit. What was not understood does not.
func (l *limit) admits(pl places, part *Part) bool {
	switch {
	case isUnclear(part):
		return false
	case l.parts != nil:
		return l.command(part)
	case l.host != nil:
		for _, h := range part.Hosts {
			if !l.host.match(strings.ToLower(h)) {
				return false
			}
		}
		return len(part.Hosts) > 0
	}
	for i := range part.Paths {
		if !l.paths.allForms(pl, &part.Paths[i]) {
			return false
		}
	}
	return len(part.Paths) > 0
}

func (l *limit) command(part *Part) bool {
	if len(part.Argv) == 0 || part.Program == "" {
		return false
	}
	line := strings.Join(part.Argv, " ")
	if part.Argv[0] != part.Program {
		line = part.Program + line[len(part.Argv[0]):] // /usr/bin/git is judged as git, as it would be run
	}
	if !l.words {
		return matchStars(l.parts, line)
	}
	if matchStars(l.parts, line) {
		return true
	}
	return matchStars(append(l.parts[:len(l.parts)-1:len(l.parts)-1], l.parts[len(l.parts)-1]+" ", ""), line)
}

// isUnclear reports whether something of the part was not understood.
func isUnclear(part *Part) bool {
	if len(part.Unclear) > 0 {
		return true
	}
	for _, e := range part.Effects {
		if e == "unclear" {
			return true
		}
	}
	return false
}
