package skill

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/policy"
	"mycelium/internal/skill/intent"
)

// Library is an immutable set of validated skills.
type Library struct {
	skills  []Checked
	grants  []policy.Grant
	valid   map[string]int       // name → index of the skill with that name
	intents func() *intent.Index // made when it is first used: most commands read no text
}

// Validate checks skills against a catalog. A skill with an unknown or malformed tool is invalid as a whole. Two skills of one name (the
// user's and the project's) both bound the grant, so if one of them does not take effect, neither does.
func Validate(skills []Skill, c Catalog) *Library {
	ix := newIndex(c)
	l := &Library{valid: map[string]int{}}
	missing := make([]map[string]bool, len(skills))
	for i := range skills {
		s := skills[i]
		ck := &check{index: ix, skill: &s, missing: map[string]bool{}}
		ck.run()
		missing[i] = ck.missing
		l.skills = append(l.skills, Checked{Skill: s, State: ck.state(), Problems: ck.problems, Waits: ck.pendings})
	}
	l.bindNamesakes()
	for i := range l.skills {
		if s := &l.skills[i]; s.State == Valid {
			l.grants = append(l.grants, effective(s.Grant, missing[i]))
		}
	}
	slices.SortStableFunc(l.skills, func(a, b Checked) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(l.grants, func(a, b policy.Grant) int { return strings.Compare(a.Name, b.Name) })
	var said []intent.Skill
	for i := range l.skills {
		s := &l.skills[i]
		if s.State != Valid {
			continue
		}
		l.valid[s.Name] = i // the last of a name, which is the project's
		said = append(said, intent.Skill{Name: s.Name, Description: s.Description, Triggers: s.Triggers})
	}
	l.intents = sync.OnceValue(func() *intent.Index { return intent.New(said) })
	return l
}

// bindNamesakes gives skills of one name the worst of their states.
func (l *Library) bindNamesakes() {
	worst := map[string]int{}
	for i := range l.skills {
		s := &l.skills[i]
		if j, ok := worst[s.Name]; !ok || rank(s.State) > rank(l.skills[j].State) {
			worst[s.Name] = i
		}
	}
	for i := range l.skills {
		s := &l.skills[i]
		if w := &l.skills[worst[s.Name]]; s.State != w.State {
			s.State = w.State
			s.Problems = append(s.Problems,
				s.at("name").problem(fmt.Sprintf("the skill %q of %s is %s, and this one of the same name is bounded by it", s.Name, w.File, w.State),
					"mend that one, or give this one another name"))
		}
	}
}

func rank(s State) int {
	switch s {
	case Valid:
		return 0
	case Pending:
		return 1
	default:
		return 2
	}
}

// effective returns a grant without the optional entries that match nothing, and without the marks of the others.
func effective(g policy.Grant, missing map[string]bool) policy.Grant {
	strip := func(list []string) []string {
		if list == nil {
			return nil
		}
		out := make([]string, 0, len(list))
		for _, entry := range list {
			if !missing[entry] {
				out = append(out, strings.TrimPrefix(entry, "?"))
			}
		}
		return out
	}
	g.AllowedTools, g.AllowedResources, g.AllowedPrompts = strip(g.AllowedTools), strip(g.AllowedResources), strip(g.AllowedPrompts)
	g.AllowedRoles = slices.Clone(g.AllowedRoles)
	return g
}

// All returns all skills, sorted by name, with the invalid ones, for the operator.
func (l *Library) All() []Checked { return slices.Clone(l.skills) }

// Grants returns the grants of the valid skills, without optional tools that do not exist.
func (l *Library) Grants() []policy.Grant { return slices.Clone(l.grants) }

// Expected are the roles that pending skills name. They exist before the servers of these skills have been started.
func (l *Library) Expected() []string {
	var out []string
	for _, s := range l.skills {
		if s.State == Pending {
			out = append(out, s.AllowedRoles...)
		}
	}
	return out
}

// Pending returns the skills that take effect once a server has said what it offers.
func (l *Library) Pending() []Checked {
	return slices.DeleteFunc(l.All(), func(s Checked) bool { return s.State != Pending })
}

// Skill returns a valid skill by name.
func (l *Library) Skill(name string) (*Skill, bool) {
	i, ok := l.valid[name]
	if !ok {
		return nil, false
	}
	s := l.skills[i].Skill
	return &s, true
}

// Count returns the number of skills in each state.
func (l *Library) Count() map[State]int {
	out := map[State]int{Valid: 0, Invalid: 0, Pending: 0}
	for _, s := range l.skills {
		out[s.State]++
	}
	return out
}
