package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestText: what Prometheus reads, with names and without.
func TestText(t *testing.T) {
	m := NewMeter()
	m.Called(&Call{Method: "tools/call", Surface: "mcp-http", Server: "docs", Tool: "read", Effect: "allow", Outcome: "ok",
		Duration: 3 * time.Millisecond})
	m.Called(&Call{Method: "tools/call", Surface: "mcp-http", Server: "db", Tool: "query", Effect: "allow", Outcome: "ok",
		Duration: 400 * time.Second})
	m.Called(&Call{Method: "tools/call", Surface: "mcp-http", Effect: "unknown", Outcome: "denied", Failure: "denied"})
	m.Denied("unknown")
	m.Switched("admin")
	m.Observe(func(set func(string, float64, ...Label)) {
		set(Sessions, 2)
		set(BackendState, 1, Server("do\"cs\n\\"), State("ready"))
		set(BackendState, 1, Server("db"), State("ready"))
	})
	lines := func(names bool, about ...string) string {
		var out strings.Builder
		for line := range strings.Lines(string(m.Text(names))) {
			for _, a := range about {
				if strings.HasPrefix(line, a) {
					out.WriteString(line)
				}
			}
		}
		return out.String()
	}
	want := `mycelium_calls_total{mycelium_effect="allow",mycelium_outcome="ok",mycelium_surface="mcp-http"} 2
mycelium_calls_total{mycelium_effect="unknown",mycelium_outcome="denied",mycelium_surface="mcp-http"} 1
mycelium_role_switches_total 1
mycelium_sessions 2
mycelium_backend_state{mycelium_state="ready"} 2
`
	about := []string{"mycelium_calls_total{", "mycelium_role_switches_total", "mycelium_sessions", "mycelium_backend_state{"}
	if diff := cmp.Diff(want, lines(false, about...)); diff != "" {
		t.Error(diff)
	}
	for _, hidden := range []string{"docs", "db", "query", "admin"} {
		if strings.Contains(string(m.Text(false)), hidden) {
			t.Errorf("without names %q is named", hidden)
		}
	}
	want = `mycelium_calls_total{gen_ai_tool_name="query",mycelium_effect="allow",mycelium_outcome="ok",mycelium_server="db",` +
		`mycelium_surface="mcp-http"} 1
mycelium_calls_total{gen_ai_tool_name="read",mycelium_effect="allow",mycelium_outcome="ok",mycelium_server="docs",` +
		`mycelium_surface="mcp-http"} 1
mycelium_calls_total{mycelium_effect="unknown",mycelium_outcome="denied",mycelium_surface="mcp-http"} 1
mycelium_role_switches_total{mycelium_role="admin"} 1
mycelium_sessions 2
mycelium_backend_state{mycelium_server="db",mycelium_state="ready"} 1
mycelium_backend_state{mycelium_server="do\"cs\n\\",mycelium_state="ready"} 1
`
	if diff := cmp.Diff(want, lines(true, about...)); diff != "" {
		t.Error(diff)
	}
	want = `# TYPE mcp_server_operation_duration_seconds histogram
mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",network_transport="tcp",le="0.0025"} 0
mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",network_transport="tcp",le="0.005"} 1
mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",network_transport="tcp",le="300"} 1
mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",network_transport="tcp",le="+Inf"} 2
mcp_server_operation_duration_seconds_sum{mcp_method_name="tools/call",network_transport="tcp"} 400.003
mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",network_transport="tcp"} 2
`
	const series = `{mcp_method_name="tools/call",network_transport="tcp"`
	got := lines(true, "# TYPE mcp_server", "mcp_server_operation_duration_seconds_bucket"+series+`,le="0.0025"`,
		"mcp_server_operation_duration_seconds_bucket"+series+`,le="0.005"`,
		"mcp_server_operation_duration_seconds_bucket"+series+`,le="300"`, "mcp_server_operation_duration_seconds_bucket"+series+`,le="+Inf"`,
		"mcp_server_operation_duration_seconds_sum"+series+"}", "mcp_server_operation_duration_seconds_count"+series+"}")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSeriesAreBounded: names without end become one.
func TestSeriesAreBounded(t *testing.T) {
	m := NewMeter()
	for i := range 3 * maxSeries {
		m.Called(&Call{Method: "tools/call", Surface: "mcp-http", Server: "s", Tool: fmt.Sprint("t", i), Effect: "allow", Outcome: "ok"})
		m.Denied(fmt.Sprint("r", i))
		m.Backend(fmt.Sprint("b", i), "tools/call", "", 0)
	}
	text := string(m.Text(true))
	if n := strings.Count(text, "\nmycelium_calls_total{"); n != maxSeries+1 {
		t.Errorf("%d series of calls", n)
	}
	if !strings.Contains(text,
		fmt.Sprintf(`mycelium_calls_total{gen_ai_tool_name="other",mycelium_effect="allow",mycelium_outcome="ok",mycelium_server="other",`+
			`mycelium_surface="mcp-http"} %d`, 2*maxSeries)) {
		t.Error("the rest is not counted")
	}
}

// TestMeasuringIsCheap: counting a call that was counted before allocates nothing, and neither does a meter that is not there.
func TestMeasuringIsCheap(t *testing.T) {
	for name, m := range map[string]*Meter{"on": NewMeter(), "off": nil} {
		c := &Call{Method: "tools/call", Surface: "mcp-http", Server: "s", Tool: "t", Effect: "allow", Outcome: "ok", Duration: time.Millisecond}
		f := func() {
			m.Called(c)
			m.Backend("s", "tools/call", "", time.Millisecond)
			m.Denied("rule")
		}
		f()
		if n := testing.AllocsPerRun(100, f); n > 0 {
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
	var none *Tracer
	if n := testing.AllocsPerRun(100, func() {
		s := none.Start("tools/call", "", "")
		s.Describe("tools/call", "x")
		s.Decide().End("")
		s.End("")
	}); n > 0 {
		t.Errorf("without a tracer: %v allocations", n)
	}
}

func BenchmarkCalled(b *testing.B) {
	m := NewMeter()
	c := &Call{Method: "tools/call", Surface: "mcp-http", Server: "s", Tool: "t", Effect: "allow", Outcome: "ok", Duration: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		m.Called(c)
		m.Backend("s", "tools/call", "", time.Millisecond)
	}
}

// receiver is an OTLP receiver.
type receiver struct {
	mu     sync.Mutex
	bodies map[string][]map[string]any
	header http.Header
	status int
}

func newReceiver(t *testing.T) (*receiver, string) {
	r := &receiver{bodies: map[string][]map[string]any{}, status: http.StatusOK}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil || q.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", q.URL.Path, b, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bodies[q.URL.Path] = append(r.bodies[q.URL.Path], m)
		r.header = q.Header
		w.WriteHeader(r.status)
	}))
	t.Cleanup(s.Close)
	return r, s.URL
}

// at walks into decoded JSON.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// TestExport: spans and metrics arrive as OTLP has them, the last ones when the exporter ends; the parent is the client's.
func TestExport(t *testing.T) {
	r, url := newReceiver(t)
	m := NewMeter()
	e := NewExporter(ExporterOptions{Endpoint: url + "/", Headers: map[string]string{"X-Key": "k"}, Version: "1.2", Meter: m})
	tr := NewTracer(e, 0)
	s := tr.Start("tools/call", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=b")
	s.Describe("tools/call", "docs__read")
	s.Who("S1", "guest", "mcp-http", "C1")
	d := s.Decide()
	d.End("")
	c := s.Request("docs", "tools/call", "read")
	c.End("-32602")
	s.End("")
	m.Called(&Call{Method: "tools/call", Surface: "mcp-http", Server: "docs", Tool: "read", Effect: "allow", Outcome: "ok",
		Duration: time.Second})
	if tr.Start("tools/call", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "") != nil || tr.Start("tools/call", "", "") != nil {
		t.Error("what nobody samples is traced")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if r.header.Get("X-Key") != "k" || len(r.bodies["/v1/traces"]) != 1 || len(r.bodies["/v1/metrics"]) != 1 {
		t.Fatalf("%v %v", r.header, r.bodies)
	}
	spans := at(r.bodies["/v1/traces"][0], "resourceSpans", 0, "scopeSpans", 0, "spans").([]any)
	type short struct{ Name, Trace, Parent, Error string }
	var got []short
	for _, s := range spans {
		x := short{Name: at(s, "name").(string), Trace: at(s, "traceId").(string)}
		x.Parent, _ = at(s, "parentSpanId").(string)
		for _, a := range at(s, "attributes").([]any) {
			if at(a, "key") == attrError {
				x.Error, _ = at(a, "value", "stringValue").(string)
			}
		}
		got = append(got, x)
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	me := at(spans, 2, "spanId").(string)
	want := []short{{spanDecide, trace, me, ""}, {"tools/call read", trace, me, "-32602"},
		{"tools/call docs__read", trace, "00f067aa0ba902b7", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if at(spans, 1, "status", "code") != 2.0 || at(spans, 2, "traceState") != "a=b" || at(spans, 2, "kind") != 2.0 {
		t.Errorf("%v", spans)
	}
	if name := at(r.bodies["/v1/metrics"][0], "resourceMetrics", 0, "scopeMetrics", 0, "metrics", 0, "name"); name != metricServer {
		t.Errorf("first metric %v", name)
	}
	point := at(r.bodies["/v1/metrics"][0], "resourceMetrics", 0, "scopeMetrics", 0, "metrics", 0, "histogram", "dataPoints", 0)
	if at(point, "count") != "1" || at(point, "sum") != 1.0 || len(at(point, "bucketCounts").([]any)) != len(bounds)+1 {
		t.Errorf("%v", point)
	}
}

// TestReceiverThatFails: what cannot be sent is dropped and counted, and nothing waits for it.
func TestReceiverThatFails(t *testing.T) {
	r, url := newReceiver(t)
	r.status = http.StatusInternalServerError
	m := NewMeter()
	e := NewExporter(ExporterOptions{Endpoint: url, Meter: m})
	tr := NewTracer(e, 1)
	for range maxSpans + 7 {
		tr.Start("tools/call", "", "").End("")
	}
	if !strings.Contains(string(m.Text(true)), "mycelium_telemetry_dropped_total 7\n") {
		t.Error("what did not fit is not counted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(m.Text(true)), fmt.Sprintf("mycelium_telemetry_dropped_total %d\n", maxSpans+7)) {
		t.Error("what was not taken is not counted")
	}
}

func FuzzParseParent(f *testing.F) {
	for _, s := range []string{"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		trace, parent, sampled, ok := parseParent(s)
		if !ok {
			return
		}
		x := &Span{trace: trace, id: parent}
		if got := x.Traceparent(); sampled && s[:2] == "00" && got[:53] != s[:53] {
			t.Errorf("%q is read as %q", s, got)
		}
		if trace == [16]byte{} || parent == [8]byte{} {
			t.Errorf("%q has no ids", s)
		}
	})
}

func TestParents(t *testing.T) {
	for s, want := range map[string]bool{
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": true, "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x": true,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x": false, "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": false, "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": false,
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": false, "": false, "00": false,
	} {
		if _, _, _, ok := parseParent(s); ok != want {
			t.Errorf("%q: %v", s, ok)
		}
	}
}
