package base

import (
	"context"
	"fmt"
	"os"

	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
)

// Check adds its findings to those of `myc doctor`.
type Check func(ctx context.Context, v *project.View, add Report)

type Report func(level, what, message, hint string)

// RefuseBroken ends a command that cannot be right while files are broken: every problem on stderr, and exit code 4 unless it is
// about skills only.
func (a *App) RefuseBroken(problems []policy.Problem) error {
	n := 0
	for _, p := range problems {
		if p.Warning {
			continue
		}
		fmt.Fprintln(a.Err, project.ProblemText(p))
		if !project.IsSkillFile(p.File) { // a broken skill removes itself only (decision 7)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return failure.Config(fmt.Errorf("%d problem(s) in the project's files", n), "myc doctor shows all of them with what to do")
}

// ReadFile reads a file that a person named.
func ReadFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.Hint(err, "name an existing file")
	}
	return b, nil
}

type ProblemShape struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func ShapeOf(p policy.Problem) ProblemShape { return ProblemShape{p.File, p.Line, p.Message, p.Hint} }
