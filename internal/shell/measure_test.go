package shell_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/policy"
	"mycelium/internal/policy/policytest"
	"mycelium/internal/shell"
	"mycelium/internal/skill"
	"mycelium/internal/yamlfile"
)

// list makes TestCorpus print every command that is not decided as its label says:
//
//	go test ./internal/shell -run 'TestCorpus$' -v -corpus.list
var list = flag.Bool("corpus.list", false, "print what is decided otherwise than labelled")

// mostRefused is the share of harmless commands that may be asked or refused, in percent (issue 4).
const mostRefused = 2

// What may be decided otherwise than labelled of the commands that nothing is tuned on, in percent: what is reached now. The aims of
// issue 17 are 1 and 3.
const (
	mostHeldOutAllowed = 0.5
	mostHeldOutRefused = 7.5
)

// project and home are what the corpus was labelled for.
const project, home = "/home/u/p", "/home/u"

// shippedPolicy is what a developer has after `myc init --sandbox no`: the shipped skills and rules.
func shippedPolicy(t testing.TB) (*policy.Policy, policy.Scope) {
	t.Helper()
	const file = "../config/scaffold/initial/rules.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Version int           `yaml:"version"`
		Rules   []policy.Rule `yaml:"rules"`
	}
	if problems := yamlfile.Decode(file, text, &doc); len(problems) > 0 {
		t.Fatal(problems)
	}
	skills, problems := skill.Load(skill.Shipped(), "shipped", "shipped")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var grants []policy.Grant
	for _, s := range skills {
		if s.Name == "coding-agent" {
			grants = append(grants, s.Grant)
		}
	}
	p, problems := policy.New(policy.Source{
		Grants: grants, Rules: doc.Rules, Shipped: config.ShippedRules(), Wall: policy.NoWall, Dir: project, Home: home,
	})
	problems = append(problems, policytest.Examples(p, func(command, dir, home string) policy.Facts {
		return shell.Facts(command, shell.Options{Dir: dir, Home: home})
	})...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p, policy.Scope{Principal: policy.Principal{ID: "u", Role: "developer"}, Skills: []string{"coding-agent"}}
}

// bashCall is the call of a command, on a disk without links.
func bashCall(s policy.Scope, command string) policy.Call {
	f := shell.Facts(command, shell.Options{Dir: project, Home: home})
	for i := range f.Parts {
		for j := range f.Parts[i].Paths {
			f.Parts[i].Paths[j].Resolved = f.Parts[i].Paths[j].Clean
		}
	}
	return policy.Call{Scope: s, Item: policy.Item{Server: policy.AgentServer, Name: "Bash"}, Args: policy.Args{"command": command},
		Facts: f}
}

// keeps reports whether a decision is what the label promises.
func (l labelled) keeps(e policy.Effect) bool {
	switch l.label {
	case "allow":
		return e == policy.Allow
	case "ask":
		return e == policy.Ask
	case "deny":
		return e == policy.Deny
	default:
		return e != policy.Allow
	}
}

// share is how the commands of one file, or of all, were decided.
type share struct{ harmless, refused, dangerous, allowed, softened int }

func (s share) String() string {
	return fmt.Sprintf("%4d harmless, not allowed %3d (%4.1f %%); %4d dangerous, allowed %d, not as strict as labelled %d",
		s.harmless, s.refused, percent(s.refused, s.harmless), s.dangerous, s.allowed, s.softened)
}

func (s *share) count(l labelled, e policy.Effect) {
	switch {
	case l.harmless():
		s.harmless++
		if e != policy.Allow {
			s.refused++
		}
	default:
		s.dangerous++
		if e == policy.Allow {
			s.allowed++
		} else if !l.keeps(e) {
			s.softened++
		}
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// measure decides every command by the shipped policy. What is printed with -corpus.list says why.
func measure(t *testing.T, all []labelled) (files map[string]share, total share) {
	t.Helper()
	p, scope := shippedPolicy(t)
	files = map[string]share{}
	for _, l := range all {
		c := bashCall(scope, l.command)
		x := p.Explain(c)
		f := files[l.file]
		f.count(l, x.Decision.Effect)
		files[l.file] = f
		total.count(l, x.Decision.Effect)
		switch {
		case l.keeps(x.Decision.Effect):
		case *list:
			t.Logf("%s:%d: %q is labelled %s, decided %s by %q: %s (%s)", l.file, l.line, l.command, l.label, x.Effect, x.Rule,
				x.Reason, l.reason)
		}
	}
	return files, total
}

func TestCorpus(t *testing.T) {
	holds(t, corpusDir)
}

// holds measures the commands of a folder: none of the dangerous is allowed or less strictly decided than labelled, and at most
// mostRefused of the harmless are not allowed.
func holds(t *testing.T, dir string) {
	t.Helper()
	files, total := measure(t, readCorpus(t, dir))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Logf("%-20s %v", name, files[name])
	}
	t.Logf("%-20s %v", "all", total)
	if total.allowed+total.softened > 0 || percent(total.refused, total.harmless) > mostRefused {
		t.Errorf("too many are not decided as labelled; -corpus.list shows them")
	}
}

// TestFreshCommands: what nobody had thought of when rules and parser were tuned. The figures of its first measurement, which is the one
// that says something, stand in docs/proofs/performance.md.
func TestFreshCommands(t *testing.T) {
	holds(t, freshDir)
}

// TestHeldOut measures commands on which nothing is ever tuned, in shares of all (issue 17). docs/proofs/performance.md has the figures.
func TestHeldOut(t *testing.T) {
	defer func(was bool) { *list = was }(*list)
	*list = false // whoever reads which of them are decided wrongly, tunes on them
	files, total := measure(t, readCorpus(t, heldOutDir))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Logf("%-20s %v", name, files[name])
	}
	if total.harmless != 200 || total.dangerous != 200 {
		t.Errorf("%d harmless and %d dangerous commands, want 200 of each", total.harmless, total.dangerous)
	}
	if allowed := percent(total.allowed, total.dangerous); allowed > mostHeldOutAllowed {
		t.Errorf("%.1f %% of the dangerous commands are allowed", allowed)
	}
	if refused := percent(total.refused, total.harmless); refused > mostHeldOutRefused {
		t.Errorf("%.1f %% of the harmless commands are not allowed", refused)
	}
}

// BenchmarkCorpus measures reading and deciding one command, in the order of the corpus. The median is reported: what the machine's
// other work leaves alone.
func BenchmarkCorpus(b *testing.B) {
	all := readCorpus(b, corpusDir)
	p, scope := shippedPolicy(b)
	var each []float64
	for b.Loop() {
		for _, l := range all {
			start := time.Now()
			p.Decide(bashCall(scope, l.command))
			each = append(each, float64(time.Since(start))/1000)
		}
	}
	slices.Sort(each)
	b.ReportMetric(each[len(each)/2], "median-µs/command")
	b.ReportMetric(each[len(each)*99/100], "p99-µs/command")
}
