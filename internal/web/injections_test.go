package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/html"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
)

// injections reads what an agent may write in order to become a part of a page: one text a line, quoted as in Go.
func injections(t *testing.T) (out []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/injections.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		x, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("injections.txt: %s: %v", line, err)
		}
		out = append(out, x)
	}
	if len(out) < 60 {
		t.Fatalf("only %d injections", len(out))
	}
	return out
}

// written returns every page with a text of an agent in each place that an agent can write to.
func written(t *testing.T, s *Server, x string) map[string]string {
	t.Helper()
	p := s.o.Root.Of("/home/" + x)
	quote, err := json.Marshal(strings.ToValidUTF8(x, "?"))
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]string{"call": `{"x":` + string(quote) + `}`, "bash": `{"command":` + string(quote) + `}`,
		"edit": `{"file_path":` + string(quote) + `,"old_string":` + string(quote) + `,"new_string":"y"}`}
	facts := policy.Facts{Dir: x, Parts: []policy.Part{{Program: x, Effects: []string{x}, Hosts: []string{x}, Unclear: []string{x},
		Paths: []policy.Path{{Access: policy.Access(x), Raw: x}}}}}
	in := waitingList{Running: 1, Problem: x, Problems: []string{x}}
	for i, r := range []approval.Request{{Tool: x, Args: []byte(args["call"])}, {Tool: "agent__Bash", Args: []byte(args["bash"])},
		{Tool: "agent__Edit", Args: []byte(args["edit"])}, {Kind: approval.Stop, Text: x},
		{Kind: approval.Question, Questions: []approval.Asked{{Header: x, Text: x, Options: []string{x, x}, Many: true}}},
		{State: approval.Denied, Answer: &approval.Answer{By: x, Via: x, Reason: x, Overruled: x}}} {
		r.ID, r.Digest, r.Facts, r.Session, r.Principal, r.Parent = fmt.Sprint("r", i), x, facts, x, x, x
		r.Role, r.Agent, r.Label, r.Dir = x, x, x, x
		r.Rule, r.Reason, r.Opinion, r.Thinking, r.Changed, r.Category, r.Risk = "rule "+x, x, x, x, x, x, policy.Critical
		r.Kind = approval.Kind(strings.TrimSpace(string(r.Kind)))
		if r.Kind == "" {
			r.Kind = approval.Call
		}
		r.Deadline = time.Unix(1, 0)
		c := cardOf(p, r)
		in.Cards, in.Done = append(in.Cards, c), &c
	}
	home := overview{Problem: x, Quiet: []string{x}}
	at := projectAtWork{Name: nameOf(p), Dir: x, Problem: x, Warnings: []string{x}, Waiting: 1}
	at.Agents = []agentAtWork{agentOf(approval.AgentSession{ID: x, Agent: x, Label: x, Dir: x, Role: x, State: approval.SessionState(x),
		Task: x, Last: x})}
	at.Sessions = sessionsOf([]session.Summary{{ID: x, Name: x, Principal: x, Role: x, Skills: []string{x}, Live: true}})
	at.Warnings = append(at.Warnings, warningsOf(api.StatusReply{Damage: []string{x}, Problem: x})...)
	home.Projects = []projectAtWork{at}
	shown := recordList{Problem: x, Projects: []choice{{x, x, true}}, Fields: []field{{"tool", x, x, x}}, Newer: "/log?tool=" + x,
		Entries: []entry{entryOf(index.Entry{ID: x, Session: x, Role: x, Tool: x, Args: []byte(args["call"]), Rule: x, Reason: x,
			DecidedBy: x, Outcome: x, Agent: x, Sandbox: x, Thinking: &audit.Thinking{Thinking: x}})}}
	out := map[string]string{}
	d := device.Device{ID: x, Name: x}
	for name, body := range map[string]any{"inbox": in, "home": home, "log": shown, "sign-in": signInForm{Link: x, Problem: x}} {
		w := httptest.NewRecorder()
		s.show(w, httptest.NewRequest(http.MethodGet, "/inbox?done=a", nil), http.StatusOK, name, d,
			page{Title: x, Here: "/inbox", Live: "sse:inbox", Body: body})
		out[name] = w.Body.String()
	}
	w := httptest.NewRecorder()
	s.fail(w, nil, http.StatusNotFound, errors.New(x))
	out["problem"] = w.Body.String()
	return out
}

// skeleton is a page without its text: its elements, their attributes, and the values of those that do something. What a field is filled
// with or an element is named by is text.
func skeleton(t *testing.T, text string) (out []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode, html.DoctypeNode:
			out = append(out, fmt.Sprint("!", n.Type))
		case html.ElementNode:
			line := n.Data
			for _, a := range n.Attr {
				line += " " + a.Key
				if !slices.Contains([]string{"value", "placeholder", "class", "id", "for", "aria-labelledby", "aria-label", "href"}, a.Key) &&
					!strings.HasPrefix(a.Val, "/inbox/") {
					line += "=" + a.Val
				}
				if a.Key == "href" && !strings.HasPrefix(a.Val, "/") && a.Val != "#main" || strings.HasPrefix(a.Val, "//") && a.Key == "href" {
					line += "=" + a.Val
				}
			}
			if n.Parent.Data != "pre" || line != "span" && line != "span class" { // a text has as many lines as it has
				out = append(out, line)
			}
		default:
		}
	}
	return out
}

// TestWebInjections puts each injection into every place of every page that an agent can write to: the elements and attributes of the page
// are those of a page with a harmless word.
func TestWebInjections(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	want := map[string][]string{}
	for name, text := range written(t, s, "word") {
		want[name] = skeleton(t, text)
		if n := strings.Count(text, "word"); n < 1 {
			t.Errorf("%s shows the word %d times: is the test wrong?", name, n)
		}
	}
	for _, x := range injections(t) {
		for name, text := range written(t, s, x) {
			got := skeleton(t, text)
			for i := range max(len(got), len(want[name])) {
				if i >= len(got) || i >= len(want[name]) || got[i] != want[name][i] {
					t.Errorf("%s: %q makes another page, at element %d: %q", name, x, i, got[min(i, len(got)):])
					break
				}
			}
			for _, hidden := range []string{"\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\x07"} {
				if strings.Contains(text, hidden) {
					t.Errorf("%s: %q: the character %q is in the page and nobody sees it", name, x, hidden)
				}
			}
		}
	}
}

// TestWebInjectionsInChromium loads the pages with all injections in a real browser: none of them runs, and the elements are those that the
// parser of the test above saw.
func TestWebInjectionsInChromium(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("chromium is not here")
	}
	s := testServer(t)
	all := written(t, s, strings.Join(injections(t), " "))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Trim(r.URL.Path, "/")
		if text, ok := all[name]; ok {
			_, _ = w.Write([]byte(text)) // without the headers that would keep what is injected from running
			return
		}
		s.Handler().ServeHTTP(w, r)
	}))
	defer site.Close()
	for name := range all {
		cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
			"--virtual-time-budget=1000", "--dump-dom", site.URL+"/"+name)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("chromium: %v", err)
		}
		dom := out.String()
		if !strings.Contains(dom, `id="view"`) {
			t.Fatalf("%s: chromium shows %q", name, dom)
		}
		got, want := elements(t, dom), elements(t, all[name])
		if !slices.Equal(got, want) {
			t.Errorf("%s: the elements in the browser are %q\nwant %q", name, got, want)
		}
	}
}

// elements are the names of the elements of a page, without what the browser adds by itself.
func elements(t *testing.T, text string) (out []string) {
	for _, line := range skeleton(t, text) {
		name, _, _ := strings.Cut(line, " ")
		out = append(out, name)
	}
	return out
}

// testServer is a server that listens at a port of its own, with an empty state.
func testServer(t *testing.T) *Server {
	t.Helper()
	s, err := Listen(t.Context(), "127.0.0.1:0", Options{Root: state.Root(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
