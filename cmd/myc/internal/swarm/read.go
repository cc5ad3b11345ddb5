package swarm

import (
	"fmt"
	"io"
	"os"
	"slices"

	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// plan reads the plan. programs are those that its checks may run besides the list.
func (a *app) plan(task string, args, programs []string) (plan.Plan, []policy.Problem, error) {
	switch {
	case (task != "") == (len(args) > 0):
		return plan.Plan{}, nil, failure.Usagef("name a file with the plan, or give it with --task")
	case task != "":
		p, problems := plan.FromTask(task, nil)
		return p, problems, nil
	case args[0] == "-":
		b, err := io.ReadAll(io.LimitReader(a.In, plan.MaxSize+1))
		if err != nil {
			return plan.Plan{}, nil, fmt.Errorf("read the plan from the input: %w", err)
		}
		p, problems := plan.Read("-", b)
		return p, problems, nil
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return plan.Plan{}, nil, failure.New(failure.Usage, fmt.Errorf("read the plan: %w", err), "")
	}
	p, problems := plan.Read(args[0], b, programs...)
	return p, problems, nil
}

// refuse prints what is wrong with a plan.
func (a *app) refuse(problems []policy.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	for _, p := range problems {
		fmt.Fprintln(a.Err, project.ProblemText(p))
	}
	return failure.New(failure.Config, fmt.Errorf("%s in the plan", text.Count(len(problems), "problem")), "")
}

// settle finds the roles of the workers, and refuses roles that do not exist.
func (a *app) settle(o *opened, b *begin, p plan.Plan) error {
	if b.settings.Role == "" {
		b.settings.Role = o.project.File.Session.RoleOfAgent()
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	for _, f := range p.Features {
		role := f.Role
		if role == "" {
			role = b.settings.Role
		}
		if role == "" {
			return failure.Hint(fmt.Errorf("feature %s has no role, so its worker could use nothing", f.ID),
				"--role, or session.agentRole in mycelium.yaml")
		}
		if !slices.Contains(v.Policy.Roles(), role) {
			hint := "myc roles lists them"
			if near := text.Nearest(role, v.Policy.Roles()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return failure.Hint(fmt.Errorf("feature %s: there is no role %q", f.ID, role), hint)
		}
	}
	return nil
}
