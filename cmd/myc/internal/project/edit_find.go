package project

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// inFolder returns the path in the folder of a file, as shown; false if the file lies elsewhere.
func (e *editing) inFolder(file string) (string, bool) {
	if e.user {
		name, ok := strings.CutPrefix(file, e.accepted().Shown(".")+"/")
		return name, ok
	}
	return file, filepath.IsLocal(file) && !strings.HasPrefix(file, "~")
}

// find returns the file that the word of the command line means, by its path in its folder.
func (e *editing) find() (string, error) {
	p, what := e.p, e.what
	kind, name, _ := strings.Cut(what, "/")
	var known []string
	whose := "this project"
	if e.user {
		whose = "yours"
	}
	switch kind {
	case "config":
		return source.MainFile, nil
	case "rules":
		for _, f := range p.File.Policy.Rules {
			if path, ok := e.inFolder(f); ok {
				return path, nil
			}
		}
		return source.RulesFile, nil
	case "roles":
		for _, r := range p.Roles {
			for _, file := range config.Declares(p, r.ID) {
				path, ok := e.inFolder(file)
				if !ok {
					continue
				}
				if known = append(known, "roles/"+r.ID); r.ID == name {
					return path, nil
				}
			}
		}
	case "skills":
		for _, s := range p.Skills {
			if path, ok := e.inFolder(s.File); ok {
				if known = append(known, "skills/"+s.Name); s.Name == name {
					return path, nil
				}
			}
		}
	default:
		return "", failure.Usagef("edit: %q is none of rules, config, roles/NAME and skills/NAME", what)
	}
	slices.Sort(known)
	hint := "there are: " + strings.Join(slices.Compact(known), ", ")
	if near := text.Nearest(what, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "", failure.New(failure.NotFound, fmt.Errorf("edit: no file of %s declares %s", whose, what), hint)
}

// again is the command line that goes on with a copy that was kept.
func (e *editing) again() string {
	if e.user {
		return "myc edit --user " + e.what
	}
	return "myc edit " + e.what
}

// accepted is what a person has accepted of the folder.
func (e *editing) accepted() *config.Acceptance {
	if e.user {
		return &e.p.User
	}
	return &e.p.Acceptance
}

// edits is the folder of the copies.
func (e *editing) edits() string {
	if e.user {
		return e.p.State.UserEdits()
	}
	return e.p.State.Edits()
}

// shown is the name of the file for people.
func (e *editing) shown() string { return e.accepted().Shown(e.name) }
