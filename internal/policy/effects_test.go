package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryEffectIsWhole: an effect of the vocabulary has one row with every part, and docs/shell.md has the same words.
func TestEveryEffectIsWhole(t *testing.T) {
	doc, err := os.ReadFile("../../docs/shell.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range Effects() {
		names = append(names, e.Name)
		if e.Name == "" || len(e.Does) < 8 || len(e.Matters) < 15 || !e.Risk.Known() || e.Category == "" {
			t.Errorf("effect %+v lacks a part", e)
		}
		if got, known := EffectNamed(e.Name); !known || got != e {
			t.Errorf("effect %s is there twice", e.Name)
		}
		if row := "| `" + e.Name + "` | " + strings.ReplaceAll(e.Does+e.Like, "|", `\|`) + " | " + string(e.Risk) +
			" |\n"; !strings.Contains(string(doc), row) {
			t.Errorf("docs/shell.md has no row\n%s", row)
		}
	}
	if declared := effectConstants(t); !slices.Equal(declared, slices.Sorted(slices.Values(names))) {
		t.Errorf("the constants are\n%v, the rows\n%v", declared, slices.Sorted(slices.Values(names)))
	}
	if e, known := EffectNamed("teleport"); known || e.Risk != Critical || e.Category == "" {
		t.Errorf("an effect that nobody knows: %+v", e)
	}
}

// effectConstants are the values of the constants Effect… of effects.go, sorted.
func effectConstants(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "effects.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Effect") && len(v.Values) == 1 {
			s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return true
	})
	slices.Sort(out)
	return out
}

func TestRisksAreOrdered(t *testing.T) {
	for i, a := range risks {
		for j, b := range risks {
			if got := a.Max(b); got != risks[max(i, j)] {
				t.Errorf("%s and %s: %s", a, b, got)
			}
		}
		if a.Max("none") != Critical || Risk("none").Max(a) != Critical {
			t.Errorf("%s and a word that is no risk", a)
		}
	}
}
