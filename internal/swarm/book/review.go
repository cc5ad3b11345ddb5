package book

import (
	"slices"
	"time"
)

// Reviews are what a person chose about the reviews of a session. The zero value is no reviews.
type Reviews struct {
	Enabled       bool `json:"enabled"`
	SkipOnFailure bool `json:"skipOnFailure"` // none where a feature has failed
	Code          bool `json:"code"`
	Architecture  bool `json:"architecture"`
	AutoTrigger   bool `json:"autoTrigger"` // they begin by themselves when nothing is left to be done
}

// Review is a look at what has landed. Its attempt is the work of the reviewer: Base is the commit that it looks at, and its states are
// pending, starting, running, stopped, completed and failed.
type Review struct {
	Type string `json:"type"` // code or architecture
	Attempt
	Tried    int       `json:"tried,omitzero"` // reviewers that were given up
	Retry    time.Time `json:"retry,omitzero"` // no other one is started before
	Findings *Findings `json:"findings,omitempty"`
	Notes    []string  `json:"notes,omitempty"` // what was mended in its findings, for people
}

// Over reports whether nothing more becomes of a review by itself.
func (r *Review) Over() bool { return r.State == Completed || r.State == Failed }

// Findings are what a reviewer has found (requirements, C89).
type Findings struct {
	Summary         string   `json:"summary"`
	Severity        Severity `json:"severity"`
	Issues          []Issue  `json:"issues,omitempty"`
	Recommendations []string `json:"recommendations,omitempty"`
}

// Severity is how bad what a review found is as a whole.
type Severity string

// The severities, from the best to the worst.
const (
	Clean    Severity = "clean"
	Minor    Severity = "minor"
	Moderate Severity = "moderate"
	Major    Severity = "major"
	Critical Severity = "critical"
)

// Severities are all of them, from the best to the worst.
func Severities() []Severity { return []Severity{Clean, Minor, Moderate, Major, Critical} }

// Issue is one thing that a reviewer has found.
type Issue struct {
	Category   string `json:"category"`
	Severity   Level  `json:"severity"`
	File       string `json:"file,omitempty"` // from the folder of the project, with slashes
	Line       int    `json:"line,omitzero"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
	Feature    string `json:"feature,omitempty"` // that is to mend it
}

// Level is how bad an issue is.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// Levels are all of them, from the best to the worst.
func Levels() []Level { return []Level{Info, Warning, Error} }

// Review returns the last review of a type; nil: there is none.
func (s *Session) Review(kind string) *Review {
	for _, r := range slices.Backward(s.Reviews) {
		if r.Type == kind {
			return r
		}
	}
	return nil
}

// Overall is the worst severity of the last reviews; "" before one of them has findings.
func (s *Session) Overall() (worst Severity) {
	all := Severities()
	for _, r := range s.Reviews {
		if f := r.Findings; f != nil && s.Review(r.Type) == r && slices.Index(all, f.Severity) >= slices.Index(all, worst) {
			worst = f.Severity
		}
	}
	return worst
}
