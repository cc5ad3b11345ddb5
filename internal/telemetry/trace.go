package telemetry

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"time"
)

// Tracer creates spans for an exporter. Its methods may be called on nil.
type Tracer struct {
	sample float64
	out    *Exporter
}

// NewTracer returns a tracer. sample is the share, from 0 to 1, of the traces that begin here and are recorded. A trace of a client is
// recorded if the client records it.
func NewTracer(out *Exporter, sample float64) *Tracer { return &Tracer{sample, out} }

// Span is an operation. A nil Span is not recorded. A Span must be used by one goroutine only.
type Span struct {
	out    *Exporter
	trace  [16]byte
	id     [8]byte
	parent [8]byte
	state  string // tracestate, which is passed on
	name   string
	kind   int
	start  time.Time
	end    time.Time
	attrs  []Label
	failed string // error.type; empty: no error
}

// The kinds of spans, as OTLP numbers them.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3
)

// Start begins the span of a request. traceparent and tracestate are the client's (W3C Trace Context); malformed values are ignored.
func (t *Tracer) Start(method, traceparent, tracestate string) *Span {
	if t == nil {
		return nil
	}
	s := &Span{out: t.out, name: method, kind: kindServer, start: time.Now()}
	s.Set(attrMethod, method)
	trace, parent, sampled, ok := parseParent(traceparent)
	switch {
	case ok && !sampled, !ok && rand.Float64() >= t.sample: //nolint:gosec // the choice of traces is not secret
		return nil
	case ok:
		s.trace, s.parent = trace, parent
		if len(tracestate) <= 512 {
			s.state = tracestate
		}
	default:
		binary.BigEndian.PutUint64(s.trace[:8], rand.Uint64())   //nolint:gosec // ids of traces are not secrets
		binary.BigEndian.PutUint64(s.trace[8:], rand.Uint64()|1) //nolint:gosec // and never zero
	}
	s.id = newSpanID()
	return s
}

func newSpanID() (id [8]byte) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1) //nolint:gosec // ids of spans are not secrets
	return id
}

// parseParent reads a traceparent. It ignores the further parts of later versions (W3C Trace Context, 4.3).
func parseParent(s string) (trace [16]byte, parent [8]byte, sampled, ok bool) {
	if len(s) < 55 || len(s) > 55 && (s[:2] == "00" || s[55] != '-') || len(s) > 512 || s[2] != '-' || s[35] != '-' || s[52] != '-' ||
		s[:2] == "ff" || strings.ToLower(s) != s {
		return trace, parent, false, false
	}
	var version, flags [1]byte
	for _, part := range []struct {
		into []byte
		text string
	}{{version[:], s[:2]}, {trace[:], s[3:35]}, {parent[:], s[36:52]}, {flags[:], s[53:55]}} {
		if _, err := hex.Decode(part.into, []byte(part.text)); err != nil {
			return [16]byte{}, [8]byte{}, false, false
		}
	}
	return trace, parent, flags[0]&1 == 1, trace != [16]byte{} && parent != [8]byte{}
}

// child begins a span within s.
func (s *Span) child(name string, kind int) *Span {
	if s == nil {
		return nil
	}
	return &Span{out: s.out, trace: s.trace, parent: s.id, id: newSpanID(), state: s.state, name: name, kind: kind, start: time.Now()}
}

// Decide begins the span of a decision.
func (s *Span) Decide() *Span { return s.child(spanDecide, kindInternal) }

// Request begins the span of a request to a backend server.
func (s *Span) Request(server, method, tool string) *Span {
	c := s.child(method, kindClient)
	if c != nil {
		c.Set(attrMethod, method)
		c.Set(attrServer, server)
		c.target(method, tool)
	}
	return c
}

// Traceparent returns the traceparent of s for a request to a server.
func (s *Span) Traceparent() string {
	return "00-" + hex.EncodeToString(s.trace[:]) + "-" + hex.EncodeToString(s.id[:]) + "-01"
}

// Describe sets method and tool. Call it only for tools that the caller may see.
func (s *Span) Describe(method, tool string) {
	if s != nil {
		s.target(method, tool)
	}
}

// Who sets the session, its role, the surface and the call. The principal is not exported.
func (s *Span) Who(session, role, surface, call string) {
	s.Set(attrSession, session)
	s.Set(attrRole, role)
	s.Set(attrSurface, surface)
	s.Set(attrTransport, transport(surface))
	s.Set(attrCall, call)
}

// Decision sets the effect and reason of the decision.
func (s *Span) Decision(effect, reason string) {
	s.Set(attrEffect, effect)
	s.Set(attrReason, reason)
}

func (s *Span) target(method, tool string) {
	switch {
	case tool == "":
		return
	case strings.HasPrefix(method, "tools/"):
		s.Set(attrTool, tool)
		s.Set(attrOperation, operationTool)
	case strings.HasPrefix(method, "prompts/"):
		s.Set(attrPrompt, tool)
	default:
		return // URIs would make too many names
	}
	s.name = method + " " + tool
}

// Set sets an attribute. It ignores an empty value.
func (s *Span) Set(name, value string) {
	if s != nil && value != "" {
		s.attrs = append(s.attrs, Label{name, value})
	}
}

// End ends the span. failure is its error.type; empty: it succeeded.
func (s *Span) End(failure string) {
	if s == nil {
		return
	}
	s.end, s.failed = time.Now(), failure
	s.Set(attrError, failure)
	s.out.add(s)
}

// Failure returns the error.type of a call: the JSON-RPC error code if there is one, otherwise whether the tool or something else failed.
func Failure(failed, tool bool, code string) string {
	switch {
	case code != "":
		return code
	case tool:
		return errorTool
	case failed:
		return errorOther
	}
	return ""
}
