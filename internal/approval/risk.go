package approval

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Assess says how much harm a call can do and what kind of call it is. It looks at what the call would do (its facts), at what the
// operator lets the server say of the tool (its hints), and at whole words of its names: server "shell" with tool "exec" runs
// commands, tool "mutex_exec_plan" does not. Where it cannot tell, it says the higher risk. It decides nothing: the policy has asked
// already. But a critical call is never for a model alone to allow.
func Assess(it policy.Item, notes policy.Annotations, f policy.Facts) (risk policy.Risk, category string) {
	if it.Server == policy.AgentServer && it.Name == "Bash" {
		return assessCommand(f)
	}
	own := it.Server == policy.AgentServer || it.Server == "files" // their facts come from the table of known tools, not from a guess
	kind := policy.KindOf(it)
	category, acts := kind.Category, kind.Acts
	if own && it.Kind == policy.Tool {
		category, acts = ownCategory(f)
	}
	readOnly := notes["readOnlyHint"]
	switch {
	case category == policy.CategoryShell && !readOnly:
		risk = policy.Critical // what runs is in an argument that nobody has read
	case category == policy.CategoryShell:
		risk = policy.High
	case (category == policy.CategoryFileWrite || category == policy.CategoryDatabase) && !readOnly:
		risk = policy.High
	case category == policy.CategoryNetwork:
		risk = policy.Medium
	case readOnly || !acts && !notes["destructiveHint"]:
		risk = policy.Low
	default:
		risk = policy.Medium
	}
	if notes["destructiveHint"] && !readOnly {
		risk = risk.Max(policy.High)
	}
	for _, p := range f.Parts {
		for _, e := range p.Effects {
			if guessed := !own && (e == policy.EffectRead || e == policy.EffectWrite || e == policy.EffectDelete); !guessed {
				risk = risk.Max(riskOf(e))
			}
		}
		if own && leaves(f.Dir, p.Paths) {
			risk = policy.Critical
		}
	}
	return risk, category
}

// assessCommand judges a shell command by its facts, part by part; the worst part counts. A command without facts was not read.
func assessCommand(f policy.Facts) (policy.Risk, string) {
	if len(f.Parts) == 0 {
		return policy.Critical, policy.CategoryShell
	}
	risk, category := policy.Low, ""
	for _, p := range f.Parts {
		kind := policy.CategoryShell
		switch {
		case slices.Contains(p.Effects, policy.EffectDatabase):
			kind = policy.CategoryDatabase
		case p.Program == "git" || p.Program == "gh" || p.Program == "hg" || p.Program == "svn":
			kind = policy.CategoryVCS
		}
		if category != "" && category != kind {
			kind = policy.CategoryShell
		}
		category = kind
		for _, e := range p.Effects {
			risk = risk.Max(riskOf(e))
		}
		unread := len(p.Unclear) > 0 || slices.Contains(p.Effects, policy.EffectUnclear)
		switch hidden := p.Program == "" || slices.Contains(p.Effects, policy.EffectInlineCode); {
		case unread && hidden:
			risk = policy.Critical // it runs what nobody has read
		case unread:
			risk = risk.Max(policy.High)
		}
		if leaves(f.Dir, p.Paths) {
			risk = policy.Critical
		}
	}
	return risk, category
}

// riskOf is the risk of an effect, as the table of effects says.
func riskOf(effect string) policy.Risk {
	info, _ := policy.EffectNamed(effect)
	return info.Risk
}

// leaves reports whether something outside the working directory and the folders for temporary files is changed.
func leaves(dir string, paths []policy.Path) bool {
	for _, p := range paths {
		if p.Access != policy.Write && p.Access != policy.Delete {
			continue
		}
		for _, form := range []string{p.Clean, p.Resolved} {
			if form != "" && !below(form, dir) && !below(form, "/tmp") && !below(form, "/var/tmp") && form != "/dev/null" {
				return true
			}
		}
		if p.Clean == "" { // relative to a folder that nobody knows
			return true
		}
	}
	return false
}

// below reports whether an absolute clean path is a folder or lies in it. In no folder lies nothing.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir != "" && (path == dir || strings.HasPrefix(path, dir+"/"))
}

// ownCategory is the category of an agent's own tool or of the built-in files server: what its facts say. One that does nothing but
// read only looks; one of which nothing is known may act.
func ownCategory(f policy.Facts) (category string, acts bool) {
	category, acts = policy.CategoryGeneral, len(f.Parts) == 0 || len(f.Parts[0].Effects) == 0
	for _, p := range f.Parts {
		for _, e := range p.Effects {
			acts = acts || e != policy.EffectRead
			switch e {
			case policy.EffectExecute:
				return policy.CategoryShell, true
			case policy.EffectWrite, policy.EffectDelete:
				category = policy.CategoryFileWrite
			case policy.EffectNetwork:
				if category == policy.CategoryGeneral {
					category = policy.CategoryNetwork
				}
			}
		}
	}
	return category, acts
}
