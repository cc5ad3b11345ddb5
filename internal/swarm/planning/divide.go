package planning

import (
	"context"
	"fmt"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
	"strings"
)

// divideSchema is the form in which a model divides a task.
const divideSchema = `{"type": "object", "additionalProperties": false, "required": ["features"],
 "properties": {"features": {"type": "array", "minItems": 1, "maxItems": 30,
 "items": {"type": "object", "additionalProperties": false, "required": ["id", "description"], "properties": {
 "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}, "description": {"type": "string", "minLength": 1, "maxLength": 2000},
 "details": {"type": "string", "maxLength": 10000}, "dependsOn": {"type": "array", "items": {"type": "string"}},
 "files": {"type": "array", "items": {"type": "string"}}, "estimate": {"type": "number", "minimum": 1, "maximum": 480}}}}}}`

// Divide has a model divide a task into features (row C1). What it answers is a plan that keeps the laws of [plan.New], or there is none:
// it is told once what is wrong. material is what it is given to read about the project, as a part of a prompt. usd is what it cost.
func Divide(ctx context.Context, ask Ask, task, material string) (p plan.Plan, usd float64, err error) {
	said := dividePrompt(task, material)
	var problems []policy.Problem
	for range 2 {
		answer, cost, err := ask(ctx, divideSchema, said)
		usd += cost
		if err != nil {
			return plan.Plan{}, usd, err
		}
		var divided struct {
			Features []plan.Feature `json:"features"`
		}
		if err := rawjson.Decode(answer, &divided); err != nil {
			return plan.Plan{}, usd, fmt.Errorf("read the features of the model: %w", err)
		}
		if p, problems = plan.New(divided.Features); len(problems) == 0 {
			return p, usd, nil
		}
		said = dividePrompt(task, material) + "\n# Your answer before this one\n\n" + text.Truncate(string(answer), 20000) +
			"\n\nIt was refused. Answer again, without these problems:\n\n" + listed(problems)
	}
	return plan.Plan{}, usd, text.Hinted(fmt.Errorf("the model divided the task into features that cannot be worked off: %s",
		listed(problems)),
		"write the features as a list, one a line that begins with -")
}

// listed are the first problems, a line each.
func listed(problems []policy.Problem) string {
	var b strings.Builder
	for _, p := range problems[:min(len(problems), 10)] {
		fmt.Fprintf(&b, "- %s\n", p.Message)
	}
	return strings.TrimSpace(b.String())
}

func dividePrompt(task, material string) string {
	return "Divide a task into features for several coding agents, who work on them side by side, each in a git worktree of its own, " +
		"and whose work is\n" +
		"merged feature by feature.\n\n# The task\n\n" + strings.TrimSpace(task) + "\n\n# What a feature is\n\n" +
		"- It takes an agent 15 to 60 minutes, and can be verified and merged by itself. As few features as that allows.\n" +
		"- Its description is one sentence that says what is to be done; its details say what the one who does it has to know.\n" +
		"- It depends on another one (dependsOn, by id) only if it cannot be begun before that one is merged. No circles.\n" +
		"- Two features that need not wait for each other touch different files. Name the files (files, relative to the project) where " +
		"you know them.\n" +
		"- estimate is in minutes.\n" + material
}
