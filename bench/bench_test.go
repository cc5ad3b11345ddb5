package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	values := []time.Duration{5, 1, 4, 2, 3}
	for _, c := range []struct {
		q    float64
		want time.Duration
	}{{0, 1}, {0.5, 3}, {0.99, 5}, {1, 5}} {
		if got := quantile(values, c.q); got != c.want {
			t.Errorf("%v: %v, want %v", c.q, got, c.want)
		}
	}
}

// TestEcho: the backend answers what both sides of the comparison ask of it.
func TestEcho(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + callParams("echo", 1) + `}`, kilobyte},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, `"name":"echo"`},
		{`{"jsonrpc":"2.0","id":7,"method":"initialize","params":` + initialize + `}`, `"protocolVersion"`},
	} {
		got := string(answer([]byte(c.in)))
		if !strings.Contains(got, c.want) || !strings.Contains(got, `"id":7`) {
			t.Errorf("%.60s: %s", c.in, got)
		}
	}
	if got := answer([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); got != nil {
		t.Errorf("a notification is answered: %s", got)
	}
}

// TestCheck: a ratio beyond its limit fails, one beyond its aim only does not reach it, and one that is missing is not taken for good.
func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "limits.json")
	if err := os.WriteFile(file,
		[]byte(`[{"way":"a","callers":1,"kb":1,"figure":"p50","aim":1.5,"limit":2},{"way":"a","callers":1,"kb":1,"figure":"rate","limit":0.5}]`),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p50, rate float64
		want      string
	}{
		{1, 1, ""}, {1.9, 0.6, ""}, {2.1, 1, "p50 is 2.10"}, {1, 0.4, "rate is 0.40"},
	} {
		err := check(file, ratios{{"a", 1, 1, "p50"}: c.p50, {"a", 1, 1, "rate"}: c.rate})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if err := check(file, ratios{{"a", 1, 1, "p50"}: 1}); err == nil || !strings.Contains(err.Error(), "was not measured") {
		t.Error(err)
	}
	if err := check("limits.json", ratios{}); err == nil || !strings.Contains(err.Error(), "was not measured") {
		t.Errorf("our own limits: %v", err)
	}
}
