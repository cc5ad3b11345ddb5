package base

import (
	"context"
	"fmt"
	"os"

	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// Check adds its findings to those of `myc doctor`.
type Check func(ctx context.Context, v *project.View, add Report)

// Report adds a finding: its level is ok, warning or problem, hint says how to mend it.
type Report func(level, what, message, hint string)

// RefuseBroken prints every problem. It returns an error unless all problems are about skills, because a command that depends on the
// files cannot be right while one is broken.
func (a *App) RefuseBroken(problems []policy.Problem) error {
	n := 0
	for _, p := range problems {
		if p.Warning {
			continue
		}
		fmt.Fprintln(a.Err, project.ProblemText(p))
		if !project.IsSkillFile(p.File) { // a broken skill is left out alone (decision 7)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return failure.New(failure.Config, fmt.Errorf("%s in the project's files", text.Count(n, "problem")),
		"myc doctor shows all of them with what to do")
}

// SayUntrusted says to a person that what a command checks has no effect yet, because nobody has accepted it.
func (a *App) SayUntrusted(v *project.View) {
	// as it is on disk, a project counts as trusted; the candidate knows what is accepted
	accepted := *a
	accepted.OnDisk = false
	p, err := accepted.Load()
	if err != nil || p.Trusted || p.Dir != v.Project.Dir {
		return
	}
	fmt.Fprintf(a.Err, "myc: warning: nothing of %s is accepted: what was checked here has no effect before: %s\n", p.Dir, trustCommand(a))
}

// ReadFile reads a file that a person named.
func ReadFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.Hint(err, "name an existing file")
	}
	return b, nil
}

// ProblemShape is a problem in the JSON output of commands.
type ProblemShape struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// ShapeOf returns a problem in that shape.
func ShapeOf(p policy.Problem) ProblemShape { return ProblemShape{p.File, p.Line, p.Message, p.Hint} }
