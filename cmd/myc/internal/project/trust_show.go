package project

import (
	"fmt"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

// left says which files stay as they were accepted, because they do not load.
func (a *app) left(c *config.Candidate) {
	for _, pr := range c.Why {
		fmt.Fprintln(a.Err, project.ProblemText(pr))
	}
	fmt.Fprintln(a.Err, "myc: this does not load and waits; what was accepted before stays in force")
}

// counted says how many files of whom were accepted.
func counted(p *config.Project, c *config.Candidate) string {
	yours := 0
	for _, ch := range c.Changes {
		if ch.Yours {
			yours++
		}
	}
	theirs := text.Count(len(c.Changes)-yours, "file") + " of " + p.Dir
	switch yours {
	case 0:
		return theirs
	case len(c.Changes):
		return text.Count(yours, "file") + " of your own, for every project"
	default:
		return fmt.Sprintf("%s, and %d of your own, for every project", theirs, yours)
	}
}

// changesShape is what `myc trust --json` prints.
func (a *app) changesShape(p *config.Project, c *config.Candidate, accepted bool) any {
	type change struct {
		File  string   `json:"file"`
		Yours bool     `json:"yours"` // of the user's own files
		Kind  string   `json:"change"`
		Lines []string `json:"lines"`

		Shipped bool `json:"shipped,omitzero"` // by the program: the file is not in the folder
	}
	out := struct {
		Digest   string   `json:"digest"`
		Accepted bool     `json:"accepted"`
		Changes  []change `json:"changes"`

		Narrows  bool             `json:"narrows"` // all of them only narrow
		Meaning  []meaning.Change `json:"meaning"`
		Problems []string         `json:"problems"` // why they cannot be accepted: then they mean nothing yet
	}{Digest: c.Digest, Accepted: accepted, Changes: []change{}, Meaning: []meaning.Change{}, Problems: []string{}}
	for _, pr := range c.Why {
		out.Problems = append(out.Problems, project.ProblemText(pr))
	}
	if len(c.Changes) > 0 && len(c.Why) == 0 {
		out.Meaning = append(out.Meaning, a.Meaning(p, c)...)
	}
	out.Narrows = len(c.Why) == 0 && meaning.OnlyNarrows(out.Meaning)
	for _, ch := range c.Changes {
		out.Changes = append(out.Changes, change{ch.File, ch.Yours, ch.Kind, strings.Split(strings.TrimSuffix(base.ChangeLines(ch), "\n"), "\n"),
			ch.Shipped})
	}
	return out
}
