package agent

import (
	"slices"
	"strings"

	"mycelium/internal/agent/journal"
	"mycelium/internal/gate/control"
	"mycelium/internal/model"
	"mycelium/internal/rawjson"
	"mycelium/internal/run"
)

// gateway is what Claude Code puts before the names of the gateway's tools.
const gateway = "mcp__mycelium__"

// toolName is the name of a tool of Claude Code, as the policy knows it.
func toolName(name string) string {
	if ours, ok := strings.CutPrefix(name, gateway); ok {
		return ours
	}
	return "agent__" + name
}

// answer takes a block of an answer, or all of them: the program sends each block when it is whole.
func (d *drive) answer(s spoken) {
	var blocks []model.Block
	if rawjson.Decode(s.Message.Content, &blocks) != nil {
		return
	}
	d.write(journal.Line{Kind: journal.Answer, Blocks: blocks, Model: s.Message.Model})
	m := model.Message{Content: blocks}
	if said := textOf(m); said != "" {
		d.text.Reset()
		d.text.WriteString(said)
	}
	for _, use := range usesOf(m) {
		name := toolName(use.Name)
		if !slices.Contains(d.out.Tools, name) {
			d.out.Tools = append(d.out.Tools, name)
		}
		d.names[use.ID] = name
		d.write(journal.Line{Kind: journal.Called, ID: use.ID, Tool: name, Args: use.Input})
		d.tell(Event{Call: &Call{ID: use.ID, Tool: name, Args: []byte(use.Input)}})
	}
}

// outcome is the end of a call, as the program has it: content is a text or blocks.
type outcome struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	Content any    `json:"content"`
	IsError bool   `json:"is_error"`
}

// outcomes takes the outcomes of calls.
func (d *drive) outcomes(s spoken) {
	var all []outcome
	if rawjson.Decode(s.Message.Content, &all) != nil {
		return
	}
	for _, o := range all {
		if o.Type != "tool_result" || d.names[o.ID] == "" {
			continue
		}
		said := textIn(o.Content)
		cost := CostOf(d.names[o.ID], []byte(said))
		d.below += cost
		d.write(journal.Line{Kind: journal.Outcome, ID: o.ID, Text: said, Failed: o.IsError, Cost: cost})
		effect := ""
		if o.IsError && strings.Contains(said, "Denied by policy: ") {
			effect, d.halt = "deny", d.halt || run.Halts(said)
		}
		d.tell(Event{Done: &Done{CallID: o.ID, Effect: effect, Failed: o.IsError, Text: said}})
	}
}

// textIn is the text of a content.
func textIn(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var parts []string
		for _, one := range c {
			if block, ok := one.(map[string]any); ok {
				if s, ok := block["text"].(string); ok {
					parts = append(parts, s)
				}
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

// CostOf is what a sub-agent cost, in USD, by the result of the call that started it: an object of JSON. 0: the call started none.
func CostOf(tool string, result []byte) float64 {
	var r control.AgentResult
	if tool != control.SpawnItem().String() || rawjson.Decode(result, &r) != nil {
		return 0
	}
	return max(0, r.Usage.Cost)
}
