package project

import (
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/node/waits"
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
	f := waits.Files(p, c, base.Catalog(a.App))
	return struct {
		Digest   string           `json:"digest"`
		Accepted bool             `json:"accepted"`
		Changes  []api.FileChange `json:"changes"`
		Narrows  bool             `json:"narrows"`
		Meaning  []meaning.Change `json:"meaning"`
		Problems []string         `json:"problems"`
	}{f.Digest, accepted, f.Changes, f.Narrows, f.Meaning, f.Problems}
}
