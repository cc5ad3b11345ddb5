package run

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/gate"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// questions are the arguments of AskUserQuestion.
type questions struct {
	Questions []struct {
		Question string `json:"question"`
		Header   string `json:"header"`
		Options  []struct {
			Label       string `json:"label"`
			Description string `json:"description"`
		} `json:"options"`
		Many bool `json:"multiSelect"`
	} `json:"questions"`
}

// askElsewhere sends a question of an agent to people who are not at its terminal (E36), before any rule. Their answer becomes the reason
// why the tool does not run. It returns false for a call that is not such a question.
func (g *Registry) askElsewhere(ctx context.Context, r *run, e harness.Event) (harness.Answer, bool) {
	if e.Kind != harness.PreTool || e.Tool != questionTool || e.Fault != "" || g.Queue == nil || !elsewhere(g.People, e) {
		return harness.Answer{}, false
	}
	var q questions
	if json.Unmarshal(e.Input, &q) != nil || len(q.Questions) == 0 {
		return harness.Answer{}, false
	}
	req := r.request(approval.Question)
	for _, one := range q.Questions {
		asked := approval.Asked{Header: one.Header, Text: one.Question, Many: one.Many, Options: []string{}}
		for _, o := range one.Options {
			asked.Options = append(asked.Options, o.Label)
		}
		req.Questions = append(req.Questions, asked)
	}
	req.Tool, req.Args, req.Call = e.Tool, e.Input, gate.NewID()
	defer r.waits()()
	got, err := g.Queue.Ask(ctx, req)
	g.recordQuestion(ctx, r, e, got, err)
	switch {
	case err != nil:
		return harness.Answer{Verdict: harness.Deny, Reason: "Your question could not be asked: " + err.Error() +
			". Decide by yourself what is safe, or stop and say what you need."}, true
	case !got.Allow:
		return harness.Answer{Verdict: harness.Deny, Reason: "Nobody answered your question. " + cmp.Or(got.Text, got.Reason) +
			" Decide by yourself what is safe, or stop and say what you need."}, true
	}
	return harness.Answer{Verdict: harness.Deny, Reason: "Your person answered (the tool itself did not run, because they are not at the " +
		"terminal):\n" + got.Text}, true
}

// recordQuestion records a question that people were asked elsewhere as a call that did not run.
func (g *Registry) recordQuestion(ctx context.Context, r *run, e harness.Event, got approval.Answer, failed error) {
	why := "its person was asked elsewhere"
	switch {
	case failed != nil:
		why += ": " + failed.Error()
	case got.Allow:
		why += ", and " + got.By + " answered by " + got.Via
	default:
		why += ", and nobody answered"
	}
	it, _ := policy.ParseTool(e.Tool)
	req := gate.Request{Item: it, Asked: e.Tool, Method: "tools/call", Args: e.Input, Surface: Surface, Child: g.childOf(r, e), Dir: e.Dir,
		Invalid: why}
	if a, err := g.Gate.Admit(context.WithoutCancel(ctx), r.gateSession(), req); err == nil {
		a.Release() // not reached: the gate denies an invalid request
	}
}
