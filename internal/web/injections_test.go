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

// injections are what an agent may write in order to become a part of a page.
var injections = []string{
	`<script>document.title="pwned"</script>`, `</script><script>document.title="pwned"</script>`, `<script src=/assets/pages.js></script>`,
	`<SCRIPT>document.title="pwned"</SCRIPT>`, `<scr<script>ipt>document.title="pwned"</script>`, `<img src=x onerror=document.title="pwned">`,
	`<img src="javascript:document.title='pwned'">`, `<svg onload=document.title="pwned">`, `<svg><script>document.title="pwned"</script></svg>`,
	`<svg><animate onbegin=document.title="pwned" attributeName=x dur=1s>`, `<math><mtext></mtext><script>document.title="pwned"</script></math>`,
	`<iframe src="javascript:parent.document.title='pwned'"></iframe>`, `<iframe srcdoc="<script>parent.document.title='pwned'</script>">`,
	`<object data="javascript:document.title='pwned'">`, `<embed src="javascript:document.title='pwned'">`, `<body onload=document.title="pwned">`,
	`<a href="javascript:document.title='pwned'">x</a>`, `<a href=" &#106;avascript:document.title='pwned'">x</a>`,
	`<form action=//evil.example><button>Allow once</button></form>`, `</form><form action="https://evil.example/">`, `<input autofocus onfocus=document.title="pwned">`,
	`<details open ontoggle=document.title="pwned">`, `<video><source onerror=document.title="pwned"></video>`, `<audio src=x onerror=document.title="pwned">`,
	`<marquee onstart=document.title="pwned">`, `<base href="https://evil.example/">`, `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
	`<link rel=stylesheet href="https://evil.example/x.css">`, `<style>*{display:none}</style>`, `<p style="background:url(javascript:1)">`,
	`<template><script>document.title="pwned"</script></template>`, `<noscript><p title="</noscript><script>document.title='pwned'</script>">`,
	`<div hx-get="/sign-out" hx-trigger=load>`, `<div hx-post="/inbox/a/b" hx-vals='{"answer":"once"}' hx-trigger=load>`,
	`<div hx-on::load="document.title='pwned'">`, `<div data-hx-get="/log" data-hx-trigger="load">`, `<div sse-connect="https://evil.example/">`,
	`"><script>document.title="pwned"</script>`, `'><script>document.title='pwned'</script>`, `" onmouseover="document.title='pwned'`, `' onfocus='document.title=1`,
	`x" autofocus onfocus="document.title='pwned'" y="`, "`onload=`x", `" hx-get="/log" hx-trigger="load" x="`, `"/><button name=answer value=once form=x>`,
	`</textarea><script>document.title="pwned"</script>`, `</title><script>document.title="pwned"</script>`, `</pre></article><h1>Nothing waits</h1>`,
	`</select><img src=x onerror=document.title="pwned">`, `<!-- --><script>document.title="pwned"</script>`, `<!--`, `--><img src=x onerror=1>`,
	`<![CDATA[<script>document.title="pwned"</script>]]>`, `<?xml version="1.0"?><x/>`, `<!DOCTYPE html><html>`, `{{.}}`, `{{template "home" .}}`, `{{define "x"}}`,
	`${document.title="pwned"}`, `<%= 1 %>`, `&lt;script&gt;document.title="pwned"&lt;/script&gt;`, `&#60;script&#62;`, `&quot;onload=&quot;`,
	"\u202egnp.exe\u202c", "\u2066hidden\u2069", "a\u200bb\u2060c\ufeff", "\U000e0041\U000e0042", "\u0000<script>document.title=1</script>", "\x1b[2J\x1b]0;pwned\x07",
	"a\x00b\x01c\x7f", "\r\n\r\n<script>document.title=1</script>", "x\n\nevent: inbox\ndata: pwned\n\n", "id: 1\nretry: 0\ndata: x\n\n", "\xff\xfe<script>\xc0\xbc",
	"\u2028\u2029<script>", "\uff1cscript\uff1e", "+ADw-script+AD4-", "javascript:document.title='pwned'", "//evil.example/", "/inbox?done=a/b", "a/../../b", `\"><b>`, "<b\x0c onx=1>",
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
	in := inboxData{Running: 1, Problem: x, Problems: []string{x}}
	for i, r := range []approval.Request{{Tool: x, Args: []byte(args["call"])}, {Tool: "agent__Bash", Args: []byte(args["bash"])},
		{Tool: "agent__Edit", Args: []byte(args["edit"])}, {Kind: approval.Stop, Text: x},
		{Kind: approval.Question, Questions: []approval.Asked{{Header: x, Text: x, Options: []string{x, x}, Many: true}}},
		{State: approval.Denied, Answer: &approval.Answer{By: x, Via: x, Reason: x, Overruled: x}}} {
		r.ID, r.Digest, r.Facts, r.Session, r.Principal, r.Parent, r.Role, r.Agent, r.Label, r.Dir = fmt.Sprint("r", i), x, facts, x, x, x, x, x, x, x
		r.Rule, r.Reason, r.Opinion, r.Thinking, r.Changed, r.Category, r.Risk = x, x, x, x, x, x, policy.Critical
		r.Kind = approval.Kind(strings.TrimSpace(string(r.Kind)))
		if r.Kind == "" {
			r.Kind = approval.Call
		}
		r.Deadline = time.Unix(1, 0)
		c := cardOf(p, r)
		in.Cards, in.Done = append(in.Cards, c), &c
	}
	home := homeData{Problem: x, Quiet: []string{x}}
	at := projectAtWork{Name: nameOf(p), Dir: x, Problem: x, Warnings: []string{x}, Waiting: 1}
	at.Agents = []agentAtWork{agentOf(approval.AgentSession{ID: x, Agent: x, Label: x, Dir: x, Role: x, State: approval.SessionState(x), Task: x, Last: x})}
	at.Sessions = sessionsOf([]session.Summary{{ID: x, Name: x, Principal: x, Role: x, Skills: []string{x}, Live: true}})
	at.Warnings = append(at.Warnings, warningsOf(api.StatusReply{Damage: []string{x}, Problem: x})...)
	home.Projects = []projectAtWork{at}
	shown := logData{Problem: x, Projects: []choice{{x, x, true}}, Fields: []field{{"tool", x, x, x}}, Newer: "/log?tool=" + x,
		Entries: []entry{entryOf(index.Entry{ID: x, Session: x, Role: x, Tool: x, Args: []byte(args["call"]), Rule: x, Reason: x, DecidedBy: x, Outcome: x,
			Agent: x, Sandbox: x, Thinking: &audit.Thinking{Thinking: x}})}}
	out := map[string]string{}
	d := device.Device{ID: x, Name: x}
	for name, body := range map[string]any{"inbox": in, "home": home, "log": shown, "sign-in": signInData{Link: x, Problem: x}} {
		w := httptest.NewRecorder()
		s.show(w, httptest.NewRequest(http.MethodGet, "/inbox?done=a", nil), http.StatusOK, name, d, page{Title: x, Here: "/inbox", Live: "sse:inbox", Body: body})
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
			if n := len(out); !strings.HasPrefix(line, "span") || n == 0 || out[n-1] != line { // a text has as many lines as it has
				out = append(out, line)
			}
		}
	}
	return out
}

// TestWebInjections puts each injection into every place of every page that an agent can write to: the elements and attributes of the page
// are those of a page with a harmless word.
func TestWebInjections(t *testing.T) {
	t.Parallel()
	if len(injections) < 60 {
		t.Fatalf("only %d injections", len(injections))
	}
	s := testServer(t)
	want := map[string][]string{}
	for name, text := range written(t, s, "word") {
		want[name] = skeleton(t, text)
		if n := strings.Count(text, "word"); n < 1 {
			t.Errorf("%s shows the word %d times: is the test wrong?", name, n)
		}
	}
	for _, x := range injections {
		for name, text := range written(t, s, x) {
			got := skeleton(t, text)
			for i := range max(len(got), len(want[name])) {
				if i >= len(got) || i >= len(want[name]) || got[i] != want[name][i] {
					t.Errorf("%s: %q makes another page, at element %d", name, x, i)
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
	all := written(t, s, strings.Join(injections, " "))
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
