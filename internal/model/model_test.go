package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mycelium/internal/model/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a client of a server, closed with the test.
func client(t *testing.T, url string, timeout time.Duration) *Client {
	t.Helper()
	c, err := New(Options{Key: "sk-test", BaseURL: url, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAskBringsTheAnswerAndWhatItCost(t *testing.T) {
	s := fake.New(fake.Step{Text: `{"はい":true}`, Thinking: "hm",
		Usage: fake.Usage{Input: 1000, Output: 100, CacheRead: 10000, CacheWrite: 2000}})
	s.Main = func(fake.Request) bool { return true }
	defer s.Close()
	a, err := client(t, s.URL(), 0).Ask(t.Context(),
		Question{Model: "claude-haiku-4-5", System: "You judge.", Text: "よいですか", Schema: map[string]any{"type": "object"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := (1000*1 + 100*5 + 10000*0.1 + 2000*1.25) / 1e6; a.Text != `{"はい":true}` || a.Model != "claude-haiku-4-5" ||
		math.Abs(a.Cost-want) > 1e-12 {
		t.Errorf("answer %+v, want a cost of %v", a, want)
	}
	r := s.Turns()[0]
	if r.System != "You judge." || r.Text("user") != "よいですか" || r.MaxTokens != 1024 || r.Header.Get("X-Api-Key") != "sk-test" ||
		!strings.Contains(string(r.Raw), `"json_schema"`) {
		t.Errorf("question %s %v", r.Raw, r.Header)
	}
}

// Whatever the environment says, the client uses what it was given.
func TestTheEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://192.0.2.1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Bad: 1")
	if _, err := New(Options{}); !errors.Is(err, ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
	s := fake.New(fake.Step{Text: "ok"})
	s.Main = func(fake.Request) bool { return true }
	defer s.Close()
	if _, err := client(t, s.URL(), 0).Ask(t.Context(), Question{Model: "m", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if h := s.Turns()[0].Header; h.Get("X-Api-Key") != "sk-test" || h.Get("X-Bad") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestEveryFailureHasItsKind(t *testing.T) {
	for name, c := range map[string]struct {
		step fake.Step
		kind Kind
	}{
		"overloaded":   {fake.Step{Status: 529, Text: "Overloaded"}, Overloaded},
		"rate limit":   {fake.Step{Status: 429, Text: "slow down"}, Overloaded},
		"server fault": {fake.Step{Status: 500, Text: "sk-secret"}, Overloaded},
		"bad key":      {fake.Step{Status: 401, Text: "invalid x-api-key sk-test"}, Rejected},
		"no model":     {fake.Step{Status: 404, Text: "model: nonesuch"}, Rejected},
		"bad request":  {fake.Step{Status: 400, Text: "output_config: not known"}, Rejected},
		"too long":     {fake.Step{Status: 400, Text: "prompt is too long: 300000 tokens > 200000 maximum"}, TooLong},
		"too large":    {fake.Step{Status: 413, Text: "request too large"}, TooLong},
		"refusal":      {fake.Step{Text: "{}", Stop: "refusal"}, Refused},
		"cut off":      {fake.Step{Text: `{"allow":tr`, Stop: "max_tokens"}, Malformed},
		"context":      {fake.Step{Text: "{}", Stop: "model_context_window_exceeded"}, TooLong},
		"tool use":     {fake.Step{Text: "x", ToolUses: []fake.ToolUse{{Name: "allow"}}}, Malformed},
		"other stop":   {fake.Step{Text: "x", Stop: "tomorrow"}, Malformed},
		"nothing":      {fake.Step{Text: "  \n"}, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			s := fake.New(c.step)
			s.Main = func(fake.Request) bool { return true }
			defer s.Close()
			_, err := client(t, s.URL(), 0).Ask(t.Context(), Question{Model: "m", Text: "my question"})
			var e *Error
			if !errors.As(err, &e) || e.Kind != c.kind {
				t.Fatalf("%v, want %s", err, c.kind)
			}
			if strings.Contains(err.Error(), "sk-") || strings.Contains(err.Error(), "my question") || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("it says too much: %v", err)
			}
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(w http.ResponseWriter, r *http.Request)
		kind  Kind
	}{
		"not JSON":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, Malformed},
		"half JSON":  {func(w http.ResponseWriter, _ *http.Request) { j(w); fmt.Fprint(w, `{"content":[`) }, Malformed},
		"no content": {func(w http.ResponseWriter, _ *http.Request) { j(w); fmt.Fprint(w, `{"stop_reason":"end_turn"}`) }, Malformed},
		"other JSON": {func(w http.ResponseWriter, _ *http.Request) { j(w); fmt.Fprint(w, `[1]`) }, Malformed},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			j(w)
			fmt.Fprint(w, `{"content":[{"type":"text","text":"`, strings.Repeat("x", maxAnswer+10), `"}],"stop_reason":"end_turn"}`)
		}, Malformed},
		"hangs up": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				c.Close()
			}
		}, Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(c.serve))
			defer s.Close()
			_, err := client(t, s.URL, 0).Ask(t.Context(), Question{Model: "m", Text: "x"})
			var e *Error
			if !errors.As(err, &e) || e.Kind != c.kind {
				t.Fatalf("%v, want %s", err, c.kind)
			}
		})
	}
}

func j(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }

// The key stays with the address that was configured.
func TestARedirectIsNotFollowed(t *testing.T) {
	var elsewhere int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	_, err := client(t, s.URL, 0).Ask(t.Context(), Question{Model: "m", Text: "x"})
	var e *Error
	if !errors.As(err, &e) || e.Kind != Rejected || elsewhere != 0 {
		t.Errorf("%v; the other address was asked %d times", err, elsewhere)
	}
}

func TestTimeAndCancellation(t *testing.T) {
	asked := make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	_, err := client(t, s.URL, 50*time.Millisecond).Ask(t.Context(), Question{Model: "m", Text: "x"})
	var e *Error
	if !errors.As(err, &e) || e.Kind != Timeout {
		t.Errorf("a model that does not answer: %v", err)
	}
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := client(t, s.URL, time.Hour).Ask(ctx, Question{Model: "m", Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	if _, err := client(t, url, 0).Ask(t.Context(), Question{Model: "m", Text: "x"}); !errors.As(err, &e) || e.Kind != Unreachable {
		t.Errorf("nobody there: %v", err)
	}
}

func TestCostByFamily(t *testing.T) {
	million := Usage{Input: 1e6, Output: 1e6}
	for name, want := range map[string]float64{
		"claude-haiku-4-5": 6, "claude-haiku-4-5-20251001": 6, "us.anthropic.claude-haiku-4-5-20251001-v1:0": 6, "anthropic/claude-haiku-4-5": 6,
		"claude-sonnet-4-5": 18, "claude-sonnet-4-20250514": 18, "claude-sonnet-5": 12, "claude-sonnet-5-5": 12, "CLAUDE-OPUS-4-8[1m]": 30,
		"claude-opus-4-1-20250805": 90, "claude-opus-4@20250514": 90, "claude-3-opus-latest": 90, "claude-opus-5-5": 24, "claude-opus-5": 30,
		"claude-fable-5-1":        60,
		"claude-3-5-haiku-latest": 4.8, "claude-haiku-5-5": 3, // a long prompt
	} {
		if got, known := Cost(name, million); !known || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v %v, want %v", name, got, known, want)
		}
	}
	for _, name := range []string{"", "gpt-7", "claude-opus-5-6", "claude-opus-6", "claude-haiku-4-55", "claude-sonnet-50", "claude-haiku-4",
		"qwen"} {
		if got, known := Cost(name, million); known || got != 90 {
			t.Errorf("%q: %v %v, want the dearest, 90, and to say so", name, got, known)
		}
	}
	if got, _ := Cost("claude-haiku-5-5", Usage{Input: 90_000, Output: 1000}); math.Abs(got-0.0095) > 1e-12 {
		t.Errorf("a short prompt of Haiku 5.5: %v", got)
	}
	if got, _ := Cost("claude-opus-4-8", Usage{Output: 1e6, Fast: true}); got != 50 {
		t.Errorf("fast: %v", got)
	}
	if got, _ := Cost("claude-opus-4-8", Usage{CacheWrite: 2e6, CacheWriteHour: 1e6, Searches: 3}); math.Abs(got-16.28) > 1e-9 {
		t.Errorf("cache of both kinds, and searches: %v", got)
	}
	if got, _ := Cost("claude-opus-4-8", Usage{Input: -5e9, Output: 1e6, CacheWriteHour: 7}); got != 25 {
		t.Errorf("negative counts: %v", got)
	}
}

// The dated table is whole: every price of a family is there, and what is read from the cache is cheaper than what is not.
func TestPricesAreWhole(t *testing.T) {
	for i, p := range prices {
		if p.input <= 0 || p.output <= p.input || p.read <= 0 || p.read >= p.input || p.write <= p.input || p.hour <= p.write ||
			(p.above > 0) != (p.times > 0) {
			t.Errorf("%+v", p)
		}
		for _, before := range prices[:i] {
			if strings.HasPrefix(p.family, before.family+"-") {
				t.Errorf("%s is hidden by %s", p.family, before.family)
			}
		}
	}
}

func TestLedgerRollsOverAtMidnight(t *testing.T) {
	now := time.Date(2026, 11, 30, 23, 59, 59, 0, time.Local)
	l := &Ledger{Dir: filepath.Join(t.TempDir(), "costs"), Now: func() time.Time { return now }}
	if s, err := l.Spent(); err != nil || s != (Spent{}) {
		t.Errorf("before anything: %+v %v", s, err)
	}
	record := func(usd float64) {
		t.Helper()
		if err := l.Record("judge", "s1", Answer{Model: "claude-haiku-4-5", Usage: Usage{Input: 7, Output: 2}, Cost: usd}); err != nil {
			t.Fatal(err)
		}
	}
	record(0.25)
	record(0.50)
	want := func(today, month float64, asked, unread int) {
		t.Helper()
		if s, err := l.Spent(); err != nil || s != (Spent{today, month, asked, unread}) {
			t.Errorf("%+v %v, want %v %v", s, err, today, month)
		}
	}
	want(0.75, 0.75, 2, 0)
	now = now.Add(2 * time.Second) // another day and another month
	want(0, 0, 0, 0)
	record(1)
	now = now.AddDate(0, 0, 1)
	record(2)
	want(2, 3, 1, 0)
	f, err := os.OpenFile(filepath.Join(l.Dir, "costs-2026-12-02.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "{torn\n"+`{"costCents":-100000}`)
	f.Close()
	want(2, 3, 1, 2)
	for day, n := range map[int]int{28: 4, 30: 4, 31: 2, 32: 1, 33: 0} { // of November
		if got, err := l.Of("judge", time.Date(2026, 11, day, 12, 0, 0, 0, time.Local)); err != nil || len(got) != n {
			t.Errorf("since day %d: %d entries, %v, want %d", day, len(got), err, n)
		}
	}
	if got, err := l.Of("agent", time.Time{}); err != nil || got != nil {
		t.Errorf("of another purpose: %v %v", got, err)
	}
	got, err := os.ReadFile(filepath.Join(l.Dir, "costs-2026-11-30.jsonl"))
	if lines := strings.Split(strings.TrimSpace(string(got)), "\n"); err != nil || len(lines) != 2 ||
		!strings.Contains(lines[0],
			`"model":"claude-haiku-4-5","purpose":"judge","session":"s1","tokens":{"input":7,"output":2},"costCents":25}`) {
		t.Errorf("%s %v", got, err)
	}
}

func FuzzLedger(f *testing.F) {
	f.Add([]byte(`{"timestamp":"2026-11-30T00:00:00Z","model":"m","purpose":"judge","tokens":{"input":1,"output":1},"costCents":1}` + "\n"))
	f.Add([]byte("\n\n{}\n[]"))
	f.Add([]byte(`{"costCents":1e999}`))
	dir := f.TempDir()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &Ledger{Dir: dir, Now: func() time.Time { return now }}
		if err := os.WriteFile(l.file("2026-11-30"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := l.Spent(); err == nil && (s.Today < 0 || s.Today > s.Month || math.IsNaN(s.Today)) {
			t.Fatalf("%+v", s)
		}
	})
}
