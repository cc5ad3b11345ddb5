package relocate

import "mycelium/internal/state"

// AtStep has f called before each step of a job.
func (p *Person) AtStep(f func(name string)) { p.step = f }

// Steps are the names of the steps of both kinds of job.
func Steps() (move, take []string) {
	for _, s := range (&Person{}).moveSteps(state.Paths{}, journal{}) {
		move = append(move, s.name)
	}
	for _, s := range (&Person{}).formerSteps(state.Paths{}, journal{}) {
		take = append(take, s.name)
	}
	return append(move, "end"), append(take, "end")
}
