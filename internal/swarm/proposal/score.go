package proposal

import (
	"math"
	"slices"
	"unicode/utf8"

	"mycelium/internal/swarm/plan"
)

// Score is a proposal by the rubric of row C86: each part begins with a base, and good signs add to it up to its weight. A whole is 100.
type Score struct {
	Completeness int `json:"completeness"`  // 15 to 25: the files that it and its feature name are in its steps, and its testing coverage
	Feasibility  int `json:"feasibility"`   // 15 to 25: what it changes exists, what it creates does not, and its steps say where
	Risks        int `json:"riskAwareness"` // 10 to 20: two for each risk, up to five
	Clarity      int `json:"clarity"`       // 8 to 15: steps and a summary of a readable length
	Efficiency   int `json:"efficiency"`    // 10 to 15: few steps, few files
	Total        int `json:"total"`
	// Testing is the testing coverage of the plan in percent: how many of its steps say how they are checked, and a test strategy of more
	// than a few words as one step more. It makes five of the points of Completeness.
	Testing int `json:"testingCoverage"`
}

// The lengths of texts that people read, in characters, and the sizes of a plan that is no detour.
const (
	leastSummary, mostSummary = 40, 1000
	leastStep, mostStep       = 15, 600
	leastTests                = 30
	fewSteps, manySteps       = 8, 16
	fewFiles, manyFiles       = 10, 30
)

// Rate scores a proposal for a feature. exists reports whether the project has a file.
func Rate(p *Proposal, f plan.Feature, exists func(path string) bool) Score {
	var inSteps []string
	checked, placed, readable := 0, 0, 0
	for _, s := range p.Steps {
		inSteps = append(inSteps, s.Files...)
		checked += one(s.Validation != "")
		placed += one(len(s.Files) > 0)
		n := utf8.RuneCountInString(s.Description)
		readable += one(n >= leastStep && n <= mostStep)
	}
	steps, tested := len(p.Steps), utf8.RuneCountInString(p.Tests) >= leastTests
	testing := share(checked+one(tested), steps+1)
	named := slices.Concat(p.Create, p.Modify, f.Files)
	covered := count(named, func(file string) bool {
		return slices.ContainsFunc(inSteps, func(s string) bool { return plan.Overlap(file, s) })
	})
	right := count(p.Modify, exists) + count(p.Create, func(file string) bool { return !exists(file) })
	n := utf8.RuneCountInString(p.Summary)
	s := Score{
		Completeness: 15 + points(5, share(covered, len(named))) + points(5, testing),
		Feasibility:  15 + points(5, share(right, len(p.Modify)+len(p.Create))) + points(5, share(placed, steps)),
		Risks:        10 + 2*min(len(p.Risks), 5),
		Clarity:      8 + points(4, share(readable, steps)) + 3*one(n >= leastSummary && n <= mostSummary),
		Efficiency:   10 + points(3, fewer(steps, fewSteps, manySteps)) + points(2, fewer(len(p.Files()), fewFiles, manyFiles)),
		Testing:      points(100, testing),
	}
	s.Total = s.Completeness + s.Feasibility + s.Risks + s.Clarity + s.Efficiency
	return s
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func count(list []string, is func(string) bool) (n int) {
	for _, s := range list {
		n += one(is(s))
	}
	return n
}

// share is a part of a whole; nothing of nothing is nothing, because a plan that names no file proves nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// fewer is 1 for few, 0 for many, and falls in between.
func fewer(n, few, many int) float64 {
	return min(max(float64(many-n)/float64(many-few), 0), 1)
}

func points(most int, share float64) int { return int(math.Round(float64(most) * share)) }

// The names of the two proposals.
const (
	A = "A"
	B = "B"
)

// Verdict is which of two proposals is better, and by how much.
type Verdict struct {
	Winner string `json:"winner"` // A or B; A where both are equal
	Margin int    `json:"margin"`
	How    string `json:"how"` // near equal, moderate or clear
}

// The margins of row C86.
const (
	nearEqual = 5
	moderate  = 15
)

// Compare says which of two scores is the better one.
func Compare(a, b Score) Verdict {
	v := Verdict{A, a.Total - b.Total, "clear"}
	if v.Margin < 0 {
		v.Winner, v.Margin = B, -v.Margin
	}
	switch {
	case v.Margin < nearEqual:
		v.How = "near equal"
	case v.Margin < moderate:
		v.How = "moderate"
	}
	return v
}
