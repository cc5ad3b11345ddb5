package base

import (
	"errors"
	"fmt"

	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
)

// named is an error if files that wait to be accepted name what does not exist, in a place where what is in force does not: what nobody
// has touched does not hold up other changes.
func (a *App) named(c *config.Candidate) error {
	if n, err := Unknown(a, c); n == 0 {
		return err
	}
	return failure.New(failure.Config,
		errors.New("trust: what names something that does not exist is not accepted; what was accepted before stays in force"),
		"correct the names, then run: myc trust")
}

// Unknown prints what a candidate names that does not exist, and what is in force does not name in the same file. It returns how many
// there are.
func Unknown(a *App, c *config.Candidate) (n int, err error) {
	v, err := a.OpenView()
	if err != nil {
		return 0, err
	}
	defer v.Close()
	unnamed := v.Unnamed(c)
	for _, p := range unnamed {
		fmt.Fprintln(a.Err, project.ProblemText(p))
	}
	return len(unnamed), nil
}
