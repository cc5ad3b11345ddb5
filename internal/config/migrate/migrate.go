// Package migrate gives the present form of ClaudeCube's files: its rules, and the settings of its orchestrator.
//
// A rules file is changed where it is old, and keeps its other bytes. What stands in its defaults goes to mycelium.yaml. The result allows
// no call that the old file does not allow here.
package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// Plan is what an old file becomes.
type Plan struct {
	Text  []byte   // the rules file in its present form; nil: the file holds settings
	Main  []byte   // mycelium.yaml with what belongs there; nil: it stays as it is
	Added []string // what Main has in addition, as "agents.turns: 50"
	Notes []string // what could not be carried over, or means something else: one sentence each
}

// Old reports whether anything of the file or of mycelium.yaml changes.
func (p *Plan) Old(text []byte) bool {
	return p.Main != nil || p.Text != nil && string(p.Text) != string(text)
}

// Read returns the plan for a file. name is its path as shown, and main the text of mycelium.yaml, nil if there is none. It returns no plan
// if the file has a fault.
func Read(name string, text, main []byte) (*Plan, []policy.Problem) {
	top := yamlfile.Keys(text)
	isRules := false
	for _, key := range []string{"rules", "defaults", "version"} {
		_, has := top[key]
		isRules = isRules || has
	}
	if isRules {
		return readRules(name, text, main)
	}
	return readSettings(name, text, main)
}

// setting is a key of mycelium.yaml.
type setting struct {
	section, key string
	value        string // YAML on one line
	note         string // a comment for people; may be empty
	from         string // the old key
}

func (s setting) String() string { return s.section + "." + s.key + ": " + s.value }

// put adds settings to mycelium.yaml, each for itself. It returns those that the file cannot take: it has the key with another value, or a
// form that cannot be changed.
func (p *Plan) put(main []byte, settings []setting) (left []setting) {
	for _, s := range settings {
		line := s.key + ": " + s.value
		if s.note != "" {
			line += "   # " + s.note
		}
		changed, err := yamlfile.AddEntry(main, s.section, s.key, []string{line})
		if err != nil {
			left = append(left, s)
			continue
		}
		main, p.Main, p.Added = changed, changed, append(p.Added, s.String())
	}
	return left
}

// number writes a number as people write it.
func number(f float64) string { return fmt.Sprint(f) }

// readRules is the plan for a rules file.
func readRules(name string, text, main []byte) (*Plan, []policy.Problem) {
	f, problems := rules.Parse(name, text)
	if f == nil {
		return nil, problems
	}
	p := &Plan{}
	left := p.put(main, p.settings(f, main))
	for _, s := range left {
		p.note("defaults.%s stays, because %s says something else, or has a form that cannot be changed: write %s there, and remove it here",
			s.from, source.MainFile, s)
	}
	e := editor{plan: p, lines: strings.Split(string(text), "\n"), rules: f.Rules}
	e.rewrite()
	e.version()
	e.defaults(left, f)
	p.Text = []byte(strings.Join(e.lines, "\n"))
	if err := check(name, p.Text, f); err != nil { // a form that the editor does not know
		return nil, append(problems, source.Fault(name, 0, "cannot be written in the present form: "+err.Error(), "change it by hand"))
	}
	slices.Sort(p.Notes)
	return p, problems
}

// settings are what the defaults of a rules file say beyond mycelium.yaml.
func (p *Plan) settings(f *rules.File, main []byte) (settings []setting) {
	var have struct {
		Policy struct {
			Fallback policy.Fallback `yaml:"fallback"`
		} `yaml:"policy"`
		Agents struct {
			Turns  int `yaml:"turns"`
			Budget struct {
				Session float64 `yaml:"session"`
			} `yaml:"budget"`
		} `yaml:"agents"`
	}
	_ = yamlfile.Decode(source.MainFile, main, &have) // its other keys are unknown here
	if f.Budget != 0 && (have.Agents.Budget.Session == 0 || f.Budget < have.Agents.Budget.Session) {
		settings = append(settings, setting{"agents", "budget", "{session: " + number(f.Budget) + "}", "US dollars of a session",
			"max_budget_per_agent"})
	}
	if f.Turns != 0 && (have.Agents.Turns == 0 || f.Turns < have.Agents.Turns) {
		settings = append(settings, setting{"agents", "turns", fmt.Sprint(f.Turns), "answers of the model in a session", "max_turns_per_agent"})
	}
	now := policy.Fallback{MCP: cmp.Or(have.Policy.Fallback.MCP, config.DefaultFallbackMCP),
		Agent: cmp.Or(have.Policy.Fallback.Agent, config.DefaultFallbackAgent)}
	next := policy.Fallback{MCP: rules.Stricter(now.MCP, f.Fallback.MCP), Agent: rules.Stricter(now.Agent, f.Fallback.Agent)}
	if next != now {
		settings = append(settings, setting{"policy", "fallback", "{mcp: " + next.MCP + ", agent: " + next.Agent + "}",
			"what becomes of a call that no rule decides", "unmatched"})
	}
	if f.Fallback.MCP == "allow" {
		p.note("unmatched: allow is not carried over: a call that no rule decides still asks where policy.fallback says so")
	}
	return settings
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// check makes sure that a new text reads, and has every rule of the old one.
func check(name string, text []byte, old *rules.File) error {
	f, problems := rules.Parse(name, text)
	if f == nil {
		return fmt.Errorf("%s", problems[0].Message)
	}
	for _, o := range old.Rules {
		if !slices.ContainsFunc(f.Rules, func(r policy.Rule) bool { return r.Name == o.Name }) {
			return fmt.Errorf("rule %s is lost", o.Name)
		}
	}
	return nil
}
