package project

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit/index"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/policy/policytest"
	"mycelium/internal/text"
)

// doctorRules reports rules that cannot match, that match more than they seem to, and that never decided a call.
func (a *app) doctorRules(ctx context.Context, v *project.View, add base.Report) {
	remark(policytest.Review(v.Policy), v.Names(), add)
	rules := v.Project.Rules
	if len(rules) == 0 {
		add("ok", "rules", "no rules: the fallback decides every tool that a skill grants", "")
		return
	}
	o, err := v.Project.AuditLog()
	if err != nil {
		return // doctorAudit reports it
	}
	none := text.Count(len(rules), "rule") + "; no call is recorded yet"
	if _, err := os.Stat(o.Dir); err != nil {
		add("ok", "rules", none, "")
		return
	}
	err = a.WithIndex(ctx, func(x *index.Index) error {
		fired, err := x.Rules(ctx)
		if err != nil {
			return err
		}
		calls := 0
		for _, n := range fired {
			calls += n
		}
		var never []string
		for _, r := range rules {
			if fired[r.Name] == 0 {
				never = append(never, r.Name)
			}
		}
		if calls == 0 {
			add("ok", "rules", none, "")
			return nil
		}
		said := fmt.Sprintf("each of the %d rules decided at least one of %d recorded calls", len(rules), calls)
		if len(never) > 0 {
			said = fmt.Sprintf("%d of %d rules decided none of the %d recorded calls: %s", len(never), len(rules), calls,
				strings.Join(never, ", "))
		}
		add("ok", "rules", said, "")
		return nil
	})
	if err != nil {
		add("problem", "rules", "the log does not say which rules decided calls: "+err.Error(), "myc audit reindex")
	}
}

// remark reports what a review found, without what the names said already, with the nearest name. Several rules about tools that nobody
// sees are one finding: in a new project no skill grants anything yet.
func remark(remarks []policytest.Remark, named []policy.Problem, add base.Report) {
	remarks = slices.DeleteFunc(remarks, func(r policytest.Remark) bool {
		said := func(p policy.Problem) bool { return p.File == r.File && p.Line == r.Line }
		return (r.Kind == policytest.Unreachable || r.Kind == policytest.Ungranted) && slices.ContainsFunc(named, said)
	})
	var idle []string
	for _, r := range remarks {
		if r.Kind == policytest.Ungranted {
			idle = append(idle, r.Rule)
		}
	}
	for _, r := range remarks {
		if r.Kind == policytest.Ungranted && len(idle) > 1 {
			continue
		}
		hint := r.Hint
		r.Hint, r.Warning = "", false
		add("warning", "rules", project.ProblemText(r.Problem), hint)
	}
	if len(idle) > 1 {
		add("warning", "rules", fmt.Sprintf("%d rules are about tools that nobody sees: %s", len(idle), strings.Join(idle, ", ")),
			"a skill that is open to the role has to name the tools in allowedTools; myc policy check --role ROLE shows what a role sees")
	}
}
