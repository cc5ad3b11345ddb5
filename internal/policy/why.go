package policy

import (
	"cmp"
	"slices"
	"strings"
)

// why says to people why the fallback has decided so about a part of a call of an agent's own tool: what the call would do, why that
// matters, and what would make it run. It is read in a dialog of an agent, so it is short.
func (p *Part) why(fallback Effect) string {
	did, matters := p.would()
	s := "It would " + did + ". "
	if matters != "" {
		s += matters + ". "
	}
	switch fallback {
	case Allow:
		return s + "No rule is against it, and policy.fallback.agent is allow"
	case Ask:
		return s + "No rule allows it, so it runs if a person says yes"
	default:
		return s + "No rule allows it, and policy.fallback.agent is deny: it runs once a rule allows it"
	}
}

// everyday are the effects that nearly every command has. They are told only of a part that has no other.
var everyday = []string{EffectRead, EffectWrite, EffectDelete, EffectExecute, EffectUnclear}

// would says what a part would do, to be read after "would", and why that matters: of the effect with the greatest risk, and of the first
// where there are several.
func (p *Part) would() (did, matters string) {
	var told []string
	worst := EffectTraits{Risk: Low}
	for _, name := range p.Effects {
		if slices.Contains(everyday, name) {
			continue
		}
		e, known := EffectNamed(name)
		if !known {
			e.Does, e.Matters = "do what is called "+name, "Nobody has said what that means"
		}
		told = append(told, e.Does)
		if worst.Matters == "" || e.Risk.Max(worst.Risk) != worst.Risk {
			worst = e
		}
	}
	if len(p.Unclear) > 0 {
		e, _ := EffectNamed(EffectUnclear)
		told = append(told, e.Does+" ("+p.Unclear[0]+")")
		worst.Matters = cmp.Or(worst.Matters, e.Matters)
	}
	switch {
	case len(told) > 0:
	case len(p.Paths) > 0:
		return p.touch()
	case p.Program != "":
		e, _ := EffectNamed(EffectExecute)
		return "run " + p.Program, e.Matters
	default:
		return "use this tool", ""
	}
	return listed(told), worst.Matters
}

// touch is would for a part that does nothing but read, change or run files. It tells of its first path that is changed, or else of the
// first one.
func (p *Part) touch() (did, matters string) {
	at := p.Paths[0]
	if i := slices.IndexFunc(p.Paths, func(p Path) bool { return p.Access == Write || p.Access == Delete }); i >= 0 {
		at = p.Paths[i]
	}
	e, _ := EffectNamed(string(at.Access))
	if at.Access == Execute {
		e.Does = "run"
	}
	verb, _, _ := strings.Cut(e.Does, " ")
	return verb + " " + orElse(at.Clean, at.Raw), e.Matters
}

// listed joins words for people: a, b and c.
func listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return words[0]
}
