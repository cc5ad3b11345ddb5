package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval/judge"
	"mycelium/internal/config"
	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/policy/policytest"
	"mycelium/internal/text"
)

// policyWords is `myc policy words`: the policies in words, which a model puts before its own opinion when it judges calls.
func (a *app) policyWords() *cobra.Command {
	c := &cobra.Command{Use: "words", Short: "List, add and remove policies in words; make a rule of some",
		Example: "  myc policy words list", Args: base.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var tool string
	var q ruleOf
	var shared bool
	add := &cobra.Command{Use: "add TEXT", Short: "Add a policy in words", Args: cobra.ExactArgs(1),
		Example: `  myc policy words add --tool Bash "Never publish on Fridays."`,
		RunE:    func(_ *cobra.Command, args []string) error { return a.wordsAdd(args[0], tool, shared) }}
	add.Flags().StringVar(&tool, "tool", "", "a pattern of the tools that it is about (default: every tool)")
	add.Flags().BoolVar(&shared, "shared", false, "write policies.yaml, for everybody in the project, not policies.local.yaml")
	toRule := &cobra.Command{Use: "to-rule N …", Short: "Replace policies in words by one rule", Args: cobra.MinimumNArgs(1),
		Example: `  myc policy words to-rule pol_1 pol_2 --rule "deny Bash(npm publish *) because we publish from CI" --match "npm publish"`,
		RunE:    func(_ *cobra.Command, args []string) error { return a.wordsToRule(args, q) }}
	toRule.Flags().StringArrayVar(&q.match, "match", nil, "a command or path that the rule must match: an example in the file")
	toRule.Flags().StringArrayVar(&q.not, "not-match", nil, "one that it must not match")
	toRule.Flags().StringVar(&q.line, "rule", "", "the rule: ACTION TOOL or ACTION TOOL(GLOB), with the reason after \"because\"")
	c.AddCommand(add, toRule,
		&cobra.Command{Use: "list", Short: "List the policies in words", Example: "  myc policy words list --json", Args: base.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.wordsList() }},
		&cobra.Command{Use: "remove N …", Short: "Remove policies in words", Example: "  myc policy words remove pol_1",
			Args: cobra.MinimumNArgs(1), RunE: func(_ *cobra.Command, args []string) error { return a.wordsRemove(args) }})
	return c
}

func (a *app) wordsList() error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	if a.JSON {
		return a.PrintJSON(append([]judge.Policy{}, v.Project.Policies...))
	}
	var rows [][]string
	for _, p := range v.Project.Policies {
		since := "–"
		if !p.CreatedAt.IsZero() {
			since = p.CreatedAt.Local().Format(time.DateOnly)
		}
		rows = append(rows, []string{p.ID, base.OrDash(p.Tool), since, text.OneLine(p.Description)})
	}
	a.Table(base.Column{Name: "ID"}, base.Column{Name: "TOOL", Drop: 2}, base.Column{Name: "SINCE", Drop: 1},
		base.Column{Name: "POLICY", Least: 20}).Print(rows...)
	return nil
}

// change writes the files of the project as a person does: what is accepted stays accepted.
func (a *app) change(write func(p *config.Project, folders []string) error) error {
	if err := a.NeedPerson("change the policies in words"); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.Project.Write(time.Now(), func(folders []string) error { return write(v.Project, folders) })
}

func (a *app) wordsAdd(words, tool string, shared bool) error {
	return a.change(func(_ *config.Project, folders []string) error {
		p, err := rules.AddPolicy(folders, words, tool, shared, time.Now())
		if err == nil {
			fmt.Fprintf(a.Out, "added %s\n", p.ID)
		}
		return err
	})
}

func (a *app) wordsRemove(args []string) error {
	return a.change(func(_ *config.Project, folders []string) error {
		if err := rules.RemovePolicies(folders, idsOf(args)); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "removed %s\n", strings.Join(idsOf(args), ", "))
		return nil
	})
}

// idsOf completes ids: 3 is pol_3.
func idsOf(args []string) (ids []string) {
	for _, s := range args {
		ids = append(ids, "pol_"+strings.TrimPrefix(s, "pol_"))
	}
	return ids
}

// ruleOf are the flags of to-rule.
type ruleOf struct {
	line       string
	match, not []string
}

// rule returns the rule with its examples, each of which holds.
func (q ruleOf) rule() (policy.Rule, error) {
	r, err := judge.ParseRule(q.line)
	if err != nil {
		return r, err
	}
	tool, argument := r.Tool[0], "file_path"
	if tool == policy.Bash.String() {
		argument = "command"
	}
	for _, s := range q.match {
		r.Examples.Match = append(r.Examples.Match, rules.OfText(tool, argument, s))
	}
	for _, s := range q.not {
		r.Examples.NotMatch = append(r.Examples.NotMatch, rules.OfText(tool, argument, s))
	}
	if len(q.match)+len(q.not) == 0 {
		return r, nil
	}
	named := r
	named.Name = "new"
	p, problems := policy.New(policy.Source{Rules: []policy.Rule{named}, Boxes: box.Alone(named.Sandbox)})
	for _, bad := range append(problems, policytest.Examples(p, config.ReadCommand)...) {
		if !bad.Warning {
			return r, fmt.Errorf("%s", bad.Message)
		}
	}
	return r, nil
}

// wordsToRule adds a rule and takes out the policies that it replaces.
func (a *app) wordsToRule(args []string, q ruleOf) error {
	if q.line == "" {
		return failure.Usagef(`policy words to-rule: which rule? Write it after --rule, such as "deny Bash(npm publish *) because ` +
			`we publish from CI"`)
	}
	rule, err := q.rule()
	if err != nil {
		return failure.New(failure.Usage, err, "")
	}
	ids := idsOf(args)
	return a.change(func(p *config.Project, folders []string) error {
		reason, err := said(p, ids)
		if err != nil {
			return err
		}
		if rule.Reason == "" {
			rule.Reason = reason
		}
		name, err := rules.Add(folders, rule, "a person from "+strings.Join(ids, ", "), time.Now())
		if err != nil {
			return err
		}
		if err := rules.RemovePolicies(folders, ids); err != nil {
			return fmt.Errorf("the rule %s is written, the policies stay: %w", name, err)
		}
		fmt.Fprintf(a.Out, "rule %s in %s replaces %s\n", name, source.RulesFile, strings.Join(ids, ", "))
		return nil
	})
}

// said returns the words of policies in one line.
func said(p *config.Project, ids []string) (string, error) {
	var all []string
	for _, id := range ids {
		n := len(all)
		for _, have := range p.Policies {
			if have.ID == id {
				all = append(all, have.Description)
			}
		}
		if len(all) == n {
			return "", failure.Hint(fmt.Errorf("policy words: there is no %s", id), "myc policy words list shows all")
		}
	}
	return text.OneLine(strings.Join(all, " ")), nil
}
