package project

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
)

func (a *app) trustCmd() *cobra.Command {
	var revoke, diff, watch bool
	var by base.Consent
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Show what governs a folder, and accept it as it is now",
		Long: "In force is what a person has accepted: the contents of mycelium.yaml, rules, policies, roles, skills with their scripts,\n" +
			"and the files that servers run. A file that changed since waits, and what was accepted stays in force.\n" +
			"This command shows what changed, asks, and accepts exactly that. Without a terminal it changes nothing, unless\n" +
			"--yes or --expect is given.",
		Example: "  myc trust\n  myc trust --diff\n  myc trust --expect DIGEST", Args: base.ArgRange(0, 1, "at most one folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.Dir = args[0]
			}
			if watch {
				if err := a.NeedPerson("accept what changes"); err != nil {
					return err
				}
				return a.trustWatch(c.Context())
			}
			return a.trust(c.Context(), revoke, diff, by)
		},
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "take back what was accepted")
	c.Flags().BoolVar(&diff, "diff", false, "only show what changed")
	c.Flags().BoolVar(&by.Yes, "yes", false, "accept without a question")
	c.Flags().StringVar(&by.Expect, "expect", "", "accept without a question if the files have this digest")
	c.Flags().BoolVar(&watch, "watch", false, "for an hour, accept what you save while no agent works")
	c.MarkFlagsMutuallyExclusive("revoke", "diff", "yes", "expect", "watch")
	return c
}

func (a *app) trust(ctx context.Context, revoke, diff bool, by base.Consent) error {
	if err := a.NeedPerson("trust a folder"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	c, err := p.Candidate()
	if err != nil {
		return err
	}
	if revoke {
		return a.revoke(c)
	}
	if diff {
		if a.JSON {
			return a.PrintJSON(a.changesShape(p, c, false))
		}
		base.ShowChanges(a.Out, c, a.Meaning(p, c))
		return nil
	}
	if _, err := a.Know(); err != nil {
		return err
	}
	accepted, err := a.Review(ctx, p, c, by)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(a.changesShape(p, c, accepted))
	case accepted:
		fmt.Fprintf(a.Out, "accepted: %d file(s) of %s\n", len(c.Changes), p.Dir)
	case c.Accepted == nil:
		fmt.Fprintf(a.Out, "%s has no files that govern; myc trust --yes accepts that\n", p.Dir)
	case len(c.Changes) == 0:
		fmt.Fprintf(a.Out, "nothing waits: what governs %s is as it was accepted\n", p.Dir)
	}
	return nil
}

func (a *app) revoke(c *config.Candidate) error {
	was, err := c.Revoke()
	if err != nil {
		return err
	}
	if !was {
		fmt.Fprintf(a.Out, "nothing of %s was accepted\n", c.Project.Dir)
		return nil
	}
	fmt.Fprintf(a.Out, "nothing of %s is accepted any more: its servers, skills and rules have no effect\n", c.Project.Dir)
	return nil
}

// changesShape is what `myc trust --json` prints.
func (a *app) changesShape(p *config.Project, c *config.Candidate, accepted bool) any {
	type change struct {
		File  string   `json:"file"`
		Kind  string   `json:"change"`
		Lines []string `json:"lines"`
	}
	out := struct {
		Digest   string   `json:"digest"`
		Accepted bool     `json:"accepted"`
		Changes  []change `json:"changes"`

		Narrows bool             `json:"narrows"` // all of them only narrow
		Meaning []meaning.Change `json:"meaning"`
	}{Digest: c.Digest, Accepted: accepted, Changes: []change{}, Meaning: []meaning.Change{}}
	if len(c.Changes) > 0 {
		out.Meaning = append(out.Meaning, a.Meaning(p, c)...)
	}
	out.Narrows = meaning.OnlyNarrows(out.Meaning)
	for _, ch := range c.Changes {
		out.Changes = append(out.Changes, change{ch.File, ch.Kind, strings.Split(strings.TrimSuffix(base.ChangeLines(c, ch), "\n"), "\n")})
	}
	return out
}
