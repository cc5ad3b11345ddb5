package project

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/op/failure"
	"mycelium/internal/sandbox/light"
)

func (a *app) trustCmd() *cobra.Command {
	var revoke, user, diff, watch, moved bool
	var from string
	var by base.Consent
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Show what governs a folder, and accept it as it is now",
		Long: "In force is what a person has accepted: the contents of mycelium.yaml, rules, policies, roles, skills with their scripts,\n" +
			"and the files that servers run. A file that changed since waits, and what was accepted stays in force. This holds for\n" +
			"the project's files and for your own in ~/.config/mycelium, which govern every project.\n" +
			"This command shows what changed, asks, and accepts exactly that. Without a terminal it changes nothing, unless\n" +
			"--yes or --expect is given.",
		Example: "  myc trust\n  myc trust --diff\n  myc trust --expect DIGEST\n  myc trust --moved    # the folder had another path before",
		Args:    base.ArgRange(0, 1, "at most one folder"),
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
			if user && !revoke {
				return failure.Usagef("trust: --user is for --revoke; without it, myc trust is for the project's files and your own")
			}
			if moved || from != "" {
				return a.trustMoved(c.Context(), from, by)
			}
			if revoke {
				return a.revoke(user)
			}
			if diff {
				return a.trustDiff()
			}
			return a.trust(c.Context(), by)
		},
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "take back what was accepted of the project")
	c.Flags().BoolVar(&user, "user", false, "with --revoke: of your own files, for every project")
	c.Flags().BoolVar(&diff, "diff", false, "only show what changed")
	c.Flags().BoolVar(&by.Yes, "yes", false, "accept without a question")
	c.Flags().StringVar(&by.Expect, "expect", "", "accept without a question if the files have this digest")
	c.Flags().BoolVar(&watch, "watch", false, "for an hour, accept what you save while no agent works")
	c.Flags().BoolVar(&moved, "moved", false, "bring the state of a folder here that was moved: its log, sessions and what was accepted")
	c.Flags().StringVar(&from, "from", "", "with --moved: the path that the folder had (default: the file system says it)")
	c.MarkFlagsMutuallyExclusive("moved", "revoke", "diff", "expect", "watch")
	c.MarkFlagsMutuallyExclusive("revoke", "diff", "yes", "expect", "watch")
	return c
}

// candidate returns what is in force and what waits, for a person.
func (a *app) candidate(act string) (*config.Project, *config.Candidate, error) {
	if err := a.NeedPerson(act); err != nil {
		return nil, nil, err
	}
	a.SayProject()
	p, err := a.Load()
	if err != nil {
		return nil, nil, err
	}
	c, err := p.Candidate()
	return p, c, err
}

// trustDiff shows what `myc trust` would accept.
func (a *app) trustDiff() error {
	p, both, err := a.candidate("see what governs a folder")
	if err != nil {
		return err
	}
	c, err := both.Loadable()
	if err != nil {
		return err
	}
	if c != both {
		defer a.left(both)
	}
	if !a.JSON {
		return a.Show(p, c)
	}
	if err := a.PrintJSON(a.changesShape(p, c, false)); err != nil {
		return err
	}
	return a.Loads(c)
}

func (a *app) trust(ctx context.Context, by base.Consent) error {
	if err := a.NeedPerson("trust a folder"); err != nil {
		return err
	}
	if err := a.settleState(ctx, by); err != nil {
		return err
	}
	if err := a.trustForAgents(by); err != nil {
		return err
	}
	p, c, err := a.candidate("trust a folder")
	if err != nil {
		return err
	}
	know := a.KnowNew
	if c.Outside() {
		know = a.KnowOutside
	}
	if err := a.Begin(know); err != nil {
		return err
	}
	both := c
	if c, err = both.Loadable(); err != nil {
		return err
	}
	accepted, err := a.Review(ctx, p, c, by)
	if err == nil && c != both {
		a.left(both)
	}
	switch {
	case err != nil:
		return err
	case !accepted && !c.Waits():
		// Where a folder is trusted whatever is in it, the daemon takes a change a moment after it was saved. After `myc trust` it has.
		a.TellRestart(ctx)
	}
	switch {
	case a.JSON:
		return a.PrintJSON(a.changesShape(p, c, accepted))
	case accepted:
		fmt.Fprintf(a.Out, "accepted: %s\n", counted(p, c))
		if now, err := a.Load(); err == nil && now.File.Policy.Wall == "" {
			base.OfferWall(a.Out, a.Loader)
		}
	case c.Fresh():
		fmt.Fprintf(a.Out, "%s has no files that govern; myc trust --yes accepts that\n", p.Dir)
	case !c.Waits():
		fmt.Fprintf(a.Out, "nothing waits: what governs %s is as it was accepted\n", p.Dir)
	}
	return nil
}

// trustForAgents shows the files that are not as they were when an agent without a light wall was started, and has that agent go on if a
// person takes them as they are.
func (a *app) trustForAgents(by base.Consent) error {
	paths, err := a.State()
	if err != nil {
		return err
	}
	changed, err := light.Changed(paths.Runs())
	if err != nil || len(changed) == 0 {
		return err
	}
	fmt.Fprintln(a.Err, "myc: an agent without a light wall calls nothing, because files that govern it are not as they were when it was started:")
	for _, path := range changed {
		fmt.Fprintf(a.Err, "  %s\n", path)
	}
	if !by.Yes && (!base.StdinIsTerminal(a.In) || !a.Confirm("Take them as they are now, so that it goes on? [y/N] ")) {
		fmt.Fprintln(a.Err, "hint: look at them; myc trust --yes takes them as they are now, and so does a new start of the agent")
		return nil
	}
	return light.Renew(paths.Runs(), changed...)
}

func (a *app) revoke(user bool) error {
	p, _, err := a.candidate("take back trust")
	if err != nil {
		return err
	}
	of, whose, where := &p.Acceptance, p.Dir, ""
	if user {
		of, whose, where = &p.User, p.UserDir, " in any project"
	}
	was, err := of.Revoke()
	if err != nil {
		return err
	}
	if !was {
		fmt.Fprintf(a.Out, "nothing of %s was accepted\n", whose)
		return nil
	}
	fmt.Fprintf(a.Out, "nothing of %s is accepted any more: its servers, skills and rules have no effect%s\n", whose, where)
	return nil
}
