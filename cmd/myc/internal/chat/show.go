package chat

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/harness/history"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
	"mycelium/internal/transcript/page"
)

func (a *app) listCmd() *cobra.Command {
	var role string
	var tags []string
	var limit int
	c := &cobra.Command{Use: "list", Short: "List saved conversations, the last changed first", Example: "  myc chat list --tag build",
		Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c.Context(), func(_ *project.View, b *transcript.Book) error {
				all, err := b.List(c.Context(), person(), tags, 0)
				if err != nil {
					return err
				}
				kept := []transcript.Conversation{}
				for _, one := range all {
					if (role == "" || one.Role == role) && (limit <= 0 || len(kept) < limit) {
						kept = append(kept, one)
					}
				}
				return a.printList(kept)
			})
		}}
	c.Flags().StringVar(&role, "role", "", "only those of a role")
	c.Flags().StringSliceVar(&tags, "tag", nil, "only those with this tag")
	c.Flags().IntVar(&limit, "limit", 0, "how many at most (default: all)")
	return c
}

func (a *app) printList(all []transcript.Conversation) error {
	if a.JSON {
		return a.PrintJSON(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.Out, "No conversation is saved. myc chat import claude takes over those of Claude Code in this project.")
		return nil
	}
	var rows [][]string
	for _, c := range all {
		rows = append(rows, []string{c.ID, c.Name, base.OrDash(c.Role), base.OrDash(c.Agent), strconv.Itoa(c.Count),
			c.Updated.Local().Format(time.DateTime), base.OrDash(strings.Join(c.Tags, ", "))})
	}
	a.Table(base.Column{Name: "ID"}, base.Column{Name: "NAME", Least: 16}, base.Column{Name: "ROLE", Least: 6, Drop: 2},
		base.Column{Name: "FROM", Drop: 3}, base.Column{Name: "MESSAGES", Drop: 4}, base.Column{Name: "CHANGED", Drop: 1},
		base.Column{Name: "TAGS", Least: 8, Drop: 5}).Print(rows...)
	return nil
}

func (a *app) showCmd() *cobra.Command {
	var o page.Options
	c := &cobra.Command{Use: "show ID", Short: "Show a conversation", Example: "  myc chat show c-1a2b --tool-calls",
		Args: base.ArgRange(1, 1, "the id of a conversation"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(_ *project.View, b *transcript.Book) error {
				one, err := b.Load(c.Context(), person(), args[0])
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(one)
				}
				out, err := transcript.Export(one, "markdown", o)
				fmt.Fprint(a.Out, out)
				return err
			})
		}}
	o.Metadata = true
	c.Flags().BoolVar(&o.Calls, "tool-calls", false, "show the calls of tools")
	c.Flags().BoolVar(&o.Thinking, "thinking", false, "show the reasoning")
	return c
}

func (a *app) exportCmd() *cobra.Command {
	var o page.Options
	var format, path string
	var bare bool
	c := &cobra.Command{Use: "export ID", Short: "Write a conversation as Markdown, JSON or one HTML page",
		Example: "  myc chat export c-1a2b --format html -o talk.html", Args: base.ArgRange(1, 1, "the id of a conversation"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := transcript.CheckFormat(format); err != nil {
				return failure.Usagef("chat export: %w", err)
			}
			return a.with(c.Context(), func(_ *project.View, b *transcript.Book) error {
				one, err := b.Load(c.Context(), person(), args[0])
				if err != nil {
					return err
				}
				o.Metadata = !bare
				out, err := transcript.Export(one, format, o)
				if err != nil {
					return fmt.Errorf("chat export: %w", err)
				}
				if path == "" {
					_, err = io.WriteString(a.Out, out)
					return err
				}
				return atomicfile.Write(path, []byte(out), 0o600)
			})
		}}
	c.Flags().StringVar(&format, "format", "markdown", "markdown, json or html")
	c.Flags().StringVarP(&path, "output", "o", "", "the file to write (default: standard output)")
	c.Flags().BoolVar(&o.Calls, "tool-calls", false, "with the calls of tools")
	c.Flags().BoolVar(&o.Thinking, "thinking", false, "with the reasoning")
	c.Flags().BoolVar(&bare, "no-metadata", false, "without role, dates, length and tags")
	return c
}

func (a *app) resumeCmd() *cobra.Command {
	return &cobra.Command{Use: "resume ID", Short: "Tell how an agent goes on with a conversation", Example: "  myc chat resume c-1a2b",
		Long: "Prints the command with which the agent of a conversation goes on with it.\n" +
			"A conversation that was saved here belongs to no agent: it can be read and exported.",
		Args: base.ArgRange(1, 1, "the id of a conversation"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				one, err := b.Load(c.Context(), person(), args[0])
				if err != nil {
					return err
				}
				line, err := a.resume(v, one)
				if err != nil {
					return err
				}
				return a.done(nil, map[string]any{"id": one.ID, "agent": one.Agent, "command": line}, "%s", text.OneLine(line))
			})
		}}
}

// resume returns the command line that goes on with a conversation. It looks for the agent's own file, without which the agent cannot.
func (a *app) resume(v *project.View, c *transcript.Conversation) (string, error) {
	read := "read it with myc chat show " + c.ID
	if c.Agent == transcript.Own {
		return inFolder(v.Project.Dir) + "myc --resume " + c.ID, nil
	}
	if c.Agent == "" {
		return "", failure.Hint(fmt.Errorf("conversation %s was saved here and belongs to no agent that could go on with it", c.ID), read)
	}
	files, err := history.Places{Home: v.Project.Home, Getenv: a.Getenv}.Find(c.Agent, v.Project.Dir)
	if err != nil {
		return "", err
	}
	for _, path := range files {
		f, err := history.Open(path)
		if err != nil {
			continue
		}
		h, err := history.Read(c.Agent, f)
		_ = f.Close()
		if err != nil || h.ID != c.AgentID {
			continue
		}
		switch c.Agent {
		case history.Claude:
			return inFolder(c.Dir) + "myc claude -- --resume " + quote(c.AgentID), nil
		case history.Codex:
			return inFolder(c.Dir) + "codex resume " + quote(c.AgentID), nil
		default:
			return inFolder(v.Project.Dir) + "gemini --resume " + quote(c.AgentID), nil
		}
	}
	return "", failure.Hint(fmt.Errorf("%s does not have conversation %s any more: no file of it with the id %s is about this project",
		c.Agent, c.ID, text.Flatten(c.AgentID)), read)
}

// inFolder goes to a folder first, unless the command runs there.
func inFolder(dir string) string {
	if here, err := os.Getwd(); err != nil || dir == "" || here == dir {
		return ""
	}
	return "cd " + quote(dir) + " && "
}

// quote quotes a word for the shell, where it needs it.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-", r)
	}) && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
