// Package policytest examines policies: it checks files of cases, tries the examples that rules carry, and reviews rules for mistakes.
package policytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mycelium/internal/policy"
)

// Case is one line of a `cases` file: a call, and the answer that it must get.
//
//	who tool {arguments} -> effect [rule]
//
// who is role[/may,may][+skill…][@stage][<parent], with "-" for no role and a lone "+" for no active skill; without "+", the
// skills that a session starts with. Role, tool and rule may be quoted as in JSON. The tool is written as in a rule, or as
// prompt:server__name or resource:server__uri. effect is allow, ask, deny or unknown; "unknown" also checks that the item is
// not visible, the others that it is. Empty lines and lines that begin with "#" are skipped.
type Case struct {
	Line   int // from 1
	Text   string
	Scope  policy.Scope
	Start  bool // the skills of the scope are those that a session starts with
	Item   policy.Item
	Args   policy.Args
	Effect string
	Rule   string // empty: any
}

// ParseCases reads a `cases` file.
func ParseCases(data []byte) ([]Case, error) {
	var list []Case
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		c, err := parseCase(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		c.Line, c.Text = n, line
		list = append(list, c)
	}
	return list, nil
}

func parseCase(line string) (c Case, err error) {
	i := strings.LastIndex(line, "->")
	if i < 0 {
		return c, errors.New(`no "->" before the effect`)
	}
	call, want := strings.TrimSpace(line[:i]), strings.Fields(line[i+2:])
	if len(want) == 0 || len(want) > 2 {
		return c, errors.New(`write "-> effect" or "-> effect rule"`)
	}
	if c.Effect = want[0]; c.Effect != "unknown" && c.Effect != "allow" && c.Effect != "ask" && c.Effect != "deny" {
		return c, fmt.Errorf("effect %q: not one of allow, ask, deny, unknown", c.Effect)
	}
	if len(want) == 2 {
		c.Rule = want[1]
	}
	who, call, err := word(call)
	if err != nil {
		return c, err
	}
	tool, args, err := word(call)
	if err != nil {
		return c, err
	}
	c.who(who)
	c.Item = caseItem(tool)
	c.Args, err = policy.ParseArgs([]byte(args))
	return c, err
}

// word cuts the first word, which may be a JSON string.
func word(s string) (first, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		first, rest, _ = strings.Cut(s, " ")
		if first == "" {
			return "", "", errors.New("write who tool {arguments} -> effect")
		}
		return first, strings.TrimSpace(rest), nil
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			err = json.Unmarshal([]byte(s[:i+1]), &first)
			return first, strings.TrimSpace(s[i+1:]), err
		}
	}
	return "", "", fmt.Errorf("%s: the quote does not end", s)
}

func (c *Case) who(s string) {
	s, parent, hasParent := strings.Cut(s, "<")
	if hasParent {
		c.Scope.Principal.Parent = &policy.Principal{ID: "parent", Role: parent}
	}
	s, c.Scope.Stage, _ = strings.Cut(s, "@")
	s, skills, given := strings.Cut(s, "+")
	c.Start = !given
	if skills != "" {
		c.Scope.Skills = strings.Split(skills, "+")
	}
	role, may, _ := strings.Cut(s, "/")
	if role == "-" {
		role = ""
	}
	c.Scope.Principal.ID, c.Scope.Principal.Role, c.Scope.Principal.Roles = "case", role, []string{role}
	if may != "" {
		c.Scope.Principal.Roles = append(c.Scope.Principal.Roles, strings.Split(may, ",")...)
	}
}

// caseItem reads the name of an item. A name that cannot exist is a case too.
func caseItem(s string) policy.Item {
	kind := policy.Tool
	if rest, ok := strings.CutPrefix(s, "prompt:"); ok {
		kind, s = policy.Prompt, rest
	} else if rest, ok := strings.CutPrefix(s, "resource:"); ok {
		kind, s = policy.Resource, rest
	}
	server, name, found := strings.Cut(s, "__")
	if !found {
		server, name = policy.AgentServer, s
	}
	if server == policy.AgentServer {
		name, _ = policy.AgentTool(name)
	}
	return policy.Item{Kind: kind, Server: server, Name: name}
}

// Call is the call of the case under p. Its facts are those that the arguments show where no path is a link.
func (c *Case) Call(p *policy.Policy) policy.Call {
	call := policy.Call{Scope: c.Scope, Item: c.Item, Args: c.Args}
	if c.Start {
		call.Scope.Skills = p.StartSkills(c.Scope.Principal.Role)
	}
	notes, _ := p.Hints(c.Item)
	call.Facts = policy.ArgFacts(c.Item, notes, c.Args, p.Dir()).WithoutLinks()
	return call
}

// Check decides the case. It returns an explanation, and an error that says what differs from what the case wants.
func (c *Case) Check(p *policy.Policy) (policy.Explanation, error) {
	call := c.Call(p)
	x := p.Explain(call)
	switch {
	case x.Effect != c.Effect:
		return x, fmt.Errorf("%s: got %s by rule %q (%s)", c.Text, x.Effect, x.Rule, x.Reason)
	case c.Rule != "" && x.Rule != c.Rule:
		return x, fmt.Errorf("%s: decided by %q (%s)", c.Text, x.Rule, x.Reason)
	case p.Visible(call.Scope, c.Item) != (x.Effect != "unknown"):
		return x, fmt.Errorf("%s: %s, but Visible disagrees", c.Text, x.Effect)
	}
	return x, nil
}
