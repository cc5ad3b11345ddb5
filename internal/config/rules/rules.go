// Package rules reads the files of a project with rules and with policies in words. It also writes what people add to them in answers:
// rules and policies at the end of a file, which otherwise keeps its bytes.
package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// document is a rules file. The defaults section is ClaudeCube's.
type document struct {
	Version  any           `yaml:"version" about:"1; ClaudeCube writes \"1\""`
	Rules    []policy.Rule `yaml:"rules" about:"in the order in which they are tried"`
	Defaults *struct {
		Unmatched string   `yaml:"unmatched"`
		MaxBudget *float64 `yaml:"max_budget_per_agent"`
		MaxTurns  *int     `yaml:"max_turns_per_agent"`
	} `yaml:"defaults" about:"what happens where no rule decides"`
}

// Document is the type into which a rules file is read.
func Document() reflect.Type { return reflect.TypeFor[document]() }

// File is a rules file. What its defaults say may only narrow.
type File struct {
	Rules    []policy.Rule
	Fallback policy.Fallback // of defaults.unmatched
	Budget   float64         // of defaults.max_budget_per_agent: US dollars of a session; 0: no bound
	Turns    int             // of defaults.max_turns_per_agent: answers of the model in a session; 0: no bound
}

// Parse reads a rules file. name is its path as shown. It returns no File if the text cannot be read. If a problem is a fault, the file
// could have restricted anything.
func Parse(name string, data []byte) (*File, []policy.Problem) {
	var doc document
	parsed, problems := yamlfile.Read(name, data)
	if parsed != nil && !source.Faulty(problems) {
		problems = append(problems, parsed.Decode(nil, &doc)...)
	}
	if source.Faulty(problems) {
		return nil, problems
	}
	if doc.Version != nil && fmt.Sprint(doc.Version) != "1" {
		return nil, append(problems, source.Fault(name, yamlfile.Line(data, "$.version"),
			fmt.Sprintf("version %v is not known", doc.Version), "write version: 1"))
	}
	f := &File{}
	problems = append(problems, f.takeDefaults(name, data, &doc)...)
	for i, r := range doc.Rules {
		r.File, r.Line = name, parsed.Line(fmt.Sprintf("$.rules[%d]", i))
		f.Rules = append(f.Rules, r)
	}
	return f, problems
}

// takeDefaults reads ClaudeCube's defaults: unmatched is the fallback, and the two bounds are those of a session.
func (f *File) takeDefaults(name string, data []byte, doc *document) (problems []policy.Problem) {
	if doc.Defaults == nil {
		return nil
	}
	problems = f.takeBounds(name, data, value(doc.Defaults.MaxBudget), value(doc.Defaults.MaxTurns))
	line := yamlfile.Line(data, "$.defaults.unmatched")
	switch u := doc.Defaults.Unmatched; u {
	case "":
	case "deny", "allow", "escalate", "ask":
		effect := u
		if u == "escalate" {
			effect = "ask"
		}
		f.Fallback = policy.Fallback{MCP: effect, Agent: effect}
		problems = append(problems, source.Warning(name, line, "defaults.unmatched: "+u+" is read as policy.fallback "+effect+
			", where that is stricter", "write policy.fallback in "+source.MainFile+"; myc config migrate shows the present form"))
	default:
		problems = append(problems, source.Fault(name, line, "defaults.unmatched is "+strconv.Quote(u),
			"write deny, ask or allow (escalate is ask)"))
	}
	return problems
}

// takeBounds takes over the bounds of a session.
func (f *File) takeBounds(name string, data []byte, budget float64, turns int) (problems []policy.Problem) {
	f.Budget, f.Turns = budget, turns
	for _, b := range []struct {
		key, ours string
		written   float64
	}{{"max_budget_per_agent", "agents.budget.session", budget}, {"max_turns_per_agent", "agents.turns", float64(turns)}} {
		line := yamlfile.Line(data, "$.defaults."+b.key)
		switch {
		case !(b.written >= 0 && b.written <= MostOfABound):
			problems = append(problems, source.Fault(name, line, fmt.Sprintf("defaults.%s is %v", b.key, b.written),
				"write a number above 0; 0 is no bound"))
		case b.written > 0:
			problems = append(problems, source.Warning(name, line, fmt.Sprintf("defaults.%s: %v is read as %s, where that is not smaller", b.key,
				b.written, b.ours), "myc config migrate shows the present form"))
		}
	}
	return problems
}

// MostOfABound is the largest bound of a session, in US dollars and in turns. Larger values are mistakes.
const MostOfABound = 1e6

// value is what p points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Effects are the effects in files, from the strictest to the widest.
var Effects = []string{"deny", "ask", "allow"}

// Stricter is the stricter of two effects. An empty one does not count.
func Stricter(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	case slices.Index(Effects, b) < slices.Index(Effects, a):
		return b
	default:
		return a
	}
}
