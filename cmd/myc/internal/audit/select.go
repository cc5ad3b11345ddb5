package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/harness"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// selectFlags adds the flags that select calls.
func selectFlags(f *pflag.FlagSet, q *index.Query) {
	f.StringVar(&q.Role, "role", "", "calls of this role; here and below, * stands for any text")
	f.StringVar(&q.Tool, "tool", "", "calls of this tool")
	f.StringVar(&q.Session, "session", "", "calls of this session")
	f.StringVar(&q.Rule, "rule", "", "calls that this rule decided")
	f.StringVar(&q.Agent, "agent", "", "calls of this agent (claude, codex …), surface or subagent")
	f.StringVar(&q.Program, "program", "", "calls that run this program")
	f.StringVar(&q.Host, "host", "", "calls that reach this host")
	f.StringVar(&q.Path, "path", "", "calls that name this file: an absolute path, or the end of one")
	f.StringArrayVar(&q.Args, "arg", nil, "calls with this argument: NAME=VALUE; may be repeated")
	f.StringVar(&q.By, "by", "", "who decided: "+orList(index.Deciders()))
	f.StringVar(&q.Outcome, "outcome", "", orList(index.Outcomes()))
	f.StringVar(&q.Effect, "effect", "", orList(index.Effects()))
}

// orList returns words as a sentence has them.
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// knownWords is an error if a query has a word that no call can have.
func knownWords(q *index.Query) error {
	for _, c := range []struct {
		flag, word string
		known      []string
	}{{"effect", q.Effect, index.Effects()}, {"outcome", q.Outcome, index.Outcomes()}, {"by", q.By, index.Deciders()},
		{"thinking-type", q.ThinkingType, index.Reasonings()}} {
		if c.word != "" && !slices.Contains(c.known, c.word) {
			return failure.Usagef("audit query: --%s: %q is not one of %s", c.flag, c.word, orList(c.known))
		}
	}
	for _, arg := range q.Args {
		if name, _, ok := strings.Cut(arg, "="); !ok || name == "" {
			return failure.Usagef("audit query: --arg: %q is not NAME=VALUE", arg)
		}
	}
	return nil
}

// knownNames is an error if a query names a tool or a role that neither a call nor the project has.
func (a *app) knownNames(ctx context.Context, x *index.Index, q *index.Query) error {
	if q.Tool == "" && q.Role == "" {
		return nil
	}
	tools, roles, err := x.Names(ctx)
	if err != nil {
		return err
	}
	if fits(q.Tool, tools) && fits(q.Role, roles) {
		return nil
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	roles = append(roles, v.Policy.Roles()...)
	for i := range v.Catalog.Definitions {
		if it := v.Catalog.Definitions[i].Item; it.Kind == policy.Tool {
			tools = append(tools, it.String())
		}
	}
	for _, c := range []struct {
		flag, name string
		known      []string
		nearest    func(word string, known []string) string
	}{{"tool", q.Tool, tools, skill.NearestTool}, {"role", q.Role, roles, text.Nearest}} {
		if fits(c.name, c.known) {
			continue
		}
		said := fmt.Sprintf("audit query: --%s: no call and no file of the project has %q", c.flag, c.name)
		if near := c.nearest(c.name, c.known); near != "" {
			said += "; did you mean " + near + "?"
		}
		return failure.Usagef("%s", said)
	}
	return nil
}

// knownValues is an error if a query names an agent, a rule or a session of which the log has nothing, and which is not known otherwise.
// Subagents, and the rules of former days, have names of their own, so that no table has them all.
func (a *app) knownValues(ctx context.Context, x *index.Index, q *index.Query) error {
	rules, err := a.ruleNames(q.Rule)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		flag, value string
		known       []string
		of          index.Query // the calls of the value
		said        string
	}{
		{"agent", q.Agent, harness.Names(), index.Query{Filter: index.Filter{Agent: q.Agent}}, "no call is of an agent, surface or subagent"},
		{"rule", q.Rule, rules, index.Query{Rule: q.Rule}, "no call was decided by, and no file has, a rule"},
		{"session", q.Session, nil, index.Query{Session: q.Session}, "the log has no session"},
	} {
		if fits(c.value, c.known) {
			continue
		}
		c.of.Limit = 1
		calls, err := x.Query(ctx, c.of)
		if err != nil {
			return err
		}
		var begun []audit.Record
		if c.flag == "session" {
			if begun, err = x.Changes(ctx, c.of); err != nil {
				return err
			}
		}
		if len(calls)+len(begun) > 0 {
			continue
		}
		said := fmt.Sprintf("audit query: --%s: %s %q", c.flag, c.said, c.value)
		if near := text.Nearest(c.value, c.known); near != "" {
			said += "; did you mean " + near + "?"
		}
		return failure.Usagef("%s", said)
	}
	return nil
}

// ruleNames are the names of the rules in force, or the name itself if no file has one of its form: base:NAME, limit:ROLE.
func (a *app) ruleNames(name string) ([]string, error) {
	if name == "" || strings.Contains(name, ":") {
		return []string{name}, nil
	}
	v, err := a.OpenView()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	var names []string
	for _, r := range v.Policy.CompiledRules() {
		names = append(names, r.ID)
	}
	return names, nil
}

// fits reports whether a name, or a pattern, is or means one of those that are known. No name fits.
func fits(name string, known []string) bool {
	return name == "" || slices.ContainsFunc(known, func(k string) bool { return index.Matches(name, k) })
}

// auditChanges prints what happened to sessions.
func (a *app) auditChanges(ctx context.Context, x *index.Index, q index.Query) error {
	list, err := x.Changes(ctx, q)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(append([]audit.Record{}, list...))
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, a.lineRow(r))
	}
	a.Table(lineColumns()...).Print(rows...)
	return nil
}
