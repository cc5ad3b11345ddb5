// Package proposal reads and scores the plans that planners write for a hard feature, before a worker implements it (rows C23, C24 and C86
// of the requirements). Two planners write a file each; the rubric scores both, and the better one is given to the worker.
package proposal

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// Proposal is how one planner would implement a feature.
type Proposal struct {
	Summary    string   `json:"summary"`
	Steps      []Step   `json:"steps"`
	Create     []string `json:"filesToCreate"` // paths in the project
	Modify     []string `json:"filesToModify"`
	Tests      string   `json:"testStrategy"`
	Risks      []string `json:"risks"`
	Complexity Level    `json:"estimatedComplexity"`
}

// Step is one step of a proposal.
type Step struct {
	Order       int      `json:"order"` // from 1
	Description string   `json:"description"`
	Files       []string `json:"files"`
	Validation  string   `json:"validation"` // how it is seen that the step is done
}

// Level is how hard a planner thinks that a feature is.
type Level string

// The levels.
const (
	Low    Level = "low"
	Medium Level = "medium"
	High   Level = "high"
)

// Form tells a planner what a plan file looks like.
const Form = `{
  "summary": "what is done, in two or three sentences",
  "steps": [{"order": 1, "description": "what is done", "files": ["path/in/the/project"], "validation": "how it is seen that it is done"}],
  "filesToCreate": ["path"], "filesToModify": ["path"],
  "testStrategy": "which tests are written, and how they are run",
  "risks": ["what may go wrong, and what is done about it"],
  "estimatedComplexity": "low, medium or high"
}`

// The bounds of a plan file.
const (
	MaxSize  = 128 << 10 // bytes
	maxSteps = 50
	maxList  = 100
	maxText  = 4000 // characters
	maxShown = 10   // problems in an error
)

// Read reads a plan file: one JSON object with the members of [Proposal] and no others. A fence of Markdown around it is no part of it.
// The error names everything that is wrong with it, for the planner that wrote it.
func Read(data []byte) (Proposal, error) {
	if len(data) > MaxSize {
		return Proposal{}, fmt.Errorf("the plan has %d bytes, and %d is the limit", len(data), MaxSize)
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return Proposal{}, errors.New("the plan file is empty")
	}
	var p Proposal
	if err := json.Unmarshal([]byte(text.Unfenced(string(data))), &p, json.RejectUnknownMembers(true)); err != nil {
		return Proposal{}, fmt.Errorf("the plan is not JSON of the form that was asked for: %s", text.Truncate(text.Flatten(err.Error()), 500))
	}
	if problems := p.check(); len(problems) > 0 {
		more := ""
		if n := len(problems) - maxShown; n > 0 {
			problems, more = problems[:maxShown], fmt.Sprintf("; and %d more", n)
		}
		return Proposal{}, errors.New(strings.Join(problems, "; ") + more)
	}
	return p, nil
}

// check says what is wrong with a proposal.
func (p *Proposal) check() (problems []string) {
	report := func(format string, args ...any) {
		problems = append(problems, text.Flatten(fmt.Sprintf(format, args...)))
	}
	words := func(what, s string) {
		switch {
		case strings.TrimSpace(s) == "":
			report("%s is empty", what)
		case utf8.RuneCountInString(s) > maxText:
			report("%s has more than %d characters", what, maxText)
		case strings.ContainsRune(s, 0):
			report("%s is not text", what)
		}
	}
	files := func(what string, list []string) {
		if len(list) > maxList {
			report("%s has %d entries, and %d is the limit", what, len(list), maxList)
		}
		for _, f := range list {
			if !plan.IsFile(f) {
				report("%s: %q is not a path in the project", what, text.TruncateRunes(f, 64))
			}
		}
	}
	words("summary", p.Summary)
	words("testStrategy", p.Tests)
	if len(p.Steps) == 0 || len(p.Steps) > maxSteps {
		report("there are %d steps, and a plan has from 1 to %d", len(p.Steps), maxSteps)
	}
	for i, s := range p.Steps {
		what := fmt.Sprintf("step %d", i+1)
		if s.Order != i+1 {
			report("%s has the order %d: write the steps in their order, from 1", what, s.Order)
		}
		words("the description of "+what, s.Description)
		if s.Validation != "" {
			words("the validation of "+what, s.Validation)
		}
		files(what, s.Files)
	}
	files("filesToCreate", p.Create)
	files("filesToModify", p.Modify)
	if len(p.Risks) > maxList {
		report("there are %d risks, and %d is the limit", len(p.Risks), maxList)
	}
	for _, r := range p.Risks {
		words("a risk", r)
	}
	if p.Complexity != Low && p.Complexity != Medium && p.Complexity != High {
		report("estimatedComplexity is %q, and is one of low, medium, high", text.TruncateRunes(string(p.Complexity), 64))
	}
	return problems
}

// Files are the files that a proposal would create or change, each once.
func (p *Proposal) Files() (out []string) {
	seen := map[string]bool{}
	add := func(list []string) {
		for _, f := range list {
			if !seen[f] {
				seen[f] = true
				out = append(out, f)
			}
		}
	}
	add(p.Create)
	add(p.Modify)
	for _, s := range p.Steps {
		add(s.Files)
	}
	return out
}

// Markdown is a proposal for people and for workers.
func (p *Proposal) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.TrimSpace(p.Summary))
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%d. %s\n", s.Order, text.Flatten(s.Description))
		if len(s.Files) > 0 {
			fmt.Fprintf(&b, "   files: %s\n", strings.Join(s.Files, ", "))
		}
		if s.Validation != "" {
			fmt.Fprintf(&b, "   done when: %s\n", text.Flatten(s.Validation))
		}
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"Creates", p.Create}, {"Changes", p.Modify}} {
		if len(l.list) > 0 {
			fmt.Fprintf(&b, "\n%s: %s\n", l.name, strings.Join(l.list, ", "))
		}
	}
	fmt.Fprintf(&b, "\nTests: %s\n", text.Flatten(p.Tests))
	if len(p.Risks) > 0 {
		b.WriteString("\nRisks:\n")
	}
	for _, r := range p.Risks {
		fmt.Fprintf(&b, "- %s\n", text.Flatten(r))
	}
	return b.String()
}
