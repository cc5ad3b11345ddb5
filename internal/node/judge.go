package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/harness"
	"mycelium/internal/model"
	"mycelium/internal/node/fence"
	"mycelium/internal/policy"
	"mycelium/internal/run"
)

// judging is what a node asks models with.
type judging struct {
	ledger  *model.Ledger
	budget  *run.Budget
	denials *run.Denials

	asking sync.Mutex
	client *model.Client // of the key and the address below; nil: none was needed yet
	to     model.Options
}

// openJudge prepares the ledger and the judge. Nobody is asked before a call waits.
func (n *Node) openJudge() approval.Judge {
	n.ledger = &model.Ledger{Dir: filepath.Join(n.dir, ".mycelium", "costs")}
	n.onClose(func() {
		n.asking.Lock()
		defer n.asking.Unlock()
		if n.client != nil {
			n.client.Close()
		}
	})
	return liveJudge{n}
}

// liveJudge judges as the files say when it is asked.
type liveJudge struct{ n *Node }

// Judge implements [approval.Judge]. Where no model is configured it passes on, silently.
func (j liveJudge) Judge(ctx context.Context, r approval.Request) (approval.Verdict, error) {
	n := j.n
	client, conf, err := n.asker()
	if client == nil {
		return approval.Verdict{}, err
	}
	return approval.NewJudge(approval.JudgeOptions{
		Model: client, Name: conf.Model, Confidence: conf.Share(), MayDeny: conf.MayDeny, Timeout: conf.Patience(),
		Policies: n.policiesInWords, Rules: func() []policy.Rule { return n.View().Project.Rules }, Past: n.pastOf, Ledger: n.ledger, Logger: n.logger,
	}).Judge(ctx, r)
}

// asker is the client of the model that judges; nil: there is none. That a key is missing is an error only for who configured a judge.
func (n *Node) asker() (*model.Client, approval.JudgeConfig, error) {
	conf := n.View().Project.File.Approval.Judge
	if conf.Off() {
		return nil, conf, nil
	}
	ref := conf.Key
	if ref == "" {
		ref = approval.JudgeKey
	}
	key, err := n.pool.Expand(ref)
	if err != nil || key == "" {
		if conf == (approval.JudgeConfig{}) {
			return nil, conf, nil
		}
		return nil, conf, fmt.Errorf("approval.judge has no key: %w", errors.Join(err, model.ErrNoKey))
	}
	o := model.Options{Key: key, BaseURL: n.judgeURL(conf), Timeout: conf.Patience(), Retries: 1}
	n.asking.Lock()
	defer n.asking.Unlock()
	if n.client == nil || n.to != o {
		c, err := model.New(o)
		if err != nil {
			return nil, conf, err
		}
		if n.client != nil {
			n.client.Close()
		}
		n.client, n.to = c, o
	}
	return n.client, conf, nil
}

// judgeURL is where the model is asked. The environment counts only for a daemon that a person started: an agent that starts one could
// name a server of its own there, and be its own judge.
func (n *Node) judgeURL(conf approval.JudgeConfig) string {
	if conf.BaseURL == "" && n.Serves && fence.AgentHere(n.Environ) == "" {
		return n.Getenv("ANTHROPIC_BASE_URL")
	}
	return conf.BaseURL
}

// policiesInWords are those that a model has to know before it judges.
func (n *Node) policiesInWords() ([]approval.Policy, error) {
	p := n.View().Project
	if p.Unjudged != "" {
		return nil, errors.New(p.Unjudged)
	}
	return p.Policies, nil
}

// pastOf are the last decisions of a session, newest first.
func (n *Node) pastOf(ctx context.Context, session string, most int) ([]approval.Past, error) {
	entries, err := n.index.Query(ctx, audit.Query{Session: session, Limit: most})
	if err != nil {
		return nil, err
	}
	past := make([]approval.Past, len(entries))
	for i, e := range entries {
		past[i] = approval.Past{Tool: e.Tool, Call: string(e.Args), Effect: e.Effect, By: e.DecidedBy, Reason: e.Reason}
	}
	return past, nil
}

// readReply understands what a person wrote about a request.
func (n *Node) readReply(ctx context.Context, r approval.Request, text string) (approval.Reply, error) {
	client, conf, err := n.asker()
	if err != nil {
		n.logger.Warn("replies are understood without a model", "error", err)
	}
	o := approval.EvaluatorOptions{Name: conf.Model, Confidence: conf.Share(), Timeout: conf.Patience(), Ledger: n.ledger, Logger: n.logger}
	if client != nil {
		o.Model = client
	}
	return approval.NewEvaluator(o).Evaluate(ctx, r, text)
}

// adoptReply writes a policy or a rule that a person gave, and says what was written.
func (n *Node) adoptReply(ctx context.Context, _ approval.Request, reply approval.Reply, by string) (string, error) {
	var text string
	switch reply.Kind {
	case approval.ReplyPolicy:
		p, err := config.AddPolicy(n.dir, reply.Text, reply.Tool, false, time.Now())
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("policy %s in %s: %s", p.ID, approval.LocalPoliciesFile, p.Description)
	case approval.ReplyRule:
		rule, err := approval.ParseRule(reply.Text)
		if err != nil {
			return "", err
		}
		name, err := config.AddRule(n.dir, rule, by, time.Now())
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("rule %s in %s", name, config.RulesFile)
	default:
		return "", fmt.Errorf("a reply of kind %q is not written anywhere", reply.Kind)
	}
	if err := n.reload(ctx); err != nil {
		return text, fmt.Errorf("it was written and is not in force: %w", err)
	}
	return text, nil
}

// costs are what agents and our own questions cost.
func (n *Node) costs(context.Context) (approval.Costs, error) {
	spent, err := n.ledger.Spent()
	c := approval.Costs{Today: spent.Today, Month: spent.Month}
	_, c.Sessions = n.budget.Spent("")
	_, c.Budget, _ = n.View().Project.File.Agents.Budget.Limits()
	return c, err
}

// PriceOf is what a usage of an agent costs, by the one table of prices.
func PriceOf(u harness.Usage) (usd float64, known bool) {
	return model.Cost(u.Model, model.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWriteHour: u.CacheWriteHour, Searches: u.Searches, Fast: u.Fast,
	})
}

// openLimits makes what bounds agents: their budgets, and refusals in a row.
func (n *Node) openLimits() {
	n.budget = run.NewBudget(run.BudgetOptions{
		Limits: func() run.Limits {
			session, total, warn := n.View().Project.File.Agents.Budget.Limits()
			return run.Limits{Session: session, Total: total, Warn: warn}
		},
		Price: PriceOf, Dir: filepath.Join(n.dir, ".mycelium", "costs"), Logger: n.logger,
	})
	n.denials = &run.Denials{Limits: func() (int, int) { return n.View().Project.File.Agents.Denials.Limits() }}
}
