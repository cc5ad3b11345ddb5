package judge

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// The files of policies in words, in the project folder. The second is for one machine and not for git.
const (
	PoliciesFile      = "policies.yaml"
	LocalPoliciesFile = "policies.local.yaml"
)

// maxPolicy bounds one policy, in bytes: they are all read to a model with every question.
const maxPolicy = 2000

// Policy is a rule in the words of a person. A model that judges reads it and puts it before its own judgement; it never overrides a
// rule, because the rules decide before and after.
type Policy struct {
	ID          string    `yaml:"id" json:"id"` // pol_N
	Description string    `yaml:"description" json:"description"`
	Tool        string    `yaml:"tool" json:"tool,omitempty"` // a pattern, where a bare name is the agent's own tool; empty: every tool
	CreatedAt   time.Time `yaml:"createdAt" json:"createdAt,omitzero"`
}

// Check says what is wrong with a policy; nil: nothing.
func (p Policy) Check() error {
	n, ok := strings.CutPrefix(p.ID, "pol_")
	if i, err := strconv.Atoi(n); !ok || err != nil || i < 1 || strconv.Itoa(i) != n {
		return fmt.Errorf("id %q is not pol_ and a number", p.ID)
	}
	if err := checkWords(p.Description); err != nil {
		return err
	}
	if p.Tool != "" {
		if _, err := policy.ParsePattern(bareTool(p.Tool)); err != nil {
			return err
		}
	}
	return nil
}

// checkWords says what is wrong with the words of a policy.
func checkWords(s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("it says nothing")
	case len(s) > maxPolicy:
		return fmt.Errorf("it is longer than %d bytes", maxPolicy)
	case !utf8.ValidString(s):
		return fmt.Errorf("it is not UTF-8")
	case text.Visible(s) != s:
		return fmt.Errorf("it has characters that cannot be seen")
	}
	return nil
}

// concerns reports whether a policy is about a tool. One whose pattern cannot be read is about all.
func (p Policy) concerns(it policy.Item) bool {
	return p.Tool == "" || anyMatch([]string{p.Tool}, it)
}

// NextPolicy is a new policy with the next free number.
func NextPolicy(have []Policy, description, tool string, now time.Time) (Policy, error) {
	top := 0
	for _, p := range have {
		if n, err := strconv.Atoi(strings.TrimPrefix(p.ID, "pol_")); err == nil && n > top {
			top = n
		}
	}
	p := Policy{ID: "pol_" + strconv.Itoa(top+1), Description: strings.TrimSpace(description), Tool: tool, CreatedAt: now.UTC().Truncate(time.Second)}
	return p, p.Check()
}
