package sandbox

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/op/failure"
	"mycelium/internal/sandbox/quarantine"
	"mycelium/internal/text"
)

func (a *app) quarantineCmd() *cobra.Command {
	list := func(*cobra.Command, []string) error { return a.quarantined() }
	c := &cobra.Command{
		Use: "quarantine", Short: "Look at files that a command made and that would govern agents", Args: base.NoArgs, RunE: list,
		Long: "After a command of the sandbox, new files that would govern agents, such as .claude/settings.json, are moved away.\n" +
			"They wait here until a person restores or drops them.",
		Example: "  myc sandbox quarantine\n  myc sandbox quarantine show 20261125-101500.123456",
	}
	c.AddCommand(&cobra.Command{
		Use: "list", Short: "List them", Args: base.NoArgs, Example: "  myc sandbox quarantine list --json", RunE: list,
	}, &cobra.Command{
		Use: "show ID", Short: "Show what it says", Args: base.ArgRange(1, 1, "an id"),
		Example: "  myc sandbox quarantine show 20261125-101500.123456",
		RunE: func(_ *cobra.Command, args []string) error {
			_, q, err := a.entry(args[0])
			if err != nil {
				return err
			}
			said, err := q.Show()
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(struct {
					quarantine.Entry
					Content string `json:"content"`
				}{q, text.Visible(said)})
			}
			fmt.Fprintf(a.Out, "%s\n\n%s\n", text.OneLine(q.Path), text.Visible(said))
			return nil
		},
	}, a.restoreCmd(), &cobra.Command{
		Use: "drop ID", Short: "Remove it for good", Args: base.ArgRange(1, 1, "an id"),
		Example: "  myc sandbox quarantine drop 20261125-101500.123456",
		RunE: func(c *cobra.Command, args []string) error {
			p, q, err := a.entry(args[0])
			if err != nil {
				return err
			}
			return settle(c, p, q, "drop", q.Drop)
		},
	})
	return c
}

func (a *app) restoreCmd() *cobra.Command {
	yes := false
	restore := &cobra.Command{
		Use: "restore ID", Short: "Move it back to where the command had made it", Args: base.ArgRange(1, 1, "an id"),
		Example: "  myc sandbox quarantine restore --yes 20261125-101500.123456",
		RunE: func(c *cobra.Command, args []string) error {
			p, q, err := a.entry(args[0])
			if err == nil && !yes {
				err = text.Hinted(fmt.Errorf("%s would govern agents: it is restored only with --yes", text.OneLine(q.Path)),
					"read it first: myc sandbox quarantine show "+q.ID)
			}
			if err != nil {
				return err
			}
			return settle(c, p, q, "restore", q.Restore)
		},
	}
	restore.Flags().BoolVar(&yes, "yes", false, "you have read it, and it may govern")
	return restore
}

// waiting is the project, and what is in its quarantine.
func (a *app) waiting() (*config.Project, []quarantine.Entry, error) {
	if err := a.NeedPerson("look into the quarantine of the sandbox"); err != nil {
		return nil, nil, err
	}
	p, err := a.Load()
	if err != nil {
		return nil, nil, err
	}
	all, err := quarantine.Waiting(p.State.Sandbox("quarantine"))
	return p, all, err
}

func (a *app) quarantined() error {
	_, all, err := a.waiting()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(append([]quarantine.Entry{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.Out, "The quarantine is empty.")
		return nil
	}
	var rows [][]string
	for _, q := range all {
		rows = append(rows, []string{q.ID, q.Time.Local().Format(time.DateTime), text.OneLine(q.Path)})
	}
	a.Table(base.Column{Name: "ID"}, base.Column{Name: "SINCE", Drop: 1}, base.Column{Name: "WHERE IT WAS", Least: 20}).Print(rows...)
	return nil
}

// entry finds an entry of the quarantine.
func (a *app) entry(id string) (*config.Project, quarantine.Entry, error) {
	p, all, err := a.waiting()
	if err != nil {
		return nil, quarantine.Entry{}, err
	}
	for _, q := range all {
		if q.ID == id {
			return p, q, nil
		}
	}
	return nil, quarantine.Entry{}, text.Hinted(failure.Usagef("there is nothing in quarantine with the id %q", id),
		"myc sandbox quarantine lists what there is")
}

// settle records what a person does with an entry, and does it.
func settle(c *cobra.Command, p *config.Project, q quarantine.Entry, verb string, do func() error) error {
	act := sandboxed.Act{Act: "quarantine " + verb, Path: q.Path}
	if _, err := acts.Record(c.Context(), p, act, verb+" "+q.Path); err != nil {
		return err
	}
	return do()
}
