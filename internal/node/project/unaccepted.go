package project

import (
	"fmt"
	"slices"

	"mycelium/internal/config"
	"mycelium/internal/policy"
)

// Unaccepted lists why the files on disk cannot be accepted as they are: what does not load, and what names something that does not exist.
// It is empty if they are the accepted ones.
func (v *View) Unaccepted() []policy.Problem {
	c, err := v.Project.Candidate()
	if err != nil || len(c.Changes) == 0 {
		return nil // trust says why they cannot be read
	}
	return slices.Concat(c.Why, v.Unnamed(c))
}

// Unnamed lists what a candidate names that does not exist, and what is in force does not name in the same file: what nobody has touched
// does not hold up other changes.
func (v *View) Unnamed(c *config.Candidate) []policy.Problem {
	before := v.Names()
	next := v.With(c.Project)
	next.Compile()
	return slices.DeleteFunc(next.Names(), func(p policy.Problem) bool {
		return p.Warning || slices.ContainsFunc(before, func(old policy.Problem) bool {
			return old.File == p.File && old.Message == p.Message
		})
	})
}

// unacceptedTexts says what Unaccepted lists in one line: a mistake in one place is often one in many.
func (v *View) unacceptedTexts() (out []string) {
	found := v.Unaccepted()
	if len(found) == 0 {
		return nil
	}
	said := "the files on disk cannot be accepted: " + ProblemText(found[0])
	if more := len(found) - 1; more > 0 {
		said += fmt.Sprintf("; and %d more: myc config validate", more)
	}
	return []string{said}
}
