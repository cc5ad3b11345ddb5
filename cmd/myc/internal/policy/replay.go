package policy

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/project"
	"mycelium/internal/node/replay"
	"mycelium/internal/op/failure"
)

func (a *app) policyReplay() *cobra.Command {
	var since, dir string
	c := &cobra.Command{
		Use: "replay", Short: "Decide recorded calls again, by changed files", Args: base.NoArgs,
		Example: "  myc policy replay --since 7d --policy ./next\n  myc policy replay            the files as they are now against " +
			"what was decided then",
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := base.ParseTime(since)
			if err != nil {
				return failure.Usagef("policy replay: --since: %w", err)
			}
			return a.replay(c.Context(), from, dir)
		},
	}
	c.Flags().StringVar(&since, "since", "", "calls not older than 24h, 7d, or a time (RFC 3339); default: all calls")
	c.Flags().StringVar(&dir, "policy", "", "folder with mycelium.yaml, skills/, roles/ and rules.yaml (default: the project's own files)")
	return c
}

// replay decides the recorded calls again, with the facts that were recorded then.
func (a *app) replay(ctx context.Context, since time.Time, dir string) error {
	v, err := a.OpenViewWith(dir)
	if err != nil {
		return err
	}
	defer v.Close()
	if v.Project.Broken.All != "" {
		return failure.New(failure.Config, fmt.Errorf("policy replay: the policy does not load: %s", v.Project.Broken.All),
			"myc -C DIR config validate says where")
	}
	o, err := v.Project.AuditLog()
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return failure.Hint(fmt.Errorf("policy replay: there is no audit log yet in %s", o.Dir),
			"calls are recorded as soon as an agent makes some")
	}
	r := replay.By(v.Policy)
	progress := base.Tell(a.Err, "deciding the recorded calls again", "call")
	err = r.Read(ctx, o, audit.Position{}, since, progress.Step)
	progress.End()
	if err != nil {
		return err
	}
	sum := r.Report()
	if sum.Meaning, err = a.meaningOf(v, dir); err != nil {
		return err
	}
	return a.printReplay(sum)
}

// meaningOf says what it would mean to replace the project's files by those of a folder.
func (a *app) meaningOf(fresh *project.View, dir string) ([]meaning.Change, error) {
	if dir == "" {
		return nil, nil
	}
	now, err := a.OpenView()
	if err != nil {
		return nil, err
	}
	defer now.Close()
	files := meaning.SkillFiles(now.Project, fresh.Project)
	return append([]meaning.Change{}, meaning.Compare(now.Project, fresh.Project, fresh.Catalog, files)...), nil
}
