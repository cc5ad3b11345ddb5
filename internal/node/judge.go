package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/approval/judge"
	"mycelium/internal/audit/index"
	"mycelium/internal/backend"
	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/model"
	"mycelium/internal/node/fence"
	"mycelium/internal/node/talks"
	"mycelium/internal/policy"
	"mycelium/internal/run"
)

// modelJudge asks models: about calls that wait, and what people mean by a reply. It follows the files in force.
type modelJudge struct {
	files   *reloader
	pool    *backend.Pool
	index   *index.Index
	ledger  *model.Ledger
	budget  *run.Budget
	baseURL string // from the environment of the person who started the daemon
	logger  *slog.Logger

	mu     sync.Mutex    // guards what follows
	client *model.Client // for these options; nil: none was needed yet
	to     model.Options
}

func newJudge(n *Node) *modelJudge {
	files, costs := n.files, n.state.Costs()
	j := &modelJudge{files: files, pool: n.pool, index: n.index, ledger: &model.Ledger{Dir: costs}, logger: n.logger}
	// Only a person's environment counts: an agent that starts a daemon could otherwise name its own server and be its own judge.
	if n.options.Kind == daemon.Served && fence.AgentHere(n.options.Environ) == "" {
		j.baseURL = n.options.Getenv("ANTHROPIC_BASE_URL")
	}
	j.budget = run.NewBudget(run.BudgetOptions{
		Limits: func() run.Limits {
			agents := files.Project().File.Agents
			session, total, warn := agents.Budget.Limits()
			return run.Limits{Session: session, Total: total, Warn: warn, Turns: agents.TurnLimit()}
		},
		Price: PriceOf, Dir: costs, Logger: n.logger,
	})
	return j
}

// summaries returns what writes the summaries of saved conversations.
func (j *modelJudge) summaries() *talks.Writer {
	return &talks.Writer{Config: func() approval.JudgeConfig { return j.files.Project().File.Approval.Judge }, Expand: j.pool.Expand,
		BaseURL: j.baseURL, Ledger: j.ledger, Logger: j.logger}
}

func (j *modelJudge) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client != nil {
		j.client.Close()
	}
}

// Judge implements [approval.Judge]. Without a configured model it passes.
func (j *modelJudge) Judge(ctx context.Context, r approval.Request) (approval.Verdict, error) {
	client, conf, err := j.model()
	if client == nil {
		return approval.Verdict{}, err
	}
	return judge.New(judge.Options{
		Model: client, Name: conf.Model, Confidence: conf.Threshold(), MayDeny: conf.MayDeny, Timeout: conf.TimeLimit(),
		Policies: j.policiesInWords, Rules: func() []policy.Rule { return j.files.Project().Rules }, Past: j.pastOf,
		Ledger: j.ledger, Logger: j.logger,
	}).Judge(ctx, r)
}

// model returns the client of the model that judges, or nil if none is configured. A missing key is an error only if a judge is
// configured.
func (j *modelJudge) model() (*model.Client, approval.JudgeConfig, error) {
	conf := j.files.Project().File.Approval.Judge
	o, ok, err := talks.Options(conf, j.pool.Expand, j.baseURL)
	if err != nil || !ok {
		return nil, conf, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client == nil || j.to != o {
		c, err := model.New(o)
		if err != nil {
			return nil, conf, err
		}
		if j.client != nil {
			j.client.Close()
		}
		j.client, j.to = c, o
	}
	return j.client, conf, nil
}

// policiesInWords returns the policies that a model has to know before it judges.
func (j *modelJudge) policiesInWords() ([]judge.Policy, error) {
	p := j.files.Project()
	if p.Unjudged != "" {
		return nil, errors.New(p.Unjudged)
	}
	return p.Policies, nil
}

// pastOf returns the last decisions of a session, the newest first.
func (j *modelJudge) pastOf(ctx context.Context, session string, most int) ([]judge.Past, error) {
	entries, err := j.index.Query(ctx, index.Query{Session: session, Limit: most})
	if err != nil {
		return nil, err
	}
	past := make([]judge.Past, len(entries))
	for i, e := range entries {
		past[i] = judge.Past{Tool: e.Tool, Call: string(e.Args), Effect: e.Effect, By: e.DecidedBy, Reason: e.Reason}
	}
	return past, nil
}

// Read understands what a person wrote about a request.
func (j *modelJudge) Read(ctx context.Context, r approval.Request, text string) (approval.Reply, error) {
	client, conf, err := j.model()
	if err != nil {
		j.logger.Warn("replies are read without a model", "error", err)
	}
	o := judge.Options{Name: conf.Model, Confidence: conf.Threshold(), Timeout: conf.TimeLimit(), Ledger: j.ledger, Logger: j.logger}
	if client != nil {
		o.Model = client
	}
	return judge.NewEvaluator(o).Evaluate(ctx, r, text)
}

// Adopt writes a policy or a rule that a person gave, and says what it wrote.
func (j *modelJudge) Adopt(ctx context.Context, _ approval.Request, reply approval.Reply, by string) (string, error) {
	var text string
	switch reply.Kind {
	case approval.ReplyPolicy:
		var p judge.Policy
		err := j.files.Project().Write(time.Now(), func(folders []string) (err error) {
			p, err = rules.AddPolicy(folders, reply.Text, reply.Tool, false, time.Now())
			return err
		})
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("policy %s in %s: %s", p.ID, judge.LocalPoliciesFile, p.Description)
	case approval.ReplyRule:
		rule, err := judge.ParseRule(reply.Text)
		if err != nil {
			return "", err
		}
		var name string
		err = j.files.Project().Write(time.Now(), func(folders []string) (err error) {
			name, err = rules.Add(folders, rule, by, time.Now())
			return err
		})
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("rule %s in %s", name, source.RulesFile)
	default:
		return "", fmt.Errorf("a reply of kind %q is neither a policy nor a rule", reply.Kind)
	}
	if err := j.files.Reload(ctx); err != nil {
		return text, fmt.Errorf("it was written, but is not in force: %w", err)
	}
	return text, nil
}

// Costs returns what agents and our own questions to models have cost.
func (j *modelJudge) Costs(context.Context) (approval.Costs, error) {
	spent, err := j.ledger.Spent()
	c := approval.Costs{Today: spent.Today, Month: spent.Month}
	_, c.Sessions = j.budget.Spent("")
	_, c.Budget, _ = j.files.Project().File.Agents.Budget.Limits()
	return c, err
}

// PriceOf returns what an agent's use of a model costs in US dollars, by the table of prices. known is false for a model that the
// table does not have.
func PriceOf(u harness.Usage) (usd float64, known bool) {
	return model.Cost(u.Model, model.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWriteHour: u.CacheWriteHour,
		Searches: u.Searches, Fast: u.Fast,
	})
}
