// Package memory has the commands of the memories: what agents remember between sessions, for a person to read, search, correct and move.
package memory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/memory"
	"mycelium/internal/node/noted"
	"mycelium/internal/node/project"
	"mycelium/internal/store"
	"mycelium/internal/text"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc memory`.
func Command(a *base.App) *cobra.Command {
	m := &app{a}
	c := &cobra.Command{
		Use: "memory", Short: "Read and correct what agents remember", Args: base.NoArgs,
		Long: "Each role that a skill gives a memory (grants.memory) has one Markdown file. Agents save to it and search it with the\n" +
			"tools of mycelium-memory; these commands are for you, and reach the memories of all roles.",
		Example: "  myc memory list\n  myc memory recall \"which port\"\n" +
			"  myc memory save --type preference \"Answers in English\"\n  myc memory edit developer",
		RunE: func(*cobra.Command, []string) error { return m.list("") },
	}
	c.AddCommand(m.listCmd(), m.recallCmd(), m.saveCmd(), m.editCmd(), m.importCmd(), m.exportCmd())
	return c
}

// Check is what `myc doctor` says of the memories: only what is wrong with them.
func Check(*base.App) base.Check { return doctor }

func doctor(_ context.Context, v *project.View, add base.Report) {
	f := project.Memories(v.Project)
	roles, err := f.Roles()
	if err != nil {
		add("problem", "memory", err.Error(), "")
		return
	}
	suspect := noted.Reader()
	for _, role := range roles {
		d, _, err := f.Read(role)
		if err != nil {
			add("problem", "memory", err.Error(), "")
			continue
		}
		for _, e := range d.Entries() {
			if why := e.Withheld(suspect); why != "" {
				add("warning", "memory", fmt.Sprintf("%s:%d: no agent is told %s: %s", f.Path(role), e.Line, e.ID, why), "myc memory edit "+role)
			}
		}
		for _, p := range d.Problems {
			add("warning", "memory", fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message), "myc memory edit "+role)
		}
	}
	strangers, err := f.Strangers()
	if err != nil {
		add("problem", "memory", err.Error(), "")
	}
	for _, name := range strangers {
		add("warning", "memory", f.Dir+": "+name+" is the memory of no role, and is not recalled",
			"name it as myc does (myc memory list), or import it: myc memory import --from claude FILE")
	}
}

// listed is a row of `myc memory list --json`.
type listed struct {
	memory.Summary
	File    string           `json:"file"`
	Unread  string           `json:"unread,omitzero"` // why the file cannot be read
	Unclear []memory.Problem `json:"unclear,omitempty"`
}

func (a *app) listCmd() *cobra.Command {
	role := ""
	c := &cobra.Command{
		Use: "list", Short: "List the memories of the roles, and what in them cannot be read", Args: base.NoArgs,
		Example: "  myc memory list\n  myc memory list --role developer --json",
		RunE:    func(*cobra.Command, []string) error { return a.list(role) },
	}
	c.Flags().StringVar(&role, "role", "", "of this role only")
	return c
}

func (a *app) list(role string) error {
	f, _, err := a.folder("list memories")
	if err != nil {
		return err
	}
	roles, err := f.Roles()
	if err != nil {
		return err
	}
	if role != "" {
		roles = []string{role}
	}
	all := []listed{}
	for _, role := range roles {
		d, _, err := f.Read(role)
		if err != nil {
			all = append(all, listed{Summary: memory.Summary{Role: role, Types: map[string]int{}, Tags: []string{}}, File: f.Path(role),
				Unread: text.Describe(err)})
			continue
		}
		all = append(all, listed{Summary: memory.Summarise(d), File: f.Path(role), Unclear: d.Problems})
	}
	if a.JSON {
		return a.PrintJSON(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.Out, "No role remembers anything yet.")
		return nil
	}
	var rows [][]string
	for _, l := range all {
		var types []string
		for _, kind := range memory.Types() {
			if n := l.Types[kind]; n > 0 {
				types = append(types, fmt.Sprintf("%s %d", kind, n))
			}
		}
		rows = append(rows, []string{text.OneLine(l.Role), fmt.Sprint(l.Total), strings.Join(types, ", "), when(l.Last), l.File})
	}
	a.Table(base.Column{Name: "ROLE"}, base.Column{Name: "ENTRIES"}, base.Column{Name: "TYPES", Least: 12, Drop: 1},
		base.Column{Name: "LAST", Drop: 2}, base.Column{Name: "FILE", Least: 20}).Print(rows...)
	for _, l := range all {
		a.say(l.Unclear)
		if l.Unread != "" {
			fmt.Fprintf(a.Err, "myc: %s\n", text.Visible(l.Unread))
		}
	}
	return nil
}

// say tells the person what in a file is no entry.
func (a *app) say(list []memory.Problem) {
	for _, p := range list {
		fmt.Fprintf(a.Err, "myc: %s:%d: %s\n", text.OneLine(p.File), p.Line, text.Visible(p.Message))
	}
}

func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

func (a *app) recallCmd() *cobra.Command {
	var q memory.Query
	var role string
	c := &cobra.Command{
		Use: "recall [QUERY]", Short: "Search the memories of all roles, or of one", Args: base.ArgRange(0, 1, "at most one query, in quotes"),
		Long:    "Words in any order; the most relevant entries come first, then the newest. Without a query the newest are shown.",
		Example: "  myc memory recall \"which port\"\n  myc memory recall --role developer --type preference --tag ui --json",
		RunE: func(c *cobra.Command, args []string) error {
			q.Text = strings.Join(args, " ")
			return a.recall(c.Context(), q, role)
		},
	}
	c.Flags().StringVar(&role, "role", "", "the memory of this role only")
	c.Flags().StringVar(&q.Type, "type", "", strings.Join(memory.Types(), ", "))
	c.Flags().StringArrayVar(&q.Tags, "tag", nil, "entries with this tag, or with one of several")
	c.Flags().IntVar(&q.Limit, "limit", memory.DefaultLimit, "the most entries to show, up to 100")
	return c
}

func (a *app) recall(ctx context.Context, q memory.Query, role string) error {
	f, p, err := a.folder("recall memories")
	if err != nil {
		return err
	}
	if q.Roles = []string{role}; role == "" {
		if q.Roles, err = f.Roles(); err != nil {
			return err
		}
	}
	db, err := store.Open(ctx, p.StoreURL())
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := memory.Index{Folder: f, DB: db}.Search(ctx, q)
	if err != nil {
		return err
	}
	return a.show(found)
}
