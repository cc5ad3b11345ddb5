package swarm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/verify"
	"mycelium/internal/text"
)

// coverageWithin bounds a command that only measures coverage (requirements, C90). One whose tests must pass has the time of a test.
const coverageWithin = time.Minute

// validation is what a feature itself must pass; nil: nothing.
func validation(f *book.Feature) *plan.Validation {
	if v := f.Validation; v != nil && v.Enabled {
		return v
	}
	return nil
}

// Criteria are what must hold before a feature is complete, as far as its plan and its session say. None is met yet.
func Criteria(s *book.Session, f *book.Feature) (out []book.Criterion) {
	if v := validation(f); v != nil {
		warns := !v.EnforceBlocking
		if len(v.ExpectedPackages) > 0 {
			out = append(out, book.Criterion{What: "the commit changes something in " + strings.Join(v.ExpectedPackages, ", "), Warns: warns})
		}
		if len(v.VerifyCommand) > 0 {
			out = append(out, book.Criterion{What: "this command passes on what you commit: " + strings.Join(v.VerifyCommand, " "),
				Warns: warns || !v.TestPassRequired})
		}
		if v.CoverageTarget > 0 {
			out = append(out, book.Criterion{What: fmt.Sprintf("the coverage that it measures is at least %g %%", v.CoverageTarget), Warns: warns})
		}
	}
	for _, argv := range s.Settings.Verify {
		out = append(out, book.Criterion{What: "this command passes on the branch with your commit: " + strings.Join(argv, " "), Later: true})
	}
	return out
}

// checking is the driver where it verifies what a worker has made.
type checking struct{ *Driver }

// own checks the criteria of a feature itself on a working tree, except those that are looked at later.
func (d checking) own(ctx context.Context, f *book.Feature, tree string, touched []ground.File) ([]book.Criterion, error) {
	v, all := validation(f), Criteria(&book.Session{}, f)
	if v == nil {
		return nil, nil
	}
	said, coverage := "", ""
	if len(v.VerifyCommand) > 0 {
		var err error
		if said, coverage, err = d.measure(ctx, v, tree); err != nil {
			return nil, err
		}
	}
	next := 0
	set := func(says string) {
		all[next].Met, all[next].Says = says == "", says
		next++
	}
	if len(v.ExpectedPackages) > 0 {
		absent := ""
		if missing := ground.Missing(v.ExpectedPackages, touched); len(missing) > 0 {
			absent = "nothing is changed in " + strings.Join(missing, ", ") + ", where the plan expects it"
		}
		set(absent)
	}
	if len(v.VerifyCommand) > 0 {
		set(said)
	}
	if v.CoverageTarget > 0 {
		set(coverage)
	}
	return all, nil
}

// measure runs the command of a feature. It returns what the command said if it failed, and what is wrong with the coverage.
func (d checking) measure(ctx context.Context, v *plan.Validation, tree string) (said, coverage string, err error) {
	argv, within := []string(v.VerifyCommand), time.Duration(0)
	if v.CoverageTarget > 0 {
		if argv, err = verify.Measured(argv); err != nil {
			return "", "", err
		}
		if !v.TestPassRequired {
			within = coverageWithin
		}
	}
	c, err := d.verifyWithin(ctx, tree, argv, within)
	if err != nil {
		return "", "", fmt.Errorf("verify with %s: %w", strings.Join(argv, " "), err)
	}
	if !c.OK {
		said = strings.Join(argv, " ") + "\n" + text.Middle(verify.Said(c.Output), 4000)
	}
	if v.CoverageTarget == 0 {
		return said, "", nil
	}
	switch percent, ok := verify.Percent(c.Output); {
	case !ok:
		coverage = strings.Join(argv, " ") + " tells no coverage"
	case percent < v.CoverageTarget:
		coverage = fmt.Sprintf("the coverage is %.1f %%, and %g %% are wanted", percent, v.CoverageTarget)
	}
	return said, coverage, nil
}

// verifyWithin runs a command for as long as d at most; 0: as long as any verification.
func (d checking) verifyWithin(ctx context.Context, tree string, argv []string, within time.Duration) (Checked, error) {
	if within == 0 {
		return d.Verify(ctx, tree, argv)
	}
	short, stop := context.WithTimeout(ctx, within)
	defer stop()
	c, err := d.Verify(short, tree, argv)
	if ctx.Err() == nil && errors.Is(short.Err(), context.DeadlineExceeded) {
		return Checked{Output: "it did not end within " + within.String()}, nil
	}
	return c, err
}

// unmet are the criteria that do not hold: those that keep the work from being taken, and those that only warn.
func unmet(criteria []book.Criterion) (blocks, warns string) {
	for _, c := range criteria {
		switch {
		case c.Met || c.Later:
		case c.Warns:
			warns += c.Says + "\n"
		default:
			blocks += c.Says + "\n"
		}
	}
	return strings.TrimSuffix(blocks, "\n"), strings.TrimSuffix(warns, "\n")
}

// marks are criteria as a list, with a mark at those that are met.
func marks(criteria []book.Criterion) string {
	var b strings.Builder
	for _, c := range criteria {
		mark, more := " ", ""
		if c.Met {
			mark = "x"
		}
		if c.Warns {
			more = " (wanted; it keeps nothing from landing)"
		}
		fmt.Fprintf(&b, "- [%s] %s%s\n", mark, c.What, more)
	}
	return b.String()
}

// judged are the criteria of a feature as the last attempt has met them.
func judged(s *book.Session, f *book.Feature) []book.Criterion {
	all := Criteria(s, f)
	if a := f.Last(); a != nil {
		for i := range all {
			for _, c := range a.Criteria {
				if c.What == all[i].What {
					all[i] = c
				}
			}
		}
	}
	return all
}
