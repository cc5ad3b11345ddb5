package gate

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/telemetry"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TestMeasured: calls, refusals, limits and switches are counted; what the caller may not know is not named.
func TestMeasured(t *testing.T) {
	h := build(t, three())
	h.meter = telemetry.NewMeter()
	h.restart(three())
	ctx := t.Context()
	s := h.enter("guest", "developer")
	for _, name := range []string{"files__read_file", "files__read_file", "database__query", "no_such__tool", "nonsense"} {
		_, _ = h.Call(ctx, s, request(name, `{}`))
	}
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
		return nil, []byte(`{"code":-32099,"message":"x"}`), nil
	}
	_, _ = h.Call(ctx, s, request("files__read_file", `{}`))
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
		return []byte(`{"isError":true,"content":[]}`), nil, nil
	}
	_, _ = h.Call(ctx, s, request("files__read_file", `{}`))
	if _, err := h.Sessions.SetRole(ctx, s, "developer", session.ByAgent); err != nil {
		t.Fatal(err)
	}
	text := string(h.meter.Text(true))
	for _, want := range []string{
		`mycelium_calls_total{gen_ai_tool_name="read_file",mycelium_effect="allow",mycelium_outcome="ok",mycelium_server="files",` +
			`mycelium_surface="test"} 2`,
		`mycelium_calls_total{gen_ai_tool_name="read_file",mycelium_effect="allow",mycelium_outcome="error",mycelium_server="files",` +
			`mycelium_surface="test"} 2`,
		`mycelium_calls_total{mycelium_effect="unknown",mycelium_outcome="denied",mycelium_surface="test"} 3`,
		`mycelium_denials_total{mycelium_reason="unknown"} 3`,
		`mycelium_role_switches_total{mycelium_role="developer"} 1`,
		`mcp_client_operation_duration_seconds_count{mcp_method_name="tools/call",mycelium_server="files"} 2`,
		`mcp_client_operation_duration_seconds_count{error_type="-32099",mcp_method_name="tools/call",mycelium_server="files"} 1`,
		`mcp_client_operation_duration_seconds_count{error_type="tool_error",mcp_method_name="tools/call",mycelium_server="files"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	for _, hidden := range []string{"database", "no_such", "nonsense"} {
		if strings.Contains(text, hidden) {
			t.Errorf("%s is named:\n%s", hidden, text)
		}
	}
}

// TestTraced: the trace goes on to the server, in _meta, and nothing else of the params changes; without a tracer nothing at all.
func TestTraced(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	s := h.enter("guest")
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	sent := func(params string) string {
		t.Helper()
		r := request("files__read_file", `{}`)
		r.Params = []byte(params)
		if _, err := h.Call(ctx, s, r); err != nil {
			t.Fatal(err)
		}
		calls := h.back.seen()
		return strings.TrimPrefix(calls[len(calls)-1], "files tools/call ")
	}
	untraced := `{"name":"read_file", "arguments":{},"_meta":{"traceparent":"` + parent + `","x":1.0}}`
	if got := sent(untraced); got != untraced {
		t.Errorf("without a tracer the server gets %s", got)
	}
	got := make(chan string, 4)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- string(b)
	}))
	defer receiver.Close()
	e := telemetry.NewExporter(telemetry.ExporterOptions{Endpoint: receiver.URL})
	h.tracer = telemetry.NewTracer(e, 1)
	const id = `"00-[0-9a-f]{32}-[0-9a-f]{16}-01"`
	for params, want := range map[string]string{
		untraced: `^{"name":"read_file", ` +
			`"arguments":{},"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01","x":1.0}}$`,
		`{"name":"read_file","arguments":{}}`:  `^{"name":"read_file","arguments":{},"_meta":{"traceparent":` + id + `}}$`,
		`{"name":"read_file","_meta":{  }}`:    `^{"name":"read_file","_meta":{"traceparent":` + id + `  }}$`,
		`{"_meta":{"y":2},"name":"read_file"}`: `^{"_meta":{"y":2,"traceparent":` + id + `},"name":"read_file"}$`,
		`{"name":"read_file","_meta":{"traceparent":"` + strings.TrimSuffix(parent,
			"1") + `0"}}`: `^{"name":"read_file","_meta":{"traceparent":"` + strings.TrimSuffix(parent, "1") + `0"}}$`,
	} {
		if got := sent(params); !regexp.MustCompile(want).MatchString(got) || strings.Contains(got, "00f067aa0ba902b7-01") {
			t.Errorf("%s\nis sent on as %s", params, got)
		}
	}
	_, _ = h.Call(ctx, s, request("database__query", `{}`))
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := e.Run(done); err != nil {
		t.Fatal(err)
	}
	spans := <-got
	for _, want := range []string{`"name":"tools/call files__read_file"`, `"name":"policy.decide"`, `"name":"tools/call read_file"`,
		`"parentSpanId":"00f067aa0ba902b7"`, `"stringValue":"unknown"`} {
		if !strings.Contains(spans, want) {
			t.Errorf("no span has %s", want)
		}
	}
	if strings.Contains(spans, "database") {
		t.Error("a hidden tool is named")
	}
}

func TestReportsError(t *testing.T) {
	for in, want := range map[string]bool{
		`{"content":[],"isError":true}`:                           true,
		"{\"isError\" :\n true , \"content\":[]}":                 true,
		`{"content":[],"isError":false}`:                          false,
		`{"content":[]}`:                                          false,
		`{"content":[{"isError":true}]}`:                          false,
		`{"structuredContent":{"isError":true}}`:                  false,
		`{"x":"isError","y":true}`:                                false,
		`{"x":"\"isError\":true"}`:                                false,
		`{"x":"\\","isError":true}`:                               true,
		`{"x":"{[\\\"","isError":true}`:                           true,
		`{"content":[{"text":"}"}],"isError":true}`:               true,
		`{"content":[{"text":"a"},{"isError":1}],"isError":true}`: true,
		`["isError", true]`:                                       false,
		`{"isError":"true"}`:                                      false,
		`{"isError":`:                                             false,
		`{"isError`:                                               false,
		``:                                                        false,
	} {
		if got := reportsError([]byte(in)); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}

// FuzzReportsError compares the scan with a decoder: on any object whose member is spelled plainly they agree.
func FuzzReportsError(f *testing.F) {
	for _, s := range []string{`{"isError":true}`, `{"a":"\\\"","isError":true}`, `{"a":[{"isError":true}],"isError":false}`,
		`{"a":"isError"}`, `"`, `{"\\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := reportsError([]byte(in))
		var object struct {
			IsError jsontext.Value `json:"isError"`
		}
		if json.Unmarshal([]byte(in), &object) != nil {
			return // only that it came back
		}
		if want := string(object.IsError) == "true"; got != want && !strings.Contains(in, `\u`) {
			t.Fatalf("%q: scan says %v, decoder %v", in, got, want)
		}
	})
}

func BenchmarkReportsError(b *testing.B) {
	big := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("lorem ipsum ", 1<<14) + `"}],"isError":false}`)
	b.SetBytes(int64(len(big)))
	for b.Loop() {
		if reportsError(big) {
			b.Fatal("no error is reported")
		}
	}
}
