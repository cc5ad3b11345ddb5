package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/node"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) verifyCmd() *cobra.Command {
	var dir, keys string
	c := &cobra.Command{Use: "verify", Short: "Verify the log, and name the first broken line",
		Long: "Verify the whole log of the project. It finds every line that was edited, removed, moved or added, and an end that was\n" +
			"cut off.\n\n" +
			"With --copy, verify a copy of the folder with the segments, which may be read-only. --keys names a copy of the folder with the\n" +
			"log's key (audit.key and audit.checkpoint). Without the key, the command checks that every line has its form, its number and\n" +
			"its link to the line before, and that no segment is missing; an edited line and an end that was cut off do not show.",
		Example: "  myc audit verify --json\n  myc audit verify --copy /mnt/copy/audit --keys /mnt/copy/keys",
		Args:    base.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if keys != "" && dir == "" {
				return failure.Usagef("audit verify: --keys belongs to --copy")
			}
			return a.auditVerify(dir, keys)
		}}
	c.Flags().StringVar(&dir, "copy", "", "a copy of the folder with the segments")
	c.Flags().StringVar(&keys, "keys", "", "a copy of the folder with the log's key, with --copy")
	return c
}

// logOf returns the log of the project, or the copy in a folder.
func (a *app) logOf(dir, keys string) (audit.Options, error) {
	if dir == "" {
		p, err := a.Load()
		if err != nil {
			return audit.Options{}, err
		}
		return p.AuditLog()
	}
	if found, err := filepath.Glob(filepath.Join(dir, "*.jsonl")); err != nil || len(found) == 0 {
		return audit.Options{}, failure.New(failure.NotFound, fmt.Errorf("audit verify: %s has no segment of a log", dir),
			"name the folder that has 00000001.jsonl")
	}
	if keys != "" {
		if _, err := os.Stat(filepath.Join(keys, audit.KeyFile)); err != nil {
			return audit.Options{}, failure.New(failure.NotFound, fmt.Errorf("audit verify: no key in %s: %w", keys, err),
				"name the folder that has "+audit.KeyFile)
		}
	}
	return audit.Options{Dir: dir, KeyDir: keys}, nil
}

func (a *app) auditVerify(dir, keys string) error {
	o, err := a.logOf(dir, keys)
	if err != nil {
		return err
	}
	progress := base.Tell(a.Err, "verifying the log", "")
	r, err := audit.Verify(o)
	progress.End()
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	}
	if r.Broken != nil {
		return failure.Hint(fmt.Errorf("audit: the log is broken at %s:%d: %s", r.Broken.Segment, r.Broken.Line, r.Broken.Why),
			"keep the folder "+o.Dir+" as it is: the records before that line are valid")
	}
	if a.JSON {
		return nil
	}
	fmt.Fprintf(a.Out, "ok: %s in %s, from %s to %s\n", text.Count(int(r.Records), "record"), text.Count(r.Segments, "segment"),
		base.OrDash(r.First), base.OrDash(r.Last))
	for _, b := range r.Accepted {
		fmt.Fprintf(a.Out, "but for a break at %s:%d, behind which a person began again at %s: %s\n    because: %s\n", b.Segment, b.Line,
			b.Time.Local().Format(time.DateTime), text.Flatten(b.Why), text.Flatten(b.Because))
	}
	if len(r.Unproved) > 0 {
		fmt.Fprintf(a.Out, "without the key this does not prove %s\n", strings.Join(r.Unproved, ", nor "))
	}
	return nil
}

func (a *app) beginAgainCmd() *cobra.Command {
	var because string
	c := &cobra.Command{Use: "begin-again --because TEXT", Short: "Begin a new chain behind damage of the log",
		Long: "After damage of the log no call runs. Find out who changed it, and restore the files from a copy if there is one. If there is\n" +
			"none, this command begins a new chain in a new segment. Its first line says what was expected, what was found, and why you\n" +
			"go on. The damaged segments stay as they are, and myc audit verify goes on naming the break.",
		Example: `  myc audit begin-again --because "the disk was full, and the backup of Monday is older"`, Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if strings.TrimSpace(because) == "" {
				return failure.Usagef("audit begin-again: say why, with --because TEXT")
			}
			if err := a.beginAgain(c.Context(), because); err != nil {
				return err
			}
			fmt.Fprintln(a.Err, "a new chain begins; its first line names the damage (myc audit tail -n 1 --json)")
			return nil
		}}
	c.Flags().StringVar(&because, "because", "", "why you go on, for the log")
	return c
}

func (a *app) beginAgain(ctx context.Context, because string) (err error) {
	if !a.Outside {
		_, err := base.Operate(ctx, a.App, api.BeginAgain, api.BeginParams{Because: because})
		return err
	}
	if err := a.NeedPerson(api.BeginAgain.Act); err != nil { // no daemon has this log
		return err
	}
	o, err := a.logOf("", "")
	if err != nil {
		return err
	}
	log, err := audit.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return node.BeginAgain(log, "operator", because)
}
