package project

import (
	"context"
	"fmt"

	"mycelium/internal/config"
	"mycelium/internal/node/relocate"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// Mover returns what brings states to their place for the person who runs this program.
func (l *Loader) Mover() *relocate.Person {
	at := func(s state.Paths) *Loader {
		m := *l
		m.Dir, m.moving = s.Project, true
		return &m
	}
	return &relocate.Person{
		Environ: l.Environ,
		Load:    func(s state.Paths) (*config.Project, error) { return config.Load(l.options(s)) },
		Known:   func(s state.Paths) error { return l.know(s) },
		Tokens: func(s state.Paths, from string) error {
			v, err := at(s).OpenView()
			if err != nil {
				return err
			}
			defer v.Close()
			return v.Pool.MoveTokens(from)
		},
	}
}

// resume finishes what a process began with the state of the project, if a person runs this program.
func (l *Loader) resume(p state.Paths) error {
	if l.moving {
		return nil
	}
	if found, err := p.Journals(); err != nil || len(found) == 0 || l.ofAgent() {
		return err
	}
	return l.Mover().Resume(context.Background(), p)
}

// Former returns the state folder that earlier versions had, if one of them kept state of the project for this person, else "".
func (l *Loader) Former(p state.Paths) state.Root {
	usual, err := state.UsualOfPerson(l.Getenv)
	if err != nil || !relocate.IsFormer(usual, p.Project) {
		return ""
	}
	return usual
}

// Foreign reports whether the project has state in the place of earlier versions that they did not write for this person.
func (l *Loader) Foreign(p state.Paths) bool {
	usual, err := state.UsualOfPerson(l.Getenv)
	return err == nil && relocate.IsForeign(usual, p.Project)
}

// elsewhere returns an error if a project without a state here probably has one somewhere else: a person decides what becomes of it.
func (l *Loader) elsewhere(p state.Paths) error {
	if l.Former(p) != "" {
		return failure.New(failure.Denied, fmt.Errorf("an earlier version kept the log of %s, which is not taken over yet", p.Project),
			"take it over: myc trust")
	}
	if from, sure, _ := p.MovedFrom(); sure {
		return failure.New(failure.Denied, fmt.Errorf("%s seems to be %s, which was moved", p.Project, from.Project),
			"bring its log and sessions here: myc trust --moved; or begin anew: myc trust")
	}
	return nil
}
