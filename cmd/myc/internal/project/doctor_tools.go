package project

import (
	"fmt"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/pin"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// doctorSchemas checks the schemas of the tools that servers offer. A tool works although its schema does not compile.
func doctorSchemas(v *project.View, add base.Report) {
	for _, d := range v.Catalog.Definitions {
		if d.Item.Kind != policy.Tool {
			continue
		}
		for _, why := range catalog.SchemaProblems(d.Raw) {
			add("warning", "tool "+d.Item.String(), text.Flatten(why),
				"the server must fix it; clients that check schemas may refuse the tool")
		}
	}
}

// doctorServed reports served skills whose approval is void.
func doctorServed(v *project.View, add base.Report) {
	for _, s := range v.Pool.Catalog().Skills {
		if s.State == pin.SkillChanged {
			p := project.ServedProblem(s)
			add("warning", "skill "+s.Name, p.Message, p.Hint)
		}
	}
}

// doctorHeld reports what the scan found and what is in quarantine.
func doctorHeld(v *project.View, add base.Report) {
	for _, r := range v.Pool.Review() {
		f := r.Findings[0]
		name := (&pin.Held{Item: r.Item, Template: r.Template}).Name()
		if r.Accepted {
			add("ok", "scan "+name, fmt.Sprintf("accepted by the operator: %s: %s", f.Family, f.Why), "")
			continue
		}
		add("warning", "scan "+name, fmt.Sprintf("%s at %s: %s: %s", f.Family, f.Where, f.Why, f.Excerpt),
			"read its definition: myc tools --all --json")
	}
	for _, h := range v.Pool.Catalog().Held {
		if k := h.KeptOut; k != nil {
			add("ok", "quarantine "+h.Name(), "kept out by "+text.OneLine(k.By)+" since "+k.Since.Local().Format(time.DateTime), "")
			continue
		}
		level := "warning"
		if h.Cause == pin.CauseUnproven {
			level = "problem"
		}
		why := h.Reason
		if h.Cause != pin.CauseFound && h.Cause != pin.CauseAdded && len(h.Findings) > 0 {
			f := h.Findings[0]
			why += fmt.Sprintf("; the scan found %s in it: %s (%s)", f.Family, f.Why, f.Severity)
		}
		add(level, "quarantine "+h.Name(), why, "myc tools diff "+h.Name()+" shows it, myc tools approve "+h.Name()+" accepts it")
	}
}
