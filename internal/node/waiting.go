package node

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

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
	if r.log == nil || !r.Project().Trusted {
		return
	}
	c, err := r.Project().Candidate()
	if err != nil || len(c.Changes) == 0 {
		return // what cannot be read is told of where it is used
	}
	fresh, err := c.Tell()
	if err != nil {
		r.logger.Warn("note changed files", "err", err)
	}
	if !fresh {
		return
	}
	r.logger.Warn("files that govern changed; what was accepted stays in force", "files", c.Summary(),
		"hint", "myc trust shows and accepts them")
	record := audit.Record{ID: audit.NewID(), Kind: audit.Guard, Time: time.Now(), Surface: "files", Note: "not in force: " + c.Summary()}
	if record.Args, err = json.Marshal(map[string]string{"digest": c.Digest}); err == nil {
		err = r.log.Append(ctx, record)
	}
	if err != nil {
		r.logger.Warn("record changed files", "err", err)
	}
}

// RecordConsent records that a person accepts files, before they are in force.
func RecordConsent(ctx context.Context, c *config.Candidate) error {
	log, err := openLog(c.Current)
	if err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	defer func() { _ = log.Close() }()
	return recorder{log}.record(ctx, act{Act: "trust", Digest: c.Digest}, "", c.Summary())
}
