package policy

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// benchSource is a project of 10,000 tools and 1,000 rules: 50 servers of 200 tools, 40 skills, 20 roles, and rules of which
// most concern one tool, some a server, a few everything.
func benchSource() Source {
	src := Source{Dir: "/work/project", Home: "/home/dev"}
	for s := range 50 {
		for t := range 200 {
			src.Catalog = append(src.Catalog, Definition{Item: Item{Server: fmt.Sprintf("server%d", s), Name: fmt.Sprintf("tool_%d", t)}})
		}
	}
	for i := range 40 {
		g := Grant{Name: fmt.Sprintf("skill%d", i)}
		for r := range 20 {
			g.AllowedRoles = append(g.AllowedRoles, fmt.Sprintf("role%d", r))
		}
		g.AllowedTools = []string{fmt.Sprintf("server%d__*", i), fmt.Sprintf("server%d__*", (i+1)%50), fmt.Sprintf("server%d__tool_1", (i+2)%50)}
		src.Grants = append(src.Grants, g)
	}
	glob := func(s string) Values { return Values{{Glob: &s}} }
	for i := range 1000 {
		r := Rule{Name: fmt.Sprintf("rule%d", i), Action: []string{"deny", "ask", "allow"}[i%3]}
		switch {
		case i < 6:
			r.Tool = Names{"*"}
			r.Match = map[string]Values{"path": glob(fmt.Sprintf("**/secret%d/**", i))}
		case i < 100:
			r.Tool = Names{fmt.Sprintf("server%d__*", i%50)}
			r.Role = Names{fmt.Sprintf("role%d", i%20)}
			r.Match = map[string]Values{"path": glob(fmt.Sprintf("src/area%d/**", i))}
		default:
			r.Tool = Names{fmt.Sprintf("server%d__tool_%d", i%50, i%200)}
			r.Args = map[string]Values{"mode": glob("x*")}
		}
		src.Rules = append(src.Rules, r)
	}
	return src
}

func benchCall(p *Policy, tool string) Call {
	it, _ := ParseTool(tool)
	args := Args{"path": "src/area7/file.go", "mode": "abc"}
	f := ArgFacts(it, Annotations{"readOnlyHint": it.Server != "server11"}, args, "/work/project")
	for i := range f.Parts[0].Paths {
		f.Parts[0].Paths[i].Resolved = f.Parts[0].Paths[i].Clean
	}
	skills := p.StartSkills("role3")[:12]
	return Call{Scope: Scope{Principal: Principal{ID: "p", Role: "role3"}, Skills: skills}, Item: it, Args: args, Facts: f}
}

// batch is how many decisions one timing covers.
const batch = 100

func BenchmarkDecide(b *testing.B) {
	p, probs := New(benchSource())
	if len(probs) > 0 {
		b.Fatal(probs)
	}
	for _, bc := range []struct{ name, tool, effect string }{
		{"path", "server14__tool_20", "allow"}, {"rules", "server10__tool_10", "allow"}, {"unknown-tool", "server11__tool_20",
			"allow"}, {"hidden", "server49__tool_9", "unknown"}, {"absent", "server49__nothing", "unknown"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			c := benchCall(p, bc.tool)
			if x := p.Explain(c); x.Effect != bc.effect {
				b.Fatal(x)
			}
			b.ReportAllocs()
			// The median of batches that are shorter than a time slice is what the machine's other work leaves alone.
			var batches []float64
			for b.Loop() {
				start := time.Now()
				for range batch {
					p.Decide(c)
				}
				batches = append(batches, float64(time.Since(start))/batch)
			}
			slices.Sort(batches)
			b.ReportMetric(batches[len(batches)/2], "median-ns/decision")
		})
	}
}

func BenchmarkItems(b *testing.B) {
	p, _ := New(benchSource())
	s := Scope{Principal: Principal{ID: "p", Role: "role3"}, Skills: p.StartSkills("role3")}
	if n := len(p.Items(s, Tool)); n < 8000 {
		b.Fatal(n)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Items(s, Tool)
	}
}

func BenchmarkNew(b *testing.B) {
	src := benchSource()
	for b.Loop() {
		New(src)
	}
}
