package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/config"
)

// waiting names the files of a project that changed and have no effect before a person accepts them; "" if there are none.
func waiting(p *config.Project) string {
	c, err := p.Candidate()
	if err != nil {
		return ""
	}
	return c.Summary()
}

// tellWaiting tells people of files that changed and wait for consent: in the log of the process, and once for each content in the audit
// log.
func (r *reloader) tellWaiting(ctx context.Context) {
	p := r.Project()
	if r.log == nil || !inForce(&p.Acceptance) || !inForce(&p.User) {
		return
	}
	c, err := p.Candidate()
	if err != nil || len(c.Changes) == 0 {
		return // what cannot be read is told of where it is used
	}
	fresh, err := recordWaiting(ctx, r.log, c)
	if err != nil {
		r.logger.Warn("record changed files", "err", err)
	}
	if fresh {
		r.logger.Warn("files that govern changed; what was accepted stays in force", "files", c.Summary(),
			"hint", "myc trust shows and accepts them")
		if r.post != nil {
			r.post(approval.Notice{Kind: approval.GuardAlert, Label: "policy files", Time: time.Now(),
				Text: "no effect before myc trust: " + c.Summary()})
		}
	}
}

// recordWaiting records that files changed and wait for consent, once for each content, and reports whether nobody was told of it before.
func recordWaiting(ctx context.Context, log *audit.Log, c *config.Candidate) (fresh bool, err error) {
	if fresh, err = c.Tell(); err != nil || !fresh {
		return fresh, err
	}
	record := audit.Record{ID: audit.NewID(), Kind: audit.Guard, Time: time.Now(), Surface: "files", Note: "not in force: " + c.Summary()}
	if record.Args, err = json.Marshal(map[string]string{"digest": c.Digest}); err == nil {
		err = log.Append(ctx, record)
	}
	return true, err
}

// waitingAlone names the files of a project that wait, as waiting does, and records them, where no daemon does.
func waitingAlone(ctx context.Context, p *config.Project, log *audit.Log, logger *slog.Logger) string {
	if !inForce(&p.Acceptance) || !inForce(&p.User) {
		return waiting(p)
	}
	c, err := p.Candidate()
	if err != nil || len(c.Changes) == 0 {
		return ""
	}
	if _, err := recordWaiting(ctx, log, c); err != nil {
		logger.Warn("record changed files", "err", err)
	}
	return c.Summary()
}

// inForce reports whether nobody has to accept the files of a folder before anything of it is in force: that is told where it is used.
func inForce(a *config.Acceptance) bool { return !a.Missing() && a.Damaged == "" }
