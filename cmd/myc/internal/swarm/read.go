package swarm

import (
	"fmt"
	"io"
	"os"
	"slices"

	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
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
	}
	b, err := a.input(args[0])
	if err != nil {
		return plan.Plan{}, nil, err
	}
	p, problems := plan.Read(args[0], b, programs...)
	return p, problems, nil
}

// input reads a file, or the input for -.
func (a *app) input(file string) ([]byte, error) {
	if file == "-" {
		b, err := io.ReadAll(io.LimitReader(a.In, plan.MaxSize+1))
		if err != nil {
			return nil, fmt.Errorf("read the input: %w", err)
		}
		return b, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, failure.New(failure.Usage, fmt.Errorf("read %s: %w", file, err), "")
	}
	return b, nil
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
func (a *app) settle(o *open.Swarm, b *begin, p plan.Plan) error {
	if b.settings.Role == "" {
		b.settings.Role = o.Project.File.Session.RoleOfAgent()
	}
	rights, err := a.Rights(o)
	if err != nil {
		return err
	}
	roles := o.View.Policy.Roles()
	for _, f := range p.Features {
		role := f.Role
		if role == "" {
			role = b.settings.Role
		}
		if role == "" {
			return failure.Hint(fmt.Errorf("feature %s has no role, so its worker could use nothing", f.ID),
				"--role, or session.agentRole in mycelium.yaml")
		}
		if !slices.Contains(roles, role) {
			hint := "myc roles lists them"
			if near := text.Nearest(role, roles); near != "" {
				hint = "did you mean " + near + "?"
			}
			return failure.Hint(fmt.Errorf("feature %s: there is no role %q", f.ID, role), hint)
		}
		if err := planning.CheckRoute(f, b.settings, rights); err != nil {
			return err
		}
	}
	return nil
}
