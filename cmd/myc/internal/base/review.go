package base

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/project"
	"mycelium/internal/node/waits"
	"mycelium/internal/op/failure"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// Consent says how a person accepts files without a question.
type Consent struct {
	Yes    bool   // whatever they are
	Expect string // if they have this digest
}

// Review shows what differs from what is accepted of p and of its user's own files, and what that means, and accepts it if the person
// consents. All three are of the same bytes.
func (a *App) Review(ctx context.Context, p *config.Project, c *config.Candidate, by Consent) (accepted bool, err error) {
	if !c.Waits() && (!c.Fresh() || !by.Yes && by.Expect == "") {
		return false, nil
	}
	out := io.Writer(a.Err)
	if !a.JSON {
		out = a.Out
	}
	if err := a.Loads(c); err != nil {
		return false, err
	}
	if err := a.named(c); err != nil {
		return false, err
	}
	changes := a.Meaning(p, c)
	ShowChanges(out, c, changes)
	narrows := meaning.OnlyNarrows(changes) && !c.OfUser() // what it means for other projects is not known here
	switch {
	case by.Expect != "" && by.Expect != c.Digest:
		return false, failure.New(failure.Conflict, fmt.Errorf("trust: the files have the digest %s, not the expected one", c.Digest),
			"look at what changed: myc trust --diff")
	case by.Expect != "", by.Yes:
	case narrows && p.File.Trust == config.TrustNarrowing:
	case !StdinIsTerminal(a.In):
		return false, failure.New(failure.Denied, errors.New("trust: nothing was accepted, because nobody can be asked here"),
			"run it in a terminal, or with --yes, or with --expect and the digest")
	case narrows && a.ConfirmUnless("It only narrows. Put this in force? [Y/n] "), !narrows && a.Confirm("Put this in force? [y/N] "):
	default:
		fmt.Fprintln(a.Err, "myc: not now; what was accepted before stays in force")
		return false, c.Postpone()
	}
	if err := acts.Trust(ctx, c, acts.By{}); err != nil {
		return false, err
	}
	a.TellRestart(ctx)
	return true, nil
}

// Loads is an error if the files do not load, and says why.
func (a *App) Loads(c *config.Candidate) error {
	if len(c.Why) == 0 {
		return nil
	}
	for _, p := range c.Why {
		fmt.Fprintln(a.Err, project.ProblemText(p))
	}
	return failure.New(failure.Config,
		errors.New("trust: what does not load cannot be accepted; what was accepted before stays in force"),
		"correct the files, then run: myc trust")
}

// Show shows what differs from what is accepted and what that means, and accepts nothing. What does not load is an error, and means
// nothing yet.
func (a *App) Show(p *config.Project, c *config.Candidate) error {
	if len(c.Why) > 0 {
		showLines(a.Out, c)
		return a.Loads(c)
	}
	ShowChanges(a.Out, c, a.Meaning(p, c))
	return nil
}

// Meaning says what it means to put a candidate in the place of what is in force.
func (a *App) Meaning(p *config.Project, c *config.Candidate) []meaning.Change {
	return waits.Meaning(p, c, Catalog(a))
}

// Catalog is what the servers of the project offer, as far as it is known. Without it, less can be proved to narrow.
func Catalog(a *App) (c skill.Catalog) {
	if v, err := a.OpenView(); err == nil {
		c = v.Catalog
		v.Close()
	}
	return c
}

// ShowChanges writes each changed file with its lines, and what the changes mean. If the user's own files are among them, it says which
// are whose.
func ShowChanges(out io.Writer, c *config.Candidate, changes []meaning.Change) {
	showLines(out, c)
	if len(c.Changes) > 0 {
		here := ""
		if c.OfUser() {
			here = " in " + c.Project.Dir
		}
		fmt.Fprintf(out, "\nWhat this means%s:\n", here)
		ShowMeaning(out, changes)
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "digest %s\n", c.Digest)
}

// showLines writes each changed file with its lines.
func showLines(out io.Writer, c *config.Candidate) {
	for i, ch := range c.Changes {
		switch {
		case ch.Yours && i == 0:
			fmt.Fprint(out, "Yours, for every project:\n\n")
		case i > 0 && c.Changes[i-1].Yours && !ch.Yours:
			fmt.Fprint(out, "\nThe project's:\n\n")
		}
		fmt.Fprintf(out, "%s (%s)\n", text.OneLine(ch.File), ch.What())
		for line := range strings.Lines(waits.ChangeLines(ch)) {
			fmt.Fprintf(out, "  %s", line)
		}
	}
}
