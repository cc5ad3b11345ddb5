package base

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
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
	if err := node.RecordConsent(ctx, c); err != nil {
		return false, err
	}
	if err := c.Accept(time.Now()); err != nil {
		return true, err
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
	var catalog skill.Catalog // without it, less can be proved to narrow
	if v, err := a.OpenView(); err == nil {
		catalog = v.Catalog
		v.Close()
	}
	files := make([]string, len(c.Changes))
	for i, ch := range c.Changes {
		files[i] = ch.File
	}
	return meaning.Compare(p, c.Project, catalog, files)
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
		for line := range strings.Lines(ChangeLines(ch)) {
			fmt.Fprintf(out, "  %s", line)
		}
	}
}

// ChangeLines shows what changed in a file, line by line. Of a file that is no text it says the size.
func ChangeLines(ch config.Change) string {
	before, after := ch.Before(), ch.After
	if slices.ContainsFunc([][]byte{before, after}, func(b []byte) bool { return !utf8.Valid(b) || len(b) > 1<<20 }) {
		return fmt.Sprintf("no text, or a long one: %d bytes, before %d\n", len(after), len(before))
	}
	return text.Diff(string(before), string(after))
}
