package find

import (
	"math"
	"slices"
	"time"
)

// halfLife is the time after which a use counts half.
const halfLife = 30 * 24 * time.Hour

// learntWeight is how much a use counts beside a mention in a name.
const learntWeight = 1.5

// Use is one thing that was really used after a request.
type Use struct {
	Request string
	Name    string // of the document
	Server  string
	At      time.Time
}

// Learnt is what uses taught: which things followed which words. It never changes. A nil Learnt knows nothing.
type Learnt struct {
	byTerm map[string]map[key]float64
}

type key struct{ server, name string }

// Learn counts uses, older ones for less.
func Learn(uses []Use, now time.Time) *Learnt {
	x := &Learnt{byTerm: map[string]map[key]float64{}}
	for _, u := range uses {
		age := max(0, now.Sub(u.At))
		weight := math.Exp2(-float64(age) / float64(halfLife))
		seen := map[string]bool{}
		for _, w := range asked(split(u.Request)) {
			t := w.terms[0]
			if seen[t] {
				continue
			}
			seen[t] = true
			if x.byTerm[t] == nil {
				x.byTerm[t] = map[key]float64{}
			}
			x.byTerm[t][key{u.Server, u.Name}] += weight
		}
	}
	return x
}

// add adds to the scores of the documents what was learnt of the words of a request.
func (l *Learnt) add(x *Index, total []float64, terms map[string]bool) {
	if l == nil {
		return
	}
	var sorted []string
	for t := range terms {
		if l.byTerm[t] != nil {
			sorted = append(sorted, t)
		}
	}
	slices.Sort(sorted) // sums of floats depend on their order
	for _, t := range sorted {
		uses := l.byTerm[t]
		idf := math.Log(1 + float64(len(x.keys))/(float64(len(uses))+0.5))
		for k, n := range uses {
			if doc, ok := x.keys[k]; ok {
				tf := learntWeight * n
				total[doc] += idf * tf / (saturation + tf)
			}
		}
	}
}
