package facts

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// The members that a hook adds to the arguments of an agent's own tool; package harness has the same names and says what they mean.
const (
	globPaths     = "globPaths"
	unknownFields = "unknownFields"
)

// fieldFacts adds to the first part of the facts what a hook found in the other arguments: the globs of files that a search reads, and
// the arguments that nobody knows, with which the call is unclear.
func fieldFacts(f *policy.Facts, args policy.Args) {
	part := &f.Parts[0]
	for _, glob := range list(args[globPaths]) {
		clean := glob
		if !path.IsAbs(glob) {
			clean = globs.Quote(f.Dir) + "/" + glob
		}
		if i := strings.IndexAny(clean, `*?[{`); i >= 0 && slices.Contains(strings.Split(clean[i:], "/"), "..") {
			unclear(part, "the glob "+glob+" leaves a folder that is not named")
			continue
		}
		part.Paths = append(part.Paths, policy.Path{Access: policy.Read, Raw: glob, Clean: path.Clean(clean),
			Pattern: globs.Has(glob)})
	}
	if unknown := list(args[unknownFields]); len(unknown) > 0 {
		unclear(part, "arguments that are not known: "+strings.Join(unknown, ", "))
	}
}

func unclear(part *policy.Part, why string) {
	part.Unclear = append(part.Unclear, why)
	if !slices.Contains(part.Effects, policy.EffectUnclear) {
		part.Effects = append(part.Effects, policy.EffectUnclear)
	}
}

// list returns the texts of an argument. Anything else in it is a text too, so that nothing is left out.
func list(v any) (texts []string) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, e := range v {
			texts = append(texts, fmt.Sprint(e))
		}
	default:
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}
