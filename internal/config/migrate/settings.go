package migrate

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// orchestrator is ClaudeCube's config/orchestrator.yaml (requirements, E16). A nil pointer is an absent key.
type orchestrator struct {
	Model      string   `yaml:"model"`
	Total      *float64 `yaml:"maxTotalBudgetUsd"`
	Agents     *int     `yaml:"maxAgents"`
	Escalation struct {
		Model      string   `yaml:"evaluatorModel"`
		Confidence *float64 `yaml:"confidenceThreshold"`
		Seconds    *int     `yaml:"telegramTimeoutSeconds"`
	} `yaml:"escalation"`
	Telegram struct {
		Enabled  *bool `yaml:"enabled"`
		Start    *bool `yaml:"notifyOnStart"`
		Complete *bool `yaml:"notifyOnComplete"`
		Error    *bool `yaml:"notifyOnError"`
		Denials  *int  `yaml:"denialAlertThreshold"`
	} `yaml:"telegram"`
	Agent struct {
		Turns   *int     `yaml:"maxTurnsPerAgent"`
		Budget  *float64 `yaml:"maxBudgetPerAgent"`
		Denials *int     `yaml:"consecutiveDenialLimit"`
	} `yaml:"agent"`
}

// readSettings is the plan for the settings of the orchestrator. They go to mycelium.yaml; the file itself stays.
func readSettings(name string, text, main []byte) (*Plan, []policy.Problem) {
	var o orchestrator
	problems := yamlfile.Decode(name, text, &o)
	if source.Faulty(problems) {
		return nil, append(problems, source.Fault(name, 0, "is neither a rules file nor the settings of ClaudeCube's orchestrator",
			"name one of them: myc config migrate config/orchestrator.yaml"))
	}
	p := &Plan{}
	for _, s := range p.put(main, o.settings()) {
		p.note("%s is not written, because %s has %s.%s, or a form that cannot be changed: write %s there", s.from, source.MainFile,
			s.section, s.key, s)
	}
	if o.Model != "" {
		p.note("model: %s is of agents that Mycelium starts itself, which it does not do yet: it stays in %s", o.Model, name)
	}
	if o.Agents != nil {
		p.note("maxAgents: %d is of agents that Mycelium starts itself, which it does not do yet: it stays in %s", *o.Agents, name)
	}
	t := o.Telegram
	if on := t.Enabled; on != nil && *on {
		p.note("telegram.enabled: write approval.telegram in %s: {token: \"${TELEGRAM_BOT_TOKEN}\", users: [YOUR ID]}, and name the variable "+
			"under env", source.MainFile)
	}
	for key, on := range map[string]*bool{"notifyOnStart": t.Start, "notifyOnComplete": t.Complete, "notifyOnError": t.Error} {
		if on != nil && !*on {
			p.note("telegram.%s: false is said by leaving it out of approval.telegram.notices", key)
		}
	}
	if o.Total != nil {
		p.note("maxTotalBudgetUsd was of one run, and agents.budget.total is of a day")
	}
	slices.Sort(p.Notes)
	return p, problems
}

// settings are those that mycelium.yaml has too.
func (o *orchestrator) settings() (out []setting) {
	var budget, denials, judge []string
	add := func(list *[]string, key string, written bool, value any) {
		if written {
			*list = append(*list, key+": "+fmt.Sprint(value))
		}
	}
	add(&budget, "session", o.Agent.Budget != nil, of(o.Agent.Budget))
	add(&budget, "total", o.Total != nil, of(o.Total))
	add(&denials, "alert", o.Telegram.Denials != nil, of(o.Telegram.Denials))
	add(&denials, "end", o.Agent.Denials != nil, of(o.Agent.Denials))
	add(&judge, "model", o.Escalation.Model != "", yamlfile.Text(o.Escalation.Model))
	add(&judge, "confidence", o.Escalation.Confidence != nil, of(o.Escalation.Confidence))
	for _, s := range []struct {
		section, key, from string
		parts              []string
	}{{"agents", "budget", "maxBudgetPerAgent and maxTotalBudgetUsd", budget},
		{"agents", "denials", "denialAlertThreshold and consecutiveDenialLimit", denials}, {"approval", "judge", "escalation", judge}} {
		if len(s.parts) > 0 {
			out = append(out, setting{section: s.section, key: s.key, value: "{" + strings.Join(s.parts, ", ") + "}", from: s.from})
		}
	}
	if o.Agent.Turns != nil {
		out = append(out, setting{section: "agents", key: "turns", value: fmt.Sprint(*o.Agent.Turns), from: "maxTurnsPerAgent"})
	}
	if o.Escalation.Seconds != nil {
		out = append(out, setting{section: "approval", key: "deadline", value: fmt.Sprintf("%ds", *o.Escalation.Seconds),
			from: "telegramTimeoutSeconds"})
	}
	return out
}

// of is what p points to, or the zero value.
func of[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
