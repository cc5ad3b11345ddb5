package gate

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/telemetry"
)

// Call takes a request through the door: facts, decision, record, backend, record. A refusal is a *DeniedError; any other error
// is a failure of the backend or of the log, in words for people. A session that is over gets ErrNoSession.
func (g *Gate) Call(ctx context.Context, s *session.Session, r Request) (Reply, error) {
	if g.tracer == nil {
		return g.call(ctx, s, r)
	}
	meta := rawjson.Member(r.Params, "_meta")
	r.span = g.tracer.Start(r.Method, rawjson.TextAt(meta, "traceparent"), rawjson.TextAt(meta, "tracestate"))
	reply, err := g.call(ctx, s, r)
	r.span.End(failureOf(reply, err))
	return reply, err
}

// failureOf is the error.type of what came back.
func failureOf(reply Reply, err error) string {
	code := ""
	if reply.Error != nil {
		code = string(rawjson.Member(reply.Error, "code"))
		if len(code) > 12 || strings.Trim(code, "-0123456789") != "" { // a server's own words would make names without end
			code = ""
		}
		return telemetry.Failure(true, false, code)
	}
	return telemetry.Failure(err != nil, err == nil && reply.Result != nil && reportsError(reply.Result), "")
}

// measureDecision counts what was decided, where that ends the call. Of what the caller may not know no name is counted.
func (g *Gate) measureDecision(c *Admission, d policy.Decision) {
	reason := ""
	if d.Effect != policy.Allow {
		reason = reasonOf(d)
	}
	if c.span != nil {
		if !d.Unknown {
			c.span.Describe(c.Method, c.Item.String())
		}
		p := &c.caller.Scope.Principal
		c.span.Who(c.session.ID, p.Role, c.Surface, c.id)
		c.span.Decision(effectOf(d), reason)
	}
	if g.meter == nil || reason == "" {
		return
	}
	g.meter.Denied(reason)
	if limit, ok := strings.CutPrefix(d.Rule, limit.Rule); ok {
		g.meter.LimitHit(limit)
	}
	call := telemetry.Call{Method: c.Method, Surface: c.Surface, Effect: effectOf(d), Outcome: "denied", Failure: "denied", Duration: g.now().Sub(c.began)}
	if !d.Unknown {
		call.Server, call.Tool = c.Item.Server, toolOf(c.Item)
	}
	g.meter.Called(&call)
}

// measureOutcome counts a call that ran.
func (g *Gate) measureOutcome(c *Admission, outcome string, reply Reply, failed error, d time.Duration) {
	if g.meter == nil {
		return
	}
	call := telemetry.Call{Method: c.Method, Surface: c.Surface, Server: c.Item.Server, Tool: toolOf(c.Item), Effect: "allow", Outcome: outcome, Duration: d}
	if outcome != "ok" {
		call.Failure = failureOf(reply, failed)
	}
	g.meter.Called(&call)
}

// measureBackend counts what a server did.
func (g *Gate) measureBackend(c *Admission, span *telemetry.Span, began time.Time, result, rpcErr []byte, err error) {
	if g.meter == nil && span == nil {
		return
	}
	failure := failureOf(Reply{Result: result, Error: rpcErr}, err)
	span.End(failure)
	if g.meter != nil {
		g.meter.Backend(c.Item.Server, c.Method, failure, g.now().Sub(began))
	}
}

// toolOf is the name of a tool; of others there are too many.
func toolOf(it policy.Item) string {
	if it.Kind != policy.Tool {
		return ""
	}
	return it.Name
}

// effectOf is the word for what was decided.
func effectOf(d policy.Decision) string {
	if d.Unknown {
		return "unknown"
	}
	return d.Effect.String()
}

// reasonOf is the kind of a refusal's reason: a few words, whatever the rules are called.
func reasonOf(d policy.Decision) string {
	switch kind, _, named := strings.Cut(d.Rule, ":"); {
	case d.Unknown:
		return "unknown"
	case d.Effect == policy.Ask:
		return "ask"
	case named && (kind == "base" || kind == "limit"):
		return kind
	case slices.Contains([]string{"session", "request", "arguments", "fault", "audit"}, d.Rule):
		return d.Rule
	}
	return "rule"
}

// traced returns params with the trace context of span in place of the client's.
func traced(params []byte, span *telemetry.Span) []byte {
	if span == nil {
		return params
	}
	meta := rawjson.Set(rawjson.Member(params, "_meta"), "traceparent", rawjson.Quote(span.Traceparent()))
	return rawjson.Set(params, "_meta", meta)
}

// Owed is how many outcomes the log has not taken yet: nothing runs until it has.
func (g *Gate) Owed() int {
	g.owed.mu.Lock()
	defer g.owed.mu.Unlock()
	return len(g.owed.owed)
}

// reportsError reports whether a tool's result says isError: true. A result may be large and goes on untouched: nothing but the names
// of the outermost object is read, and they only if the word stands somewhere. The result was checked for form before it came here.
func reportsError(result []byte) bool {
	return bytes.Contains(result, []byte(`"isError"`)) && string(rawjson.Member(result, "isError")) == "true"
}
