// Package risk says how much harm a call could do.
package risk

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Assess returns the risk and the category of a call. It uses the facts of the call, the hints of the server that the operator trusts,
// and whole words of the names: server "shell" with tool "exec" runs commands, tool "mutex_exec_plan" does not. In doubt it returns the
// higher risk. Assess does not decide whether the call runs, but no model alone may allow a critical call.
func Assess(it policy.Item, notes policy.Annotations, f policy.Facts) (risk policy.Risk, category string) {
	if it.Server == policy.AgentServer && it.Name == "Bash" {
		return assessCommand(f)
	}
	own := it.Server == policy.AgentServer || it.Server == "files" // their facts come from the table of known tools and are not guessed
	kind := policy.KindOf(it)
	category, acts := kind.Category, kind.Acts
	if own && it.Kind == policy.Tool {
		category, acts = ownCategory(f)
	}
	readOnly := notes["readOnlyHint"]
	switch {
	case category == policy.CategoryShell && !readOnly:
		risk = policy.Critical // an argument says what runs, and it was not analyzed
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
		if own && writesOutside(f.Dir, p.Paths) {
			risk = policy.Critical
		}
	}
	return risk, category
}

// assessCommand assesses a shell command by its facts. The worst part counts. A command without facts was not analyzed.
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
		unclear := len(p.Unclear) > 0 || slices.Contains(p.Effects, policy.EffectUnclear)
		switch hidden := p.Program == "" || slices.Contains(p.Effects, policy.EffectInlineCode); {
		case unclear && hidden:
			risk = policy.Critical // it runs code that was not analyzed
		case unclear:
			risk = risk.Max(policy.High)
		}
		if writesOutside(f.Dir, p.Paths) {
			risk = policy.Critical
		}
	}
	return risk, category
}

// riskOf returns the risk of an effect.
func riskOf(effect string) policy.Risk {
	info, _ := policy.EffectNamed(effect)
	return info.Risk
}

// writesOutside reports whether a path is changed outside of the working directory and the folders for temporary files.
func writesOutside(dir string, paths []policy.Path) bool {
	for _, p := range paths {
		if p.Access != policy.Write && p.Access != policy.Delete {
			continue
		}
		for _, form := range []string{p.Clean, p.Resolved} {
			if form != "" && !below(form, dir) && !below(form, "/tmp") && !below(form, "/var/tmp") && form != "/dev/null" {
				return true
			}
		}
		if p.Clean == "" { // relative to an unknown folder
			return true
		}
	}
	return false
}

// below reports whether an absolute clean path is dir or lies in it. It reports false if dir is empty.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir != "" && (path == dir || strings.HasPrefix(path, dir+"/"))
}

// ownCategory returns the category of an agent's own tool or a tool of the built-in files server, from its facts. acts is false if the
// tool only reads.
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
