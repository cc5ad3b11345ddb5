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
	remarks, named := policytest.Review(v.Policy), v.Names()
	for _, r := range remarks {
		said := func(p policy.Problem) bool { return p.File == r.File && p.Line == r.Line }
		if r.Kind == policytest.Unreachable && slices.ContainsFunc(named, said) {
			continue // doctorNames says it, with the nearest name
		}
		hint := r.Hint
		r.Hint, r.Warning = "", false
		add("warning", "rules", project.ProblemText(r.Problem), hint)
	}
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
