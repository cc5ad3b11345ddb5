package plan

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/swarm/verify"
	"mycelium/internal/text"
)

// The limits of a plan. The length of a description is that of row CX15 of the requirements, that of an id of row C100.
const (
	MaxFeatures    = 200
	maxID          = 64
	maxDescription = 2000 // characters
	maxDetails     = 20000
	maxName        = 64 // of a role or a skill
	maxList        = 100
	maxPath        = 512
	maxEstimate    = 7 * 24 * 60 // minutes
)

// NoProtocols is the reason why protocolBindings and includeProtocols are refused.
const NoProtocols = "protocols do not exist yet, so nothing would follow them"

// checker collects the problems of a plan. at gives the place of a feature's field, where there is one.
type checker struct {
	problems []policy.Problem
	programs []string // see [Plan]
	at       func(feature int, field string) (file string, line int)
}

func (c *checker) report(feature int, field, hint, format string, args ...any) {
	p := policy.Problem{Message: text.Flatten(fmt.Sprintf(format, args...)), Hint: text.Flatten(hint)}
	if c.at != nil {
		p.File, p.Line = c.at(feature, field)
	}
	c.problems = append(c.problems, p)
}

// New makes a plan of features. A feature without an id gets one: feature-N. The problems are the reasons why there is no plan: an id
// that is none or that comes twice, a dependency that is unknown, on itself, or part of a circle, a text that is too long, a file
// outside the project, too many features, a verifyCommand that is neither of the list nor of the programs that a person has allowed.
func New(features []Feature, programs ...string) (Plan, []policy.Problem) {
	c := &checker{programs: programs}
	return c.plan(features), c.problems
}

func (c *checker) plan(features []Feature) Plan {
	if len(features) == 0 {
		c.report(0, "", "write a line for each feature", "the plan has no features")
		return Plan{}
	}
	if len(features) > MaxFeatures {
		c.report(MaxFeatures, "", "divide it into several sessions", "the plan has %d features, and %d is the limit", len(features), MaxFeatures)
		return Plan{}
	}
	p := Plan{Features: slices.Clone(features), Programs: c.programs}
	p.name()
	seen := map[string]bool{}
	for i, f := range p.Features {
		c.texts(i, f)
		if seen[f.ID] {
			c.report(i, "id", "give each feature its own id", "feature %s: the id is used twice", quoted(f.ID))
		}
		seen[f.ID] = true
	}
	for i, f := range p.Features {
		c.dependencies(i, f, p)
	}
	if len(c.problems) == 0 {
		if circle := p.circle(); circle != nil {
			c.report(p.index(circle[0]), "dependsOn", "remove one of these dependencies", "feature %s: its dependencies go in a circle: %s",
				circle[0], strings.Join(circle, " → "))
		}
	}
	if len(c.problems) > 0 {
		return Plan{}
	}
	return p
}

// name gives an id to each feature that has none: its number, or the next one that is free.
func (p Plan) name() {
	taken := map[string]bool{}
	for _, f := range p.Features {
		taken[f.ID] = true
	}
	for i := range p.Features {
		for n := i + 1; p.Features[i].ID == ""; n++ {
			if id := fmt.Sprintf("feature-%d", n); !taken[id] {
				p.Features[i].ID, taken[id] = id, true
			}
		}
	}
}

// quoted is an id for a message: people see what is there, and not more than fits.
func quoted(id string) string {
	if isID(id) {
		return id
	}
	return fmt.Sprintf("%q", text.TruncateRunes(id, maxID))
}

func isID(id string) bool {
	return id != "" && len(id) <= maxID && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// texts checks what a feature says about itself alone.
func (c *checker) texts(i int, f Feature) {
	id := quoted(f.ID)
	if !isID(f.ID) {
		c.report(i, "id", "use letters, digits, - and _, at most 64", "feature %s: the id is not valid", id)
	}
	for _, t := range []struct {
		field, value string
		most         int
	}{{"description", f.Description, maxDescription}, {"details", f.Details, maxDetails}, {"role", f.Role, maxName}} {
		switch n := utf8.RuneCountInString(t.value); {
		case !utf8.ValidString(t.value) || strings.ContainsRune(t.value, 0):
			c.report(i, t.field, "save the plan as UTF-8", "feature %s: its %s is not text", id, t.field)
		case n > t.most:
			c.report(i, t.field, "shorten it, or divide the feature", "feature %s: its %s has %d characters, and %d is the limit", id, t.field,
				n, t.most)
		}
	}
	if strings.TrimSpace(f.Description) == "" {
		c.report(i, "description", "say in a sentence what is to be done", "feature %s: it has no description", id)
	}
	for _, l := range []struct {
		field  string
		values []string
		most   int
	}{{"skills", f.Skills, maxName}, {"files", f.Files, maxPath}, {"dependsOn", f.DependsOn, math.MaxInt}} {
		if len(l.values) > maxList {
			c.report(i, l.field, "", "feature %s: its %s has %d entries, and %d is the limit", id, l.field, len(l.values), maxList)
		}
		for _, v := range l.values {
			if v == "" || len(v) > l.most || !utf8.ValidString(v) {
				c.report(i, l.field, "", "feature %s: %q in its %s is empty or too long", id, text.TruncateRunes(v, maxID), l.field)
			}
		}
	}
	for _, file := range f.Files {
		if !IsFile(file) {
			c.report(i, "files", "write it relative to the project", "feature %s: the file %q is not a path in the project", id,
				text.TruncateRunes(file, maxID))
		}
	}
	c.figures(i, id, f)
	c.route(i, id, f.Route)
}

// IsFile reports whether a text can be a path in the project.
func IsFile(file string) bool {
	clean := path.Clean(file)
	return file != "" && len(file) <= maxPath && utf8.ValidString(file) && !path.IsAbs(file) && clean != ".." &&
		!strings.HasPrefix(clean, "../") && !strings.ContainsAny(file, "\\\x00\n")
}

func (c *checker) figures(i int, id string, f Feature) {
	for _, n := range []struct {
		field string
		value float64
		most  float64
	}{{"estimate", float64(f.Estimate), maxEstimate}, {"budget", f.Budget.USD, math.MaxFloat64}, {"budget", float64(f.Budget.Tokens),
		math.MaxInt64},
		{"budget", float64(f.Budget.Minutes), math.MaxInt32}} {
		if !(n.value >= 0 && n.value <= n.most) { // also what is not a number
			c.report(i, n.field, "", "feature %s: its %s is out of range: %v", id, n.field, n.value)
		}
	}
	c.validation(i, id, f.Validation)
}

func (c *checker) validation(i int, id string, v *Validation) {
	if v == nil {
		return
	}
	if !(v.CoverageTarget >= 0 && v.CoverageTarget <= 100) {
		c.report(i, "validation", "write it in percent", "feature %s: its coverageTarget is out of range: %v", id, v.CoverageTarget)
	}
	if len(v.VerifyCommand) > 0 {
		if err := verify.Refuse(v.VerifyCommand, c.programs); err != nil {
			c.report(i, "validation", text.HintOf(err), "feature %s: its verifyCommand: %v", id, err)
			return
		}
	}
	if v.CoverageTarget > 0 {
		if _, err := verify.Measured(v.VerifyCommand); err != nil {
			c.report(i, "validation", text.HintOf(err), "feature %s: its coverageTarget: %v", id, err)
		}
	}
}

func (c *checker) dependencies(i int, f Feature, p Plan) {
	id := quoted(f.ID)
	for n, on := range f.DependsOn {
		switch {
		case on == f.ID:
			c.report(i, "dependsOn", "remove it", "feature %s: it depends on itself", id)
		case p.index(on) < 0:
			hint := "the features are " + strings.Join(p.ids(), ", ")
			if near := text.Nearest(on, p.ids()); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			c.report(i, "dependsOn", text.TruncateRunes(hint, 200), "feature %s: it depends on %s, which is not in the plan", id, quoted(on))
		case slices.Contains(f.DependsOn[:n], on):
			c.report(i, "dependsOn", "keep one of them", "feature %s: it depends on %s twice", id, on)
		}
	}
}

// circle is a way along dependencies that ends where it begins, or nil. Every dependency is known.
func (p Plan) circle() []string {
	at := map[string]int{}
	for i, f := range p.Features {
		at[f.ID] = i
	}
	const (
		walking = 1
		walked  = 2
	)
	state := make([]int, len(p.Features))
	var way []string
	var visit func(i int) []string
	visit = func(i int) []string {
		f := p.Features[i]
		way = append(way, f.ID)
		state[i] = walking
		for _, on := range f.DependsOn {
			switch state[at[on]] {
			case walking:
				return append(slices.Clone(way[slices.Index(way, on):]), on)
			case walked:
				continue
			}
			if found := visit(at[on]); found != nil {
				return found
			}
		}
		way = way[:len(way)-1]
		state[i] = walked
		return nil
	}
	for i := range p.Features {
		if state[i] == 0 {
			if found := visit(i); found != nil {
				return found
			}
		}
	}
	return nil
}

// Add returns the plan with one more feature: behind the feature after, or at the end if that is empty. If it has no id it gets one.
func (p Plan) Add(f Feature, after string) (Plan, error) {
	at := len(p.Features)
	if after != "" {
		if at = p.index(after) + 1; at == 0 {
			return Plan{}, p.unknown(after)
		}
	}
	taken := p.ids()
	for n := len(p.Features) + 1; f.ID == ""; n++ {
		if id := fmt.Sprintf("feature-%d", n); !slices.Contains(taken, id) {
			f.ID = id
		}
	}
	return p.checked(slices.Insert(slices.Clone(p.Features), at, f))
}

// Depend returns the plan in which the feature id depends on exactly the features on. An empty list clears its dependencies.
func (p Plan) Depend(id string, on []string) (Plan, error) {
	i := p.index(id)
	if i < 0 {
		return Plan{}, p.unknown(id)
	}
	features := slices.Clone(p.Features)
	features[i].DependsOn = slices.Clone(on)
	return p.checked(features)
}

func (p Plan) unknown(id string) error {
	err := fmt.Errorf("feature %s is not in the plan", quoted(id))
	if near := text.Nearest(id, p.ids()); near != "" {
		return text.Hinted(err, fmt.Sprintf("did you mean %q?", near))
	}
	return err
}

// checked is a plan or its first problem as an error.
func (p Plan) checked(features []Feature) (Plan, error) {
	p, problems := New(features, p.Programs...)
	if len(problems) > 0 {
		return Plan{}, text.Hinted(fmt.Errorf("%s", problems[0].Message), problems[0].Hint)
	}
	return p, nil
}
