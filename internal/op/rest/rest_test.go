package rest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

// word is a text of which only some values are known.
type word string

type of struct {
	Project string `query:"project" about:"which project"`
}

type params struct {
	ID     string   `json:"id" about:"which one"`
	Kind   word     `json:"kind,omitempty" of:"red,blue"`
	Count  int      `json:"count,omitzero" least:"1" most:"9"`
	Names  []string `json:"names,omitempty"`
	Device string   `json:"device,omitempty" by:""`
}

type filter struct {
	ID    string    `json:"id"`
	Kind  word      `json:"kind,omitempty" of:"red,blue"`
	Count int       `json:"count,omitzero" least:"1" most:"9"`
	Since time.Time `json:"since,omitzero"`
	Some  *bool     `json:"some,omitempty"`
}

func operation(pattern string, types ...reflect.Type) *Operation {
	return &Operation{Route: op.Route{Pattern: pattern, ID: "it", Tag: "tag"}, Summary: "Does it", Params: types, Reply: reflect.TypeFor[params]()}
}

func posting() *Operation {
	return operation("POST /things/{project}/{id}", reflect.TypeFor[of](), reflect.TypeFor[params]())
}

// asked sends a request to an operation, and returns its parameters and the response.
func asked[P any](o *Operation, r *http.Request) (project of, p P, w *httptest.ResponseRecorder) {
	w = httptest.NewRecorder()
	m := http.NewServeMux()
	m.HandleFunc(o.Pattern, func(w http.ResponseWriter, r *http.Request) {
		err := o.Read(w, r, &project, &p)
		op.SetBy(&p, "d-1")
		Answer(w, r, p, err)
	})
	m.ServeHTTP(w, r)
	return project, p, w
}

func request(method, target, body string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// TestRead: parameters are read from the path, the query and the body. An unknown one is refused with the status of the fault.
func TestRead(t *testing.T) {
	inJSON := []string{"Content-Type", "application/json"}
	at, p, w := asked[params](posting(), request("POST", "/things/p/x", `{"kind":"red","count":9,"names":["a"]}`, inJSON...))
	if want := (params{"x", "red", 9, []string{"a"}, "d-1"}); w.Code != 200 || at.Project != "p" || !reflect.DeepEqual(p, want) {
		t.Errorf("%d %s %+v %+v", w.Code, w.Body, at, p)
	}
	for _, c := range []struct {
		target, body string
		header       []string
		status       int
		says         string
	}{
		{"/things/p/x", "{}", nil, 415, "not marked as JSON"},
		{"/things/p/x", "{", inJSON, 400, "cannot be read"},
		{"/things/p/x", "[]", inJSON, 400, "cannot be read"},
		{"/things/p/x", `{"names":["` + strings.Repeat("x", MaxBody) + `"]}`, inJSON, 413, "more than"},
		{"/things/p/x", `{"kind":"red","kind":"blue"}`, inJSON, 400, "kind"},
		{"/things/p/x", `{"id":"y"}`, inJSON, 400, `"id"`},              // it is in the path
		{"/things/p/x", `{"device":"d-2"}`, inJSON, 400, `"device"`},    // nobody says it for another one
		{"/things/p/x", `{"project":"q"}`, inJSON, 400, `project`},      // it is in the path
		{"/things/p/x?kind=red", `{}`, inJSON, 400, `parameter "kind"`}, // it is in the body
	} {
		_, _, w := asked[params](posting(), request("POST", c.target, c.body, c.header...))
		var problem Problem
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code != c.status || problem.Status != c.status ||
			!strings.Contains(problem.Detail, c.says) {
			t.Errorf("%.60s: %d %.200s %v", c.body, w.Code, w.Body, err)
		}
	}

	get := operation("GET /things/{id}", reflect.TypeFor[of](), reflect.TypeFor[filter]())
	at, f, w := asked[filter](get, request("GET", "/things/x?project=p&kind=blue&count=1&since=2026-11-27T08:00:00Z&some=false", ""))
	if w.Code != 200 || at.Project != "p" || f.ID != "x" || f.Kind != "blue" || f.Count != 1 || f.Since.Hour() != 8 || f.Some == nil || *f.Some {
		t.Errorf("%d %s %+v %+v", w.Code, w.Body, at, f)
	}
	for query, says := range map[string]string{"kind=green": "none of red, blue", "count=0": "from 1 to 9", "count=10": "from 1 to 9",
		"since=today": "no time", "some=perhaps": "neither true nor false", "count=1&count=2": "2 times", "what=1": `no parameter`, "%zz": "cannot be read"} {
		if _, _, w := asked[filter](get, request("GET", "/things/x?"+query, "")); w.Code != 400 || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// TestAnswer: an error has the status of its kind. A file that a request would make wrong is an error of the request.
func TestAnswer(t *testing.T) {
	wrong := failure.New(failure.Config, errors.New("rules.yaml is wrong"), "mend it")
	for method, status := range map[string]int{"GET": 500, "POST": 400} {
		w := httptest.NewRecorder()
		Answer(w, request(method, "/", ""), nil, wrong)
		if w.Code != status || !strings.Contains(w.Body.String(), `"hint":"mend it"`) {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
}

// TestDocument: the document has each parameter where a request has it, with its tags, and none that the face sets.
func TestDocument(t *testing.T) {
	b, err := Document(About{}, []Operation{*posting()})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In, Description string
				Required              bool
			} `json:"parameters"`
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Properties map[string]map[string]any `json:"properties"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(b, &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	it := doc.Paths["/things/{project}/{id}"]["post"]
	if len(it.Parameters) != 2 || it.Parameters[0].Name != "project" || it.Parameters[1].Name != "id" || it.Parameters[1].In != "path" ||
		it.Parameters[1].Description != "which one" || !it.Parameters[1].Required {
		t.Errorf("parameters: %+v", it.Parameters)
	}
	body := it.RequestBody.Content["application/json"].Schema.Properties
	if len(body) != 3 || body["kind"]["enum"] == nil || body["count"]["minimum"] != 1.0 || body["count"]["maximum"] != 9.0 || body["names"] == nil {
		t.Errorf("body: %+v\n%s", body, b)
	}
}

// FuzzRead: no request makes the face panic, or say on which device a person acts.
func FuzzRead(f *testing.F) {
	f.Add("project=p", `{"kind":"red"}`)
	f.Add("%", `{"device":"d"}`)
	f.Fuzz(func(t *testing.T, query, body string) {
		r := request("POST", "/things/p/x", body, "Content-Type", "application/json")
		r.URL.RawQuery = query
		r.SetPathValue("project", "p")
		r.SetPathValue("id", "x")
		var at of
		var p params
		if err := posting().Read(httptest.NewRecorder(), r, &at, &p); err == nil && (p.Device != "" || p.ID != "x" || at.Project != "p") {
			t.Errorf("%q %q: %+v %+v", query, body, at, p)
		}
	})
}
