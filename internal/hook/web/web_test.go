package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/state"
)

const write = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write",` +
	`"tool_input":{"file_path":"a","content":"x"},"tool_use_id":"t"}`

// handler answers the events of a project without a daemon.
func handler(t *testing.T, token string, decide func(context.Context, harness.Event) (harness.Answer, error)) *AgentEvents {
	project := state.Root(t.TempDir()).Of(t.TempDir())
	return &AgentEvents{Token: token, Program: func() *hook.Program {
		return &hook.Program{Project: project, Alone: func(ctx context.Context, c hook.Command) int {
			if got := c.Getenv(hook.TokenVar); got != token {
				t.Errorf("the token is %q", got)
			}
			c.Decide = decide
			return c.Run(ctx)
		}}
	}}
}

// TestEveryAnswerIsOne: every answer is an HTTP error, which blocks the tool, or JSON. Without a decision it is a denial. Claude Code
// takes a success with an empty body for consent.
func TestEveryAnswerIsOne(t *testing.T) {
	allow := func(context.Context, harness.Event) (harness.Answer, error) {
		return harness.Answer{Verdict: harness.Allow}, nil
	}
	for name, c := range map[string]struct {
		method, path, host, origin, bearer, body string
		decide                                   func(context.Context, harness.Event) (harness.Answer, error)
		status                                   int
		want                                     string
	}{
		"allowed": {status: 200, want: `"permissionDecision":"allow"`},
		"no opinion": {status: 200, want: "{}", decide: func(context.Context, harness.Event) (harness.Answer, error) {
			return harness.Answer{Verdict: harness.Pass}, nil
		}},
		"no answer": {status: 200, want: `"permissionDecision":"deny"`,
			decide: func(context.Context, harness.Event) (harness.Answer, error) {
				return harness.Answer{}, nil
			}},
		"a fault": {status: 200, want: `"permissionDecision":"deny"`,
			decide: func(context.Context, harness.Event) (harness.Answer, error) {
				return harness.Answer{}, errors.New("the disk is full")
			}},
		"a panic": {status: 200, want: `"permissionDecision":"deny"`,
			decide: func(context.Context, harness.Event) (harness.Answer, error) {
				panic("a bug")
			}},
		"too late": {status: 200, want: `"permissionDecision":"deny"`, path: "/hook/claude/PreToolUse?limit=20ms",
			decide: func(ctx context.Context, _ harness.Event) (harness.Answer, error) {
				<-ctx.Done()
				return harness.Answer{Verdict: harness.Allow}, ctx.Err()
			}},
		"malformed":      {status: 200, want: `"permissionDecision":"deny"`, body: write[:40]},
		"nothing":        {status: 200, want: `"permissionDecision":"deny"`, body: " "},
		"oversized":      {status: 200, want: `"permissionDecision":"deny"`, body: `{"x":"` + strings.Repeat("x", harness.MaxInput) + `"}`},
		"another event":  {status: 200, want: `"permissionDecision":"deny"`, body: strings.Replace(write, "PreToolUse", "Stop", 1)},
		"unknown event":  {status: 404, path: "/hook/claude/Dreaming?limit=10m"},
		"unknown agent":  {status: 404, path: "/hook/copilot/PreToolUse?limit=10m"},
		"no limit":       {status: 404, path: "/hook/claude/PreToolUse"},
		"no event":       {status: 404, path: "/hook/claude"},
		"a look":         {status: 405, method: http.MethodGet},
		"no token":       {status: 401, bearer: "-"},
		"a dead token":   {status: 401, bearer: "Bearer dead"},
		"another scheme": {status: 401, bearer: "Basic live"},
		"another host":   {status: 403, host: "evil.example:80"},
		"a page":         {status: 403, origin: "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			decide := allow
			if c.decide != nil {
				decide = c.decide
			}
			h := handler(t, "live", decide)
			or := func(s, other string) string {
				if s == "" {
					return other
				}
				return s
			}
			r := httptest.NewRequest(or(c.method, http.MethodPost), or(c.path, "/hook/claude/PreToolUse?limit=10m"),
				strings.NewReader(or(c.body, write)))
			r.Host = or(c.host, "127.0.0.1:4711")
			if c.bearer != "-" {
				r.Header.Set("Authorization", or(c.bearer, "Bearer live"))
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			body, err := io.ReadAll(w.Result().Body)
			if err != nil || w.Code != c.status || !strings.Contains(string(body), c.want) || strings.TrimSpace(string(body)) == "" {
				t.Errorf("%d %q %v, want %d %q", w.Code, body, err, c.status, c.want)
			}
			if w.Code == 200 && !jsontext.Value(body).IsValid() {
				t.Errorf("%q is no JSON", body)
			}
		})
	}
}

// TestWhatTheAgentSays: the URL and headers of the entry give the event what a program gets from its arguments and environment.
func TestWhatTheAgentSays(t *testing.T) {
	claude, _ := harness.Named("claude")
	variables := map[string]string{"TMUX_PANE": "%3", "TMUX": "/tmp/tmux-0/default,1,0", "CLAUDE_CODE_ENTRYPOINT": "cli"}
	var got harness.Event
	h := handler(t, "a token", func(_ context.Context, e harness.Event) (harness.Answer, error) {
		got = e
		return harness.Answer{Verdict: harness.Allow}, nil
	})
	at, err := url.Parse(URL("127.0.0.1:4711", "claude", "PreToolUse", 10*time.Minute, "my gateway"))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, at.String(),
		strings.NewReader(strings.Replace(write, `"Write"`, `"mcp__my gateway__files__read_file"`, 1)))
	r.Header.Set("Authorization", "Bearer a token")
	for _, pair := range Headers(claude) {
		r.Header.Set(pair[0], variables[pair[1]])
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got.Pane != "%3" || got.Tmux != variables["TMUX"] || !got.Interactive || !got.Ours || got.Tool != "files__read_file" ||
		got.Deadline < 500_000 {
		t.Errorf("%+v", got)
	}
}
