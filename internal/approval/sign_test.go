package approval

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
)

// TestSettleDemandsTheSign: whatever a request and an answer are, a critical call, and one whose risk is not known, is allowed only with a
// second sign, and nothing else needs one. What is refused waits on.
func TestSettleDemandsTheSign(t *testing.T) {
	q := newQueue(t, Options{Deadline: -1, WriteRule: func(_ context.Context, _ Request, _ Answer) (string, error) { return "r", nil }})
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		r := question(`{"command":"make ` + strings.Repeat("x", n) + `"}`)
		r.Session = "s" + strings.Repeat("i", n)
		r.Kind = rapid.SampledFrom([]Kind{Call, Stop}).Draw(rt, "kind")
		r.Risk = rapid.SampledFrom([]policy.Risk{"", policy.Low, policy.Medium, policy.High, policy.Critical, "grave"}).Draw(rt, "risk")
		a := Answer{Allow: rapid.Bool().Draw(rt, "allow"), By: "kimu", Via: rapid.SampledFrom([]string{"terminal", "http", "telegram",
			"browser, d-1", "model", "client", ""}).Draw(rt, "via")}
		if a.Allow && r.Kind == Call {
			a.For = rapid.SampledFrom([]For{Once, Session, Rule}).Draw(rt, "for")
		}
		s := rapid.SampledFrom([]sign.Sign{sign.None, sign.Sure, sign.PIN, "model"}).Draw(rt, "sign")
		got := ask(t.Context(), q, r)
		waits := seen(t, q, "waits", waiting(1))
		now, err := q.Settle(t.Context(), waits.ID, a, s)
		grave := r.Kind == Call && (r.Risk == policy.Critical || !r.Risk.Known())
		var missing *sign.MissingError
		if refused := a.Allow && grave && s != sign.Sure && s != sign.PIN; refused {
			if !errors.As(err, &missing) || missing.Missing != sign.Sure || missing.How == "" || now.State != Pending {
				rt.Fatalf("%+v of %s %s: %s, %v", a, r.Risk, r.Kind, now.State, err)
			}
			if _, err = q.Settle(t.Context(), waits.ID, Answer{By: "kimu"}, sign.None); err != nil {
				rt.Fatal(err)
			}
		} else if err != nil || now.Answer.Sign != s {
			rt.Fatalf("%+v of %s %s: %v", a, r.Risk, r.Kind, err)
		}
		if end := <-got; end.err != nil || end.answer.Allow && a.Allow && grave && end.answer.Sign == sign.None {
			rt.Fatalf("%+v", end)
		}
	})
}

// TestModelHasNoSign: a judge that would allow a critical call settles nothing, in the queue and where nobody waits.
func TestModelHasNoSign(t *testing.T) {
	q := newQueue(t, Options{Judge: judges(func(context.Context, Request) (Verdict, error) {
		return Verdict{Allow: true, Confidence: 1, By: "model"}, nil
	})})
	r := question(makeIt)
	r.Risk = policy.Critical
	if a, ok := q.Consult(t.Context(), r); ok {
		t.Errorf("asked alone, the model allowed it: %+v", a)
	}
	got := ask(t.Context(), q, r)
	waits := seen(t, q, "waits for a person", func(r Request) bool { return r.State == Pending && r.Opinion != "" })
	if !strings.Contains(waits.Opinion, "second sign") {
		t.Errorf("the model's opinion: %q", waits.Opinion)
	}
	if _, err := q.Settle(t.Context(), waits.ID, yes("kimu"), sign.Sure); err != nil {
		t.Fatal(err)
	}
	if end := <-got; !end.answer.Allow || end.answer.By != "kimu" || end.answer.Sign != sign.Sure {
		t.Errorf("%+v", end)
	}
	r.Risk = policy.High
	if a, ok := q.Consult(t.Context(), r); !ok || !a.Allow {
		t.Errorf("what is not critical: %+v %t", a, ok)
	}
}

// TestOneWayToAllow: in the source of the queue, only Settle and expire end a request, only Settle and the judge's verdict can allow one,
// and no other package has a list of what is critical.
func TestOneWayToAllow(t *testing.T) {
	for _, fn := range callersOf(t, ".", "finish") {
		if fn != "Settle" && fn != "expire" {
			t.Errorf("%s ends requests: it must go through Settle, which demands the sign", fn)
		}
	}
	if list := callersOf(t, ".", "finish"); !slices.Contains(list, "Settle") || !slices.Contains(list, "expire") {
		t.Errorf("the test is blind: %v", list)
	}
	for _, dir := range []string{"terminal", "telegram", "judge", "../gate", "../node", "../web", "../../cmd/myc/internal"} {
		for file, names := range comparisons(t, dir) {
			if slices.Contains(colours, filepath.ToSlash(file)) {
				continue
			}
			t.Errorf("%s compares a risk with %v: what demands a second sign is said by Request.Demand", file, names)
		}
	}
}

// colours are files that compare a risk for another reason: how it is drawn, and the demand for a passkey, which goes beyond the sign.
var colours = []string{"terminal/view.go", "../web/passkey/passkey.go"}

// callersOf are the functions of a package that call a method.
func callersOf(t *testing.T, dir, method string) (out []string) {
	t.Helper()
	for _, f := range parsed(t, dir) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if c, is := n.(*ast.CallExpr); is {
					if s, is := c.Fun.(*ast.SelectorExpr); is && s.Sel.Name == method {
						out = append(out, fn.Name.Name)
					}
				}
				return true
			})
		}
	}
	return out
}

// comparisons are the places below a folder that compare something with policy.Critical.
func comparisons(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for file, f := range parsed(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			if b, is := n.(*ast.BinaryExpr); is && (b.Op == token.EQL || b.Op == token.NEQ) {
				for _, x := range []ast.Expr{b.X, b.Y} {
					if s, is := x.(*ast.SelectorExpr); is && s.Sel.Name == "Critical" {
						if p, is := s.X.(*ast.Ident); is && p.Name == "policy" {
							out[file] = append(out[file], "policy.Critical")
						}
					}
				}
			}
			return true
		})
	}
	return out
}

// parsed are the files below a folder that are not tests; of "." those of this package only.
func parsed(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && dir == "." && path != ".":
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		out[path] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
