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

// The files of policies in the project folder. The second is for one machine and stays out of git.
const (
	PoliciesFile      = "policies.yaml"
	LocalPoliciesFile = "policies.local.yaml"
)

// maxPolicy bounds one policy, in bytes: every question to a model contains all of them.
const maxPolicy = 2000

// Policy is a rule in the words of a person. The judge puts it before its own judgement. It cannot override a rule of the project, because
// the rules decide before and after the judge.
type Policy struct {
	ID          string    `yaml:"id" json:"id"` // pol_N
	Description string    `yaml:"description" json:"description"`
	Tool        string    `yaml:"tool" json:"tool,omitempty"` // a pattern; a bare name is the agent's own tool; empty: every tool
	CreatedAt   time.Time `yaml:"createdAt" json:"createdAt,omitzero"`
}

// Check returns what is wrong with a policy, or nil.
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

// checkWords returns what is wrong with the text of a policy, or nil.
func checkWords(s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("it is empty")
	case len(s) > maxPolicy:
		return fmt.Errorf("it is longer than %d bytes", maxPolicy)
	case !utf8.ValidString(s):
		return fmt.Errorf("it is not UTF-8")
	case text.Visible(s) != s:
		return fmt.Errorf("it has invisible characters")
	}
	return nil
}

// concerns reports whether a policy is about a tool. A policy with an invalid pattern is about every tool.
func (p Policy) concerns(it policy.Item) bool {
	return p.Tool == "" || anyMatch([]string{p.Tool}, it)
}

// NextPolicy returns a new policy with the next free number.
func NextPolicy(have []Policy, description, tool string, now time.Time) (Policy, error) {
	top := 0
	for _, p := range have {
		if n, err := strconv.Atoi(strings.TrimPrefix(p.ID, "pol_")); err == nil && n > top {
			top = n
		}
	}
	p := Policy{ID: "pol_" + strconv.Itoa(top+1), Description: strings.TrimSpace(description), Tool: tool,
		CreatedAt: now.UTC().Truncate(time.Second)}
	return p, p.Check()
}
