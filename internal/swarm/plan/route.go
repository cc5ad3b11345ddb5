package plan

import (
	"slices"
	"unicode/utf8"
)

// Route says who may work on a feature, and beside whom (row C35 of the requirements). Each of its fields is obeyed; what could not be is
// refused by [New].
type Route struct {
	Worker      string   `json:"preferredWorkerType,omitempty" yaml:"preferredWorkerType" about:"its runner; empty: that of the session"`
	Require     []string `json:"requiredCapabilities,omitempty" yaml:"requiredCapabilities" about:"skills that its worker has besides"`
	Exclude     []string `json:"excludeCapabilities,omitempty" yaml:"excludeCapabilities" about:"skills that its worker has not"`
	MaxParallel int      `json:"maxParallelism,omitempty" yaml:"maxParallelism" about:"how many workers run at once while it is worked on, 1 to 10; 0: any number"`
	Affinity    string   `json:"affinityGroup,omitempty" yaml:"affinityGroup" about:"a group of features that are worked on one after another"`
	Isolation   string   `json:"isolationLevel,omitempty" yaml:"isolationLevel" about:"none, session or process, which each worker has anyway"`
}

// MaxParallel is the most workers that run at once (row C58 of the requirements).
const MaxParallel = 10

// Isolations are the levels of isolation that can be asked for. Each worker has a process, a session and a worktree of its own, so these
// change nothing. A container is not among them, because no worker gets one.
func Isolations() []string { return []string{"none", "session", "process"} }

// route checks what a feature says about its worker.
func (c *checker) route(i int, id string, r Route) {
	if n := r.MaxParallel; n < 0 || n > MaxParallel {
		c.report(i, "route", "", "feature %s: its maxParallelism is %d, and it is from 1 to %d", id, n, MaxParallel)
	}
	if r.Affinity != "" && !isID(r.Affinity) {
		c.report(i, "route", "use letters, digits, - and _, at most 64", "feature %s: its affinityGroup is not valid", id)
	}
	switch {
	case r.Isolation == "container":
		c.report(i, "route", "remove it; a worker of the runner command is in the sandbox",
			"feature %s: its isolationLevel is container, and no worker runs in a container of its own", id)
	case r.Isolation != "" && !slices.Contains(Isolations(), r.Isolation):
		c.report(i, "route", "write none, session or process", "feature %s: its isolationLevel %s is not known", id, quoted(r.Isolation))
	}
	for _, list := range [][]string{r.Require, r.Exclude} {
		for _, skill := range list {
			if skill == "" || len(skill) > maxName || !utf8.ValidString(skill) {
				c.report(i, "route", "", "feature %s: a skill of its route is empty or too long", id)
			}
		}
	}
	for _, skill := range r.Require {
		if slices.Contains(r.Exclude, skill) {
			c.report(i, "route", "keep one of them", "feature %s: its route requires the skill %s and excludes it", id, quoted(skill))
		}
	}
	if len(r.Require)+len(r.Exclude) > maxList {
		c.report(i, "route", "", "feature %s: its route names %d skills, and %d is the limit", id, len(r.Require)+len(r.Exclude), maxList)
	}
}

// Route returns the plan in which a feature has a route.
func (p Plan) Route(id string, r Route) (Plan, error) {
	i := p.index(id)
	if i < 0 {
		return Plan{}, p.unknown(id)
	}
	features := slices.Clone(p.Features)
	features[i].Route = r
	return p.checked(features)
}
