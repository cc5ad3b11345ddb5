package web

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"mycelium/internal/op/rest"
	"mycelium/internal/web/signature"
)

// ask sends a request to a server as a browser that is signed in.
func ask(t *testing.T, s *Server, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	secret, err := s.devices.NewLink(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := signature.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.devices.SignIn(s.addr, secret, "a test", public)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, "http://"+s.addr+path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if err := (signature.Key{Device: d.ID, Private: private}).Sign(r, s.checker.Run, []byte(body), time.Now()); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestWebDocument: the document is valid OpenAPI 3.1, the same in JSON and in YAML, and has every route of the API and nothing else.
func TestWebDocument(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	var both [2]*openapi3.T
	for i, ending := range []string{"json", "yaml"} {
		w := ask(t, s, http.MethodGet, "/api/openapi."+ending, "")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/"+ending {
			t.Fatalf("%s: %d %v\n%s", ending, w.Code, w.Header(), w.Body)
		}
		loader := openapi3.NewLoader()
		loader.IsExternalRefsAllowed = false
		doc, err := loader.LoadFromData(w.Body.Bytes())
		if err == nil {
			err = doc.Validate(t.Context())
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", ending, err, w.Body)
		}
		both[i] = doc
	}
	asJSON, err := both[0].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := both[1].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var one, other any
	if err := json.Unmarshal(asJSON, &one); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(asYAML, &other); err != nil || !reflect.DeepEqual(one, other) {
		t.Errorf("YAML says something else than JSON: %v", err)
	}

	var have, want []string
	for path, at := range both[0].Paths.Map() {
		for method, o := range at.Operations() {
			have = append(have, method+" "+path)
			if o.Summary == "" || o.OperationID == "" || len(o.Tags) != 1 {
				t.Errorf("%s %s: %+v", method, path, o)
			}
		}
	}
	routes := s.routes()
	for _, r := range append(routes, s.document(routes)...) {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if api := strings.HasPrefix(path, "/api/") || path == "/health"; api != (r.API != nil) {
			t.Errorf("%s is of the API: %v, described: %v. An operation is made with site.Operation", r.Pattern, api, r.API != nil)
		}
		if r.API != nil {
			want = append(want, method+" "+path)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("the document has %q\nwant %q", have, want)
	}
}

// TestWebProblems: what the API refuses is told as RFC 9457 says, with how to mend it.
func TestWebProblems(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	inJSON := []string{"Content-Type", "application/json"}
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
		says               string
	}{
		{"GET", "/api/nothing", "", nil, 404, "there is no operation at /api/nothing"},
		{"POST", "/api/status", "", nil, 405, "GET"},
		{"DELETE", "/api/approvals/p/r", "", nil, 405, "GET or POST"},
		{"GET", "/api/status?x=1", "", nil, 400, `no parameter "x"`},
		{"GET", "/api/log", "", nil, 404, "there is no project"},
		{"GET", "/api/log?project=p", "", nil, 404, `no project "p"`},
		{"GET", "/api/sessions?project=p%1b", "", nil, 404, `no project`},
		{"GET", "/api/log?outcome=good", "", nil, 400, `"good" is none of ok, error, denied, unfinished`},
		{"GET", "/api/log?limit=1001", "", nil, 400, `"1001" is no number from 0 to 1000`},
		{"GET", "/api/log?since=today", "", nil, 400, `"today" is no time`},
		{"GET", "/api/log?thinking=perhaps", "", nil, 400, `neither true nor false`},
		{"GET", "/api/log?tool=a&tool=b", "", nil, 400, "stands 2 times"},
		{"GET", "/api/log?tool=%zz", "", nil, 400, "cannot be read"},
		{"POST", "/api/approvals/p/r", `{"allow":true,"digest":"d"}`, nil, 415, "not marked as JSON"},
		{"POST", "/api/approvals/p/r", `{"allow":true,"digest":"d"}`, []string{"Content-Type", "text/plain"}, 415, "not marked as JSON"},
		{"POST", "/api/approvals/p/r", `{"allow":true,"digest":"d","device":"d-1"}`, inJSON, 400, "device"},
		{"POST", "/api/approvals/p/r", `{"allow":true,"allow":false}`, inJSON, 400, "allow"},
		{"POST", "/api/approvals/p/r", `{"reason":"` + strings.Repeat("a", 70_000) + `"}`, inJSON, 413, "more than"},
		{"POST", "/api/approvals/p/r", `{"allow":true,"digest":"d"}`, inJSON, 404, `no project "p"`},
	} {
		w := ask(t, s, c.method, c.path, c.body, c.header...)
		var p rest.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p, json.RejectUnknownMembers(true)); err != nil {
			t.Errorf("%s %s: %v\n%s", c.method, c.path, err, w.Body)
			continue
		}
		if w.Code != c.status || p.Status != c.status || p.Title != http.StatusText(c.status) || p.Type != "about:blank" ||
			!strings.Contains(p.Detail+p.Hint, c.says) || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %v %+v, want %d and %q", c.method, c.path, w.Code, w.Header(), p, c.status, c.says)
		}
	}
	if w := ask(t, s, "POST", "/api/status", ""); w.Header().Get("Allow") != "GET" {
		t.Errorf("what may be done: %v", w.Header())
	}
}
