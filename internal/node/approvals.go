package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/config"
)

// openApprovals opens the queue of what waits for an answer. It is always there: with nobody to answer, the deadline denies.
func (n *Node) openApprovals(ctx context.Context) (err error) {
	conf := n.view.Project.File.Approval
	n.asks, err = approval.New(ctx, approval.Options{DB: n.db, Deadline: conf.Wait(), Judge: n.openJudge(), Logger: n.logger, WriteRule: n.writeRule})
	if err != nil {
		return err
	}
	n.onClose(n.asks.Close)
	return nil
}

// writeRule writes what an answer allows into the project's rules, and lets it take effect.
func (n *Node) writeRule(ctx context.Context, r approval.Request, a approval.Answer) (string, error) {
	p := n.View().Project
	if !p.Trusted {
		return "", errors.New("the rules of a folder that is not trusted take no effect (myc trust)")
	}
	rule, err := config.ApprovedRule(r)
	if err != nil {
		return "", err
	}
	file := config.RulesFile
	for _, name := range p.File.Policy.Rules { // as they are shown: those of the project relative to it
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~") {
			file = name
			break
		}
	}
	comment, reason := config.ApprovedComment(r, a)
	if err := config.AppendRule(filepath.Join(n.dir, file), comment, reason, rule); err != nil {
		return "", err
	}
	if err := n.reload(ctx); err != nil { // the rule is written, and this call is approved all the same
		n.logger.Warn("a rule was written and is not in force", "rule", rule.Name, "err", err)
	}
	return fmt.Sprintf("%s in %s", rule.Name, file), nil
}
