package rules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"mycelium/internal/audit"
	"mycelium/internal/audit/recorded"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/text"
)

// pastCalls is how many recorded calls [Past] looks at, the newest ones, and pastLines among how many lines it looks for them: a call has
// two lines, and more where it was asked about.
const (
	pastCalls = 1000
	pastLines = 8 * pastCalls
)

// Past is what an allow rule would have done to the calls that are on record.
type Past struct {
	Calls   int `json:"calls"`   // calls that were looked at, 1,000 at most
	Matched int `json:"matched"` // those that the rule matches
	Opened  int `json:"opened"`  // those of them that were asked about or refused then
	Refused int `json:"refused"` // those of them that the policy in force refuses: no allow rule changes that
}

// String says it in one sentence.
func (p Past) String() string {
	s := fmt.Sprintf("of the last %d recorded calls it matches %d; asked about or refused then: %d", p.Calls, p.Matched, p.Opened)
	if p.Refused > 0 {
		s += fmt.Sprintf("; refused all the same: %d", p.Refused)
	}
	return s
}

// PastOf asks each rule about the calls that the log has, with the facts that were recorded then. A call counts once. A log that is not
// there has no calls. inForce is the policy that a rule would be added to.
func PastOf(ctx context.Context, o audit.Options, inForce *policy.Policy, list []policy.Rule) ([]Past, error) {
	out := make([]Past, len(list))
	lines, err := lastCalls(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("look at the recorded calls: %w", err)
	}
	for i, rule := range list {
		p, _ := policy.New(policy.Source{Rules: []policy.Rule{rule}, Boxes: box.Alone(rule.Sandbox)})
		out[i].Calls = len(lines)
		for _, compiled := range p.CompiledRules() {
			for _, line := range lines {
				call, _ := recorded.Call(&line)
				if ok, err := compiled.Matches(call, policy.Annotations{}); !ok || err != nil {
					continue
				}
				out[i].Matched++
				if line.Effect != policy.Allow.String() {
					out[i].Opened++
				}
				if d := inForce.Decide(call); d.Effect == policy.Deny && !d.Unknown {
					out[i].Refused++
				}
			}
		}
	}
	return out, nil
}

// Questions says which of the recorded questions to people an allow rule would have answered.
type Questions struct {
	Asked    int `json:"asked"`    // the questions that were looked at
	Answered int `json:"answered"` // those that the rule matches, and that the policy in force does not refuse
}

// String says it for people, of the questions of some days.
func (q Questions) String() string {
	if q.Asked == 1 && q.Answered == 1 {
		return "it would have answered the only question of the last 7 days"
	}
	return fmt.Sprintf("it would have answered %d of the %s of the last 7 days", q.Answered, text.Count(q.Asked, "question"))
}

// QuestionsOf asks a rule about decisions that the log has, with the facts that were recorded then.
func QuestionsOf(list []audit.Line, inForce *policy.Policy, rule policy.Rule) Questions {
	out := Questions{Asked: len(list)}
	p, _ := policy.New(policy.Source{Rules: []policy.Rule{rule}, Boxes: box.Alone(rule.Sandbox)})
	for _, compiled := range p.CompiledRules() {
		for i := range list {
			call, _ := recorded.Call(&list[i])
			if ok, err := compiled.Matches(call, policy.Annotations{}); !ok || err != nil {
				continue
			}
			if d := inForce.Decide(call); d.Effect != policy.Deny || d.Unknown {
				out.Answered++
			}
		}
	}
	return out
}

// lastCalls returns the first decision of each of the last calls, oldest first. It reads the end of the log only.
func lastCalls(ctx context.Context, o audit.Options) ([]audit.Line, error) {
	var lines []audit.Line
	seen := map[string]bool{}
	from, err := audit.Back(o, pastLines)
	if err != nil {
		return nil, err
	}
	for line, err := range audit.Read(ctx, o, from, false) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case line.Kind != audit.Decided || seen[line.ID]:
			continue
		}
		seen[line.ID] = true
		if lines = append(lines, line); len(lines) > pastCalls {
			lines = lines[1:]
		}
	}
	return lines, nil
}
