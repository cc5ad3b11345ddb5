// Package chat has the commands about saved conversations.
package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/internal/audit"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/project"
	"mycelium/internal/node/talks"
	"mycelium/internal/op/failure"
	"mycelium/internal/store"
	"mycelium/internal/transcript"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc chat`.
func Command(base *base.App) *cobra.Command {
	a := &app{base}
	c := a.listCmd()
	c.Use, c.Short, c.Example = "chat", "Look at saved conversations, and take over those of agents",
		"  myc chat import claude && myc chat\n  myc chat export c-1a2b --format html -o talk.html"
	c.Long = "Conversations of myc itself, those that agents saved with mycelium-session, and those that were imported from the files\n" +
		"of Claude Code, Codex and Gemini CLI. Each belongs to a role: agents in other roles cannot see it."
	c.AddCommand(a.listCmd(), a.showCmd(), a.resumeCmd(), a.saveCmd(), a.importCmd(), a.forkCmd(), a.compressCmd(), a.exportCmd(),
		a.renameCmd(), a.tagCmd(), a.deleteCmd())
	return c
}

// person is who uses these commands.
func person() transcript.Caller { return transcript.Caller{Person: true} }

// with calls f with the conversations of the project. It needs no daemon, and works beside one.
func (a *app) with(ctx context.Context, f func(*project.View, *transcript.Book) error) error {
	if err := a.NeedPerson("read saved conversations"); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	o, err := v.Project.AuditLog()
	if err != nil {
		return err
	}
	log, err := audit.Open(o) // for its words for secrets
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	db, err := store.Open(ctx, v.Project.StoreURL())
	if err != nil {
		return err
	}
	defer db.Close()
	folder := engine.Folder(v.Project.State)
	b := talks.Book(db, log.Secrets().Text, folder)
	if err := talks.Own(ctx, b, folder, project.LocalPrincipal, v.Project.File.Session.RoleOfAgent()); err != nil {
		a.Logger().Warn("conversations of myc are not up to date", "error", err)
	}
	return f(v, b)
}

// did records what a person does with a conversation, and does it.
func did(ctx context.Context, v *project.View, act, item, role string, do func() error) error {
	return acts.Do(ctx, v.Project, acts.Act{Act: "chat " + act, Item: item, Role: role}, do)
}

// owner is whose a new conversation is: the default principal's, in a role that exists.
func (a *app) owner(v *project.View, role string) (transcript.Caller, error) {
	if role == "" {
		role = v.Project.File.Session.RoleOfAgent()
	}
	if roles := v.Policy.Roles(); !slices.Contains(roles, role) {
		return transcript.Caller{}, failure.Hint(fmt.Errorf("chat: no role %q", role),
			"name one with --role: "+strings.Join(roles, ", "))
	}
	return transcript.Caller{Principal: project.LocalPrincipal, Role: role}, nil
}

func (a *app) renameCmd() *cobra.Command {
	return &cobra.Command{Use: "rename ID NAME", Short: "Give a conversation another name",
		Example: "  myc chat rename c-1a2b \"the failing build\"", Args: base.ArgRange(2, 2, "the id of a conversation and a name"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				var name string
				err := did(c.Context(), v, "rename", args[0], "", func() (err error) {
					name, err = b.Rename(c.Context(), person(), args[0], args[1])
					return err
				})
				return a.done(err, map[string]any{"id": args[0], "name": name}, "%s is called %s", args[0], name)
			})
		}}
}

func (a *app) tagCmd() *cobra.Command {
	return &cobra.Command{Use: "tag ID TAG …", Short: "Add tags to a conversation", Example: "  myc chat tag c-1a2b build urgent",
		Args: base.ArgRange(2, 21, "the id of a conversation and tags"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				var tags []string
				err := did(c.Context(), v, "tag", args[0], "", func() (err error) {
					tags, err = b.AddTags(c.Context(), person(), args[0], args[1:])
					return err
				})
				return a.done(err, map[string]any{"id": args[0], "tags": tags}, "%s has the tags %s", args[0], strings.Join(tags, ", "))
			})
		}}
}

func (a *app) deleteCmd() *cobra.Command {
	return &cobra.Command{Use: "delete ID", Short: "Delete a conversation for good", Example: "  myc chat delete c-1a2b",
		Args: base.ArgRange(1, 1, "the id of a conversation"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				err := did(c.Context(), v, "delete", args[0], "", func() error { return b.Delete(c.Context(), person(), args[0]) })
				return a.done(err, map[string]any{"deleted": args[0]}, "%s is deleted", args[0])
			})
		}}
}

func (a *app) forkCmd() *cobra.Command {
	var at int
	var name string
	c := &cobra.Command{Use: "fork ID", Short: "Copy a conversation, whole or up to a message",
		Example: "  myc chat fork c-1a2b --at 4 --name \"another way\"", Args: base.ArgRange(1, 1, "the id of a conversation"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				var f *transcript.Conversation
				err := did(c.Context(), v, "fork", args[0], "", func() (err error) {
					f, err = b.Fork(c.Context(), person(), args[0], at, name)
					return err
				})
				if err != nil {
					return err
				}
				f.Messages = nil
				return a.done(nil, f, "%s is a fork of %s with %d messages", f.ID, args[0], f.Count)
			})
		}}
	c.Flags().IntVar(&at, "at", -1, "the last message that it has, from 0 (default: all)")
	c.Flags().StringVar(&name, "name", "", "its name (default: that of its origin)")
	return c
}

// done says what was done, as JSON or in a line.
func (a *app) done(err error, v any, line string, args ...any) error {
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(v)
	}
	fmt.Fprintf(a.Out, line+"\n", args...)
	return nil
}
