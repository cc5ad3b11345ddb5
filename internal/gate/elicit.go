package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/gate/view"
	"mycelium/internal/text"
)

// If the configuration says so, a client that supports elicitation is asked in place about a call of its own: in the old era by a request
// on its stream, in the new era by input_required and a retry. The gateway makes either of them from [Peer] Ask. The first answer counts,
// of the client or of another surface. We cannot see who answers: an agent that answers for its person approves its own call.

// canBeElicited reports whether a client declared that it shows forms to a person.
func canBeElicited(p Peer) bool {
	if p == nil {
		return false
	}
	var c struct {
		Elicitation *struct {
			Form *jsontext.Value `json:"form"`
			URL  *jsontext.Value `json:"url"`
		} `json:"elicitation"`
	}
	if json.Unmarshal(p.Capabilities(), &c) != nil || c.Elicitation == nil {
		return false
	}
	return c.Elicitation.Form != nil || c.Elicitation.URL == nil // {} means forms, as it did before there were modes
}

// The answers that a client's form offers.
const (
	sayOnce    = "allow once"
	saySession = "allow for this session"
	sayNo      = "deny"
	sayNever   = "deny for this session"
)

// clientAnswers are the answers that a form about this request offers.
func clientAnswers(r *approval.Request) []string {
	if r.Refuses(approval.Session) != "" {
		return []string{sayNo, sayOnce, sayNever}
	}
	return []string{sayNo, sayOnce, saySession, sayNever}
}

// askClient asks the client and settles the request with its answer. A form that is dismissed does not settle it: the call goes on
// waiting.
func (g *Gate) askClient(ctx context.Context, p Peer, r approval.Request) {
	params, err := json.Marshal(map[string]any{
		"message": clientText(r),
		"requestedSchema": map[string]any{
			"type": "object",
			"properties": map[string]any{
				"answer": map[string]any{"type": "string", "title": "May it run?", "enum": clientAnswers(&r)},
			},
			"required": []string{"answer"},
		},
	}, view.Encoding)
	if err != nil {
		return
	}
	result, rpcErr, err := p.Ask(ctx, "elicitation/create", params)
	if err != nil || rpcErr != nil {
		if ctx.Err() == nil {
			g.logger.Info("a client was asked about its call and did not answer", "id", r.ID, "error", err, "answer", string(rpcErr))
		}
		return
	}
	a, ok := clientAnswer(result)
	if !ok {
		return
	}
	a.By, a.Via, a.Digest = "the client of "+r.Principal, "client", r.Digest
	if _, err := g.asks.Settle(context.WithoutCancel(ctx), r.ID, a); err != nil {
		g.logger.Info("a client's answer came to nothing", "id", r.ID, "error", err)
	}
}

// clientAnswer reads the answer of a form, and reports whether there is one.
func clientAnswer(result []byte) (a approval.Answer, ok bool) {
	var form struct {
		Action  string `json:"action"`
		Content struct {
			Answer string `json:"answer"`
		} `json:"content"`
	}
	if json.Unmarshal(result, &form) != nil {
		return a, false
	}
	switch {
	case form.Action == "decline":
		return approval.Answer{For: approval.Once}, true
	case form.Action != "accept":
		return a, false
	}
	switch form.Content.Answer {
	case sayOnce:
		return approval.Answer{Allow: true, For: approval.Once}, true
	case saySession:
		return approval.Answer{Allow: true, For: approval.Session}, true
	case sayNever:
		return approval.Answer{For: approval.Never}, true
	case sayNo:
		return approval.Answer{For: approval.Once}, true
	}
	return a, false
}

// clientText returns the text of the form: the call with its real arguments, every character visible.
func clientText(r approval.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "May %s run?", text.OneLine(r.Tool))
	if r.Risk != "" {
		fmt.Fprintf(&b, " Risk: %s.", r.Risk)
	}
	if r.Reason != "" {
		fmt.Fprintf(&b, " %s", text.OneLine(r.Reason))
	}
	if len(r.Args) > 0 {
		fmt.Fprintf(&b, "\n%s", text.Visible(string(r.Args)))
	}
	terms, changed := approval.ShowTerms(r)
	for _, line := range terms {
		fmt.Fprintf(&b, "\n%s", line)
	}
	if changed != "" {
		fmt.Fprintf(&b, "\nSince it was asked last:\n%s", changed)
	}
	return b.String()
}
