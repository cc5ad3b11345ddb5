package memory

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/memory"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// folder is where the memories of the project are. act is what the person wants to do.
func (a *app) folder(act string) (memory.Folder, *config.Project, error) {
	if err := a.NeedPerson(act); err != nil {
		return memory.Folder{}, nil, err
	}
	p, err := a.Load()
	if err != nil {
		return memory.Folder{}, nil, err
	}
	return project.Memories(p), p, nil
}

// ofRole is folder for a command about one role: the one that is named, else session.defaultRole. It says so if no agent reads its memory.
func (a *app) ofRole(act, named string) (f memory.Folder, p *config.Project, role string, err error) {
	f, p, err = a.folder(act)
	if err != nil {
		return f, nil, "", err
	}
	if role = cmp.Or(named, p.File.Session.DefaultRole); role == "" {
		return f, nil, "", failure.New(failure.Usage, fmt.Errorf("%s: of which role", act),
			"name it with --role, or set session.defaultRole; myc roles list shows the roles")
	}
	known, _ := policy.New(p.Declared())
	view, ok := known.Role(role)
	if !ok {
		if stamp, err := f.Stat(role); err == nil && stamp != (memory.Stamp{}) {
			return f, p, role, nil // the role is gone, and its memory is there
		}
		hint := "myc roles list shows the roles"
		if near := text.Nearest(role, known.Roles()); near != "" {
			hint = "did you mean " + near + "?"
		}
		err := fmt.Errorf("Unknown role: %s", role) //nolint:staticcheck,revive // the same words everywhere
		return f, nil, "", failure.New(failure.Usage, err, hint)
	}
	if view.Memory == "none" {
		fmt.Fprintf(a.Err, "myc: role %s has no memory that its agents can read: "+
			"a skill with grants: {memory: isolated} gives it one\n", view.ID)
	}
	return f, p, view.ID, nil
}

func (a *app) saveCmd() *cobra.Command {
	var role, kind, source string
	var tags []string
	c := &cobra.Command{
		Use: "save TEXT", Short: "Add to the memory of a role", Args: base.ArgRange(1, 1, "a text, in quotes"),
		Example: "  myc memory save --type preference --tag style \"Answers in English\"\n" +
			"  myc memory save --role developer \"The port is 8420\"",
		RunE: func(c *cobra.Command, args []string) error {
			f, p, id, err := a.ofRole("save a memory", role)
			if err != nil {
				return err
			}
			now := time.Now()
			e, err := memory.New(args[0], kind, tags, source, now)
			if err != nil {
				return failure.New(failure.Usage, fmt.Errorf("save a memory: %w", err), "")
			}
			did := acts.Act{Act: "memory save", Item: e.ID, Role: id}
			if err := acts.Do(c.Context(), p, did, func() error { return f.Save(id, now, e) }); err != nil {
				return err
			}
			e.Role = id
			if a.JSON {
				return a.PrintJSON(e)
			}
			fmt.Fprintf(a.Out, "saved as %s to the memory of role %s\n", e.ID, id)
			return nil
		},
	}
	c.Flags().StringVar(&role, "role", "", "whose memory; default: session.defaultRole")
	c.Flags().StringVar(&kind, "type", memory.Context, strings.Join(memory.Types(), ", "))
	c.Flags().StringArrayVar(&tags, "tag", nil, "a word to find it by")
	c.Flags().StringVar(&source, "source", "", "where it comes from")
	return c
}

// show prints what a search found.
func (a *app) show(found memory.Found) error {
	for _, err := range found.Unread {
		fmt.Fprintf(a.Err, "myc: %s\n", text.Visible(text.Describe(err)))
	}
	if a.JSON {
		return a.PrintJSON(append([]memory.Entry{}, found.Entries...))
	}
	for _, e := range found.Entries {
		head := []string{e.ID, e.Role, e.Type}
		if !e.Created.IsZero() {
			head = append(head, when(e.Created))
		}
		if len(e.Tags) > 0 {
			head = append(head, "#"+strings.Join(e.Tags, " #"))
		}
		if e.Source != "" {
			head = append(head, "from "+e.Source)
		}
		fmt.Fprintf(a.Out, "%s\n", text.OneLine(strings.Join(head, "  ")))
		fmt.Fprintf(a.Out, "    %s\n\n", strings.ReplaceAll(text.Visible(e.Content), "\n", "\n    "))
	}
	switch n := len(found.Entries); {
	case found.Total == 0:
		fmt.Fprintln(a.Out, "There is no memory of this.")
	case n < found.Total:
		fmt.Fprintf(a.Out, "%d of %d; --limit shows more\n", n, found.Total)
	}
	return nil
}
