package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy/sign"
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
	fields := map[string]any{"answer": map[string]any{"type": "string", "title": "May it run?", "enum": clientAnswers(&r)}}
	if d := r.Demand(); d.Any() {
		fields[saySure] = map[string]any{"type": "boolean", "title": d.Says()}
	}
	params, err := json.Marshal(map[string]any{
		"message":         clientText(r),
		"requestedSchema": map[string]any{"type": "object", "properties": fields, "required": []string{"answer"}},
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
	a, second, ok := clientAnswer(result)
	if !ok {
		return
	}
	a.By, a.Via, a.Digest = "the client of "+r.Principal, "client", r.Digest
	if _, err := g.asks.Settle(context.WithoutCancel(ctx), r.ID, a, second); err != nil {
		g.logger.Info("a client's answer came to nothing", "id", r.ID, "error", err)
	}
}

// saySure is the field of a form by which the second sign comes.
const saySure = "sure"

// clientAnswer reads the answer of a form with its second sign, and reports whether there is one.
func clientAnswer(result []byte) (a approval.Answer, second sign.Sign, ok bool) {
	var form struct {
		Action  string `json:"action"`
		Content struct {
			Answer string `json:"answer"`
			Sure   bool   `json:"sure"`
		} `json:"content"`
	}
	if json.Unmarshal(result, &form) != nil {
		return a, sign.None, false
	}
	switch {
	case form.Action == "decline":
		return approval.Answer{For: approval.Once}, sign.None, true
	case form.Action != "accept":
		return a, sign.None, false
	}
	second, ok = sign.Of(form.Content.Sure), true
	switch form.Content.Answer {
	case sayOnce:
		a = approval.Answer{Allow: true, For: approval.Once}
	case saySession:
		a = approval.Answer{Allow: true, For: approval.Session}
	case sayNever:
		a = approval.Answer{For: approval.Never}
	case sayNo:
		a = approval.Answer{For: approval.Once}
	default:
		ok = false
	}
	return a, second, ok
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
