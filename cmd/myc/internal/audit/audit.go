// Package audit has the commands that read the record of every call.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/op/failure"
)

// app is the program with the commands of this family.
type app struct {
	*base.App
	names map[string]string // what people call the sessions of agents, by session id; nil: not read yet
}

// Command is `myc audit`.
func Command(a *base.App) *cobra.Command { return (&app{App: a}).auditCmd() }

func (a *app) auditCmd() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "Read and verify the audit log",
		Example: "  myc audit tail\n  myc audit verify", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.PersistentFlags().BoolVar(&a.Outside, "outside", false, "the calls of agents outside of every project")
	c.AddCommand(a.auditTail(), a.auditQuery(), a.auditExport(),
		a.statsCmd(), a.auditDenials(),
		a.auditRead("thinking", "The reasoning that came with calls, as a report",
			func(ctx context.Context, x *index.Index) error { return a.auditThinking(ctx, x) }),
		a.verifyCmd(), a.beginAgainCmd(),
		a.auditRead("reindex", "Rebuild the index from the log", func(ctx context.Context, x *index.Index) error {
			defer base.Tell(a.Err, "rebuilding the index", "").End()
			return x.Rebuild(ctx)
		}))
	return c
}

func (a *app) auditRead(use, short string, f func(context.Context, *index.Index) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  myc audit " + use, Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.WithIndex(c.Context(), func(x *index.Index) error { return f(c.Context(), x) })
		}}
}

func (a *app) auditTail() *cobra.Command {
	var follow bool
	var lines int
	c := &cobra.Command{Use: "tail", Short: "Print the latest records of the log", Example: "  myc audit tail -f",
		Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.Load()
			if err != nil {
				return err
			}
			o, err := p.AuditLog()
			if err != nil {
				return err
			}
			return a.auditLines(c.Context(), o, lines, follow)
		}}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing records as they are written")
	c.Flags().IntVarP(&lines, "lines", "n", 20, "number of records to begin with")
	return c
}

// auditLines prints the last n records, and with follow those that are written afterwards.
func (a *app) auditLines(ctx context.Context, o audit.Options, n int, follow bool) error {
	if n < 0 {
		return failure.Usagef("audit tail: --lines must be at least 0, not %d", n)
	}
	from, err := audit.Back(o, n)
	if err != nil {
		return err
	}
	t := tail{app: a, table: a.Table(lineColumns()...)}
	for l, err := range audit.Read(ctx, o, from, false) {
		if err == nil {
			from = audit.Position{Segment: l.Segment, Offset: l.Offset}
			err = t.add(l)
		}
		if err != nil {
			return err
		}
	}
	if err := t.flush(); err != nil || !follow {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	for l, err := range audit.Read(ctx, o, from, true) {
		if err == nil {
			err = errors.Join(t.add(l), t.flush())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tail prints lines of the log.
type tail struct {
	app   *app
	table *base.Table
	rows  [][]string // not printed yet
}

// add takes one line: with --json it prints the raw line at once.
func (t *tail) add(l audit.Line) error {
	if t.app.JSON {
		_, err := fmt.Fprintf(t.app.Out, "%s\n", l.Raw)
		return err
	}
	t.rows = append(t.rows, t.app.lineRow(l.Record))
	return nil
}

// flush prints the lines that were added.
func (t *tail) flush() error {
	if !t.app.JSON {
		t.table.Print(t.rows...)
		t.rows = nil
	}
	return nil
}

func (a *app) auditExport() *cobra.Command {
	var format, file string
	c := &cobra.Command{Use: "export", Short: "Export calls as JSON, JSON Lines or CSV", Args: base.NoArgs,
		Example: "  myc audit export --format csv > calls.csv",
		RunE: func(c *cobra.Command, _ []string) error {
			if a.JSON && !c.Flags().Changed("format") {
				format = "json"
			}
			return a.WithIndex(c.Context(), func(x *index.Index) error {
				w := io.Writer(a.Out)
				if file != "" {
					f, err := os.OpenFile(filepath.Clean(file), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
					if err != nil {
						return fmt.Errorf("audit export: %w", err)
					}
					defer f.Close()
					w = f
				}
				return x.Export(c.Context(), w, format, index.Query{})
			})
		}}
	c.Flags().StringVar(&format, "format", "jsonl", "json, csv or jsonl")
	c.Flags().StringVarP(&file, "output", "o", "", "write to a new file instead of stdout")
	return c
}
