package gate

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"mycelium/internal/gate/limit"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/telemetry"
)

// failureOf returns the error.type of a reply or error.
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

// measureDecision counts a decision, if it ends the call. It counts no name that the caller may not know.
func (a *Admission) measureDecision(d policy.Decision) {
	reason := ""
	if d.Effect != policy.Allow {
		reason = reasonOf(d)
	}
	if a.span != nil {
		if !d.Unknown {
			a.span.Describe(a.Method, a.Item.String())
		}
		p := &a.caller.Scope.Principal
		a.span.Who(a.session.ID, p.Role, a.Surface, a.id)
		a.span.Decision(effectOf(d), reason)
	}
	if a.gate.meter == nil || reason == "" {
		return
	}
	a.gate.meter.Denied(reason)
	if limit, ok := strings.CutPrefix(d.Rule, limit.Rule); ok {
		a.gate.meter.LimitHit(limit)
	}
	call := telemetry.Call{
		Method: a.Method, Surface: a.Surface, Effect: effectOf(d), Outcome: "denied", Failure: "denied", Duration: a.gate.now().Sub(a.began),
	}
	if !d.Unknown {
		call.Server, call.Tool = a.Item.Server, toolOf(a.Item)
	}
	a.gate.meter.Called(&call)
}

// measureOutcome counts a call that ran.
func (a *Admission) measureOutcome(outcome string, reply Reply, failed error, d time.Duration) {
	if a.gate.meter == nil {
		return
	}
	call := telemetry.Call{
		Method: a.Method, Surface: a.Surface, Server: a.Item.Server, Tool: toolOf(a.Item), Effect: "allow", Outcome: outcome, Duration: d,
	}
	if outcome != "ok" {
		call.Failure = failureOf(reply, failed)
	}
	a.gate.meter.Called(&call)
}

// measureBackend counts what a server did.
func (a *Admission) measureBackend(span *telemetry.Span, began time.Time, result, rpcErr []byte, err error) {
	if a.gate.meter == nil && span == nil {
		return
	}
	failure := failureOf(Reply{Result: result, Error: rpcErr}, err)
	span.End(failure)
	if a.gate.meter != nil {
		a.gate.meter.Backend(a.Item.Server, a.Method, failure, a.gate.now().Sub(began))
	}
}

// toolOf returns the name of a tool, and "" for the other kinds, of which there are too many to count.
func toolOf(it policy.Item) string {
	if it.Kind != policy.Tool {
		return ""
	}
	return it.Name
}

// effectOf returns the word for a decision.
func effectOf(d policy.Decision) string {
	if d.Unknown {
		return "unknown"
	}
	return d.Effect.String()
}

// reasonOf returns the kind of reason of a refusal: one of a few words, whatever the rules are called.
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

// traced returns params with the trace context of span in the place of the client's.
func traced(params []byte, span *telemetry.Span) []byte {
	if span == nil {
		return params
	}
	meta := rawjson.Set(rawjson.Member(params, "_meta"), "traceparent", rawjson.Quote(span.Traceparent()))
	return rawjson.Set(params, "_meta", meta)
}

// Owed returns how many outcomes the log has not taken yet. No call runs until it has taken them.
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
