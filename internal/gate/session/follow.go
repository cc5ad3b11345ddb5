package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/gate/view"
	"mycelium/internal/skill/intent"
)

// Followed is what a text that a person said changed in a session.
type Followed struct {
	Added   []string // skills that became active, sorted
	Removed []string // skills that are no longer active, sorted
	Wanted  []string // skills that the text asks for and that become active only when a person says so
}

// Follow changes the active skills as a text asks (B2): a skill that the text asks for becomes active, if the mode of promotion leaves
// that to the policy. If the text also says that the work before it is done, and a new skill becomes active, the skills of that work are
// deactivated first (B13, B16). A skill of the start set stays, as does one that the text asks for.
func (r *Registry) Follow(ctx context.Context, s *Session, said string) (Followed, error) {
	sc := s.Snapshot()
	if sc.World.Broken != "" {
		return Followed{}, nil
	}
	in := sc.World.Skills.Intent(said, sc.Open)
	var out Followed
	var add, because []string
	for _, hit := range in.Wanted {
		switch {
		case slices.Contains(sc.Scope.Skills, hit.Skill):
		case sc.mayAdd(hit.Skill, ByPrompt, nil) == nil:
			add = append(add, hit.Skill)
			because = append(because, fmt.Sprintf("%s %.1f (%s)", hit.Skill, hit.Score, strings.Join(hit.Matched, ", ")))
		case sc.Promotion() == view.PromoteConfirm && !sc.Removed(hit.Skill):
			out.Wanted = append(out.Wanted, hit.Skill)
		}
	}
	if len(add) == 0 {
		return out, nil
	}
	sw, err := r.changeSkills(ctx, s, ByPrompt, strings.Join(because, "; "), nil, func(now *Snapshot) ([]string, []string) {
		if !in.Ends {
			return add, nil
		}
		return add, now.promoted(in.Wanted)
	})
	if err != nil {
		return out, err
	}
	out.Added, out.Removed = Difference(sw.Before.Scope.Skills, sw.After.Scope.Skills)
	return out, nil
}

// promoted returns the active skills outside of the start set that are not among the wanted ones.
func (sc *Snapshot) promoted(wanted []intent.Suggestion) []string {
	var out []string
	for _, name := range sc.Scope.Skills {
		isWanted := slices.ContainsFunc(wanted, func(w intent.Suggestion) bool { return w.Skill == name })
		if !isWanted && !slices.Contains(sc.Fixed, name) {
			out = append(out, name)
		}
	}
	return out
}
