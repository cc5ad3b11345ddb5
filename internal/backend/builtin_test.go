package backend

import (
	"context"
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// builtin answers with the caller's role and counts its definitions.
type builtin struct{ panics bool }

func (b *builtin) Definitions() []policy.Definition {
	return []policy.Definition{
		{Item: policy.Item{Name: "read"}, Raw: []byte(`{"name":"read","annotations":{"readOnlyHint":true,"title":"x"}}`)},
		{Item: policy.Item{Kind: policy.Resource, Name: "x://{a}"}, Raw: []byte(`{"uriTemplate":"x://{a}","name":"t"}`)},
	}
}

func (b *builtin) Do(_ context.Context, scope policy.Scope, method string, params []byte, notify func(string, []byte)) (result,
	rpcErr []byte, err error) {
	if b.panics {
		panic("secret detail")
	}
	notify("notifications/progress", params)
	return []byte(`"` + scope.Principal.Role + " " + method + `"`), nil, nil
}

func TestBuiltin(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Builtins: map[string]Builtin{"files": &builtin{}, "mycelium-x": &builtin{panics: true}}})
	ctx := testContext(t)
	scope := policy.Scope{Principal: policy.Principal{Role: "guest"}}
	var noted string
	result, _, err := p.Do(ctx, scope, "", "files", "tools/call", []byte(`{}`), listener(func(m string, b []byte) { noted = m + string(b) }))
	if err != nil || string(result) != `"guest tools/call"` || noted != "notifications/progress{}" {
		t.Error(string(result), noted, err)
	}
	if _, _, err := p.Do(ctx, scope, "", "mycelium-x", "tools/call", nil, nil); err == nil || strings.Contains(err.Error(), "secret") ||
		!strings.Contains(err.Error(), "internal fault") {
		t.Errorf("error %v", err)
	}
	c := p.Catalog()
	if len(c.Definitions) != 2 || c.Definitions[0].Item != (policy.Item{Server: "files", Name: "read"}) ||
		!c.Definitions[0].Annotations["readOnlyHint"] || len(c.Templates) != 2 || len(c.Pending) != 0 {
		t.Errorf("%+v", c)
	}
	if err := p.Start(ctx, []string{"files", "mycelium-x"}); err != nil {
		t.Error(err)
	}
	if err := p.Learn(ctx, "files"); err != nil {
		t.Error(err)
	}
	st := p.Status()
	if len(st) != 2 || st[0].State != StateBuiltin || st[0].Tools != 1 {
		t.Errorf("%+v", st)
	}
}
