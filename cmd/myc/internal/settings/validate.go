package settings

import (
	"fmt"

	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// validate reports every problem of every file as it is on disk, accepted or not. A variable or secret that is not here is none: the
// files are checked where the values of production are not.
func (a *app) validate() error {
	a.OnDisk = true
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	all := v.CheckFiles()
	a.SayUntrusted(v)
	bad := 0
	for _, p := range all {
		if !p.Warning {
			bad++
		}
		if !a.JSON {
			fmt.Fprintln(a.Err, project.ProblemText(p))
		}
	}
	if a.JSON {
		if err := a.PrintJSON(all); err != nil {
			return err
		}
	}
	if bad > 0 {
		return failure.New(failure.Config, fmt.Errorf("config: %s", text.Count(bad, "problem")), "")
	}
	if !a.JSON {
		fmt.Fprintln(a.Out, "ok")
	}
	return nil
}
