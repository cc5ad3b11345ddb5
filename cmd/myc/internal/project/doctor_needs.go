package project

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/skill/need"
	"mycelium/internal/text"
)

// doctorNeeds reports what skills require and this machine does not have, in one line: a skill takes effect without it.
func doctorNeeds(ctx context.Context, v *project.View, add base.Report) {
	lacks := need.Look(ctx, v.Skills.All())
	if len(lacks) == 0 {
		return
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(lacks)) {
		var names []string
		for _, l := range lacks[name] {
			names = append(names, l.String())
		}
		said = append(said, name+" ("+strings.Join(names, ", ")+")")
	}
	add("warning", "skills", fmt.Sprintf("%s %s what is not on this machine: %s", text.Count(len(said), "skill"),
		text.Plural(len(said), "uses", "use"), strings.Join(said, "; ")),
		"myc skill validate says how to install each; without it, the skills cannot do all that they say")
}
