package chat

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/harness/history"
	"mycelium/internal/model"
	"mycelium/internal/node/project"
	"mycelium/internal/node/talks"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
)

// maxSaved bounds what save reads, in bytes: more than a whole conversation as JSON.
const maxSaved = 32 << 20

func (a *app) saveCmd() *cobra.Command {
	var role string
	var tags []string
	c := &cobra.Command{Use: "save NAME [FILE]", Short: "Save a conversation from a file or from standard input",
		Long: "Saves an export as JSON as the conversation that it was, under a new id, and any other text as one message of the user.\n" +
			"Secrets are masked.",
		Example: "  myc chat save \"notes of the call\" notes.txt --tag call\n  myc chat export c-1a2b --format json | myc chat save copy",
		Args:    base.ArgRange(1, 2, "a name, and at most one file"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				w, err := a.owner(v, role)
				if err != nil {
					return err
				}
				raw, err := a.read(args[1:])
				if err != nil {
					return err
				}
				n, err := talks.Parse(raw)
				if err != nil {
					return fmt.Errorf("chat save: %w", err)
				}
				n.Name, n.Tags = args[0], append(n.Tags, tags...)
				var saved *transcript.Conversation
				err = did(c.Context(), v, "save", "", w.Role, func() (err error) {
					saved, err = b.Save(c.Context(), w, n)
					return err
				})
				if err != nil {
					return err
				}
				saved.Messages = nil
				return a.done(nil, saved, "%s: %s, for the role %s", saved.ID, text.Count(saved.Count, "message"), saved.Role)
			})
		}}
	c.Flags().StringVar(&role, "role", "", "whose it is (default: the role of agents without a credential)")
	c.Flags().StringSliceVar(&tags, "tag", nil, "a tag")
	return c
}

// read reads the file, or else the standard input.
func (a *app) read(files []string) ([]byte, error) {
	in := a.In
	if len(files) > 0 && files[0] != "-" {
		f, err := history.Open(files[0])
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxSaved+1))
	if err == nil && len(raw) > maxSaved {
		err = fmt.Errorf("there is more than %d MiB", maxSaved>>20)
	}
	return raw, err
}

func (a *app) importCmd() *cobra.Command {
	var role string
	c := &cobra.Command{Use: "import claude|codex|gemini [FILE …]", Short: "Take over conversations of coding agents",
		Long: "Without files it takes the conversations that took place in this project. A conversation that was imported\n" +
			"before is brought up to date, unless it was changed here. A line that cannot be read is reported and skipped. Secrets are masked.",
		Example: "  myc chat import claude\n  myc chat import codex ~/.codex/sessions/2026/11/25/rollout-*.jsonl",
		Args:    base.ArgRange(1, 10_000, "claude, codex or gemini, and perhaps files"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				w, err := a.owner(v, role)
				if err != nil {
					return err
				}
				files := args[1:]
				found, err := history.Places{Home: v.Project.Home, Getenv: a.Getenv}.Find(args[0], v.Project.Dir)
				if err != nil {
					return failure.Usagef("chat import: %w", err)
				}
				if len(files) == 0 {
					files = found
				}
				return a.take(c.Context(), v, b, w, args[0], files)
			})
		}}
	c.Flags().StringVar(&role, "role", "", "whose they are (default: the role of agents without a credential)")
	return c
}

// take imports files, and says what became of each.
func (a *app) take(ctx context.Context, v *project.View, b *transcript.Book, w transcript.Caller, agent string, files []string) error {
	all, failed := []talks.Taken{}, 0
	for _, path := range files {
		var t talks.Taken
		err := did(ctx, v, "import", path, w.Role, func() (err error) {
			if t, err = talks.Import(ctx, b, w, agent, path); err == nil && t.Error != "" {
				return errors.New(t.Error)
			}
			return err
		})
		if err != nil && t.Error == "" {
			return err
		}
		all = append(all, t)
		if t.Error != "" {
			failed++
		}
		if !a.JSON {
			a.say(t)
		}
	}
	if a.JSON {
		if err := a.PrintJSON(all); err != nil {
			return err
		}
	} else if len(files) == 0 {
		fmt.Fprintf(a.Out, "%s has no conversation in this project.\n", agent)
	}
	if failed > 0 && failed == len(files) {
		return errors.New("chat import: no file could be read")
	}
	return nil
}

func (a *app) say(t talks.Taken) {
	switch {
	case t.Error != "":
		fmt.Fprintf(a.Err, "%s: %s\n", text.OneLine(t.File), text.OneLine(t.Error))
		return
	case !t.Kept:
		fmt.Fprintf(a.Out, "%s  %s: left as it is, because it was changed here since it was imported\n", t.Conversation.ID,
			text.Cell(t.Conversation.Name, 60))
	default:
		fmt.Fprintf(a.Out, "%s  %s: %s\n", t.Conversation.ID, text.Cell(t.Conversation.Name, 60), text.Count(t.Conversation.Count, "message"))
	}
	if t.LeftOut > 0 {
		fmt.Fprintf(a.Err, "%s: the first %s left out, because it is too long\n", text.OneLine(t.File),
			text.Count(t.LeftOut, "message")+" "+text.Plural(t.LeftOut, "was", "were"))
	}
	for _, why := range t.Skipped[:min(3, len(t.Skipped))] {
		fmt.Fprintf(a.Err, "%s: skipped %s\n", text.OneLine(t.File), text.OneLine(why))
	}
	if more := t.Faults - 3; more > 0 {
		fmt.Fprintf(a.Err, "%s: skipped %s more\n", text.OneLine(t.File), text.Count(more, "line"))
	}
}

func (a *app) compressCmd() *cobra.Command {
	o := transcript.Compression{}
	c := &cobra.Command{Use: "compress ID", Short: "Make a conversation shorter",
		Long: "summarize replaces all but the last messages by a summary: of the model of approval.judge, or of sentences of\n" +
			"the conversation where there is none. truncate keeps the last messages that fit, sliding-window the last ones.\n" +
			"What is left out is gone.",
		Example: "  myc chat fork c-1a2b && myc chat compress c-1a2b --strategy sliding-window --keep 20",
		Args:    base.ArgRange(1, 1, "the id of a conversation"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(v *project.View, b *transcript.Book) error {
				w := talks.Writer{Config: func() approval.JudgeConfig { return v.Project.File.Approval.Judge }, Expand: v.Pool.Expand,
					BaseURL: a.Getenv("ANTHROPIC_BASE_URL"), Ledger: &model.Ledger{Dir: v.Project.State.Costs()}, Logger: a.Logger()}
				o.Model = w.Summarize
				var done transcript.Compressed
				err := did(c.Context(), v, "compress", args[0], "", func() (err error) {
					done, err = b.Compress(c.Context(), person(), args[0], o)
					return err
				})
				if err == nil && done.Note != "" && !a.JSON {
					fmt.Fprintf(a.Err, "%s: %s\n", args[0], text.OneLine(done.Note))
				}
				return a.done(err, done, "%s: %d of %s, about %d of %s", args[0], done.After, text.Count(done.Before, "message"),
					done.TokensAfter, text.Count(done.TokensBefore, "token"))
			})
		}}
	c.Flags().StringVar(&o.Strategy, "strategy", transcript.Summarize, "summarize, truncate or sliding-window")
	c.Flags().IntVar(&o.Keep, "keep", transcript.DefaultKeep, "how many messages at the end stay")
	c.Flags().IntVar(&o.Target, "tokens", transcript.DefaultTarget, "how many tokens it should have afterwards")
	return c
}
