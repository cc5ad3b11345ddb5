package edit

import (
	"context"
	"fmt"

	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/node/replay"
	"mycelium/internal/policy"
)

// Declared returns what the files in force declare.
func (e *Editor) Declared() api.DeclaredReply {
	v := e.View()
	out := api.DeclaredReply{Rules: []api.RuleAt{}, Skills: []api.SkillAt{}, Servers: []api.ServerAt{}}
	for _, r := range v.Project.Rules {
		out.Rules = append(out.Rules, api.RuleAt{At: at(v.Project, r.File, r.Line), Rule: r.Name, Action: r.Action, Tools: r.Tool, Roles: r.Role,
			Reason: r.Reason, Examples: len(r.Examples.Match) + len(r.Examples.NotMatch)})
	}
	for _, s := range v.Skills.All() {
		row := api.SkillAt{At: at(v.Project, s.File, 0), Skill: s.Name, State: string(s.State), Source: string(s.Source),
			Description: s.Description, Roles: v.RolesOf(s), Tools: s.AllowedTools, Problems: []string{}}
		for _, p := range s.Problems {
			row.Problems = append(row.Problems, project.ProblemText(p))
		}
		out.Skills = append(out.Skills, row)
	}
	offers := map[string][]string{}
	for _, d := range v.Catalog.Definitions {
		offers[d.Item.Server] = append(offers[d.Item.Server], d.Item.Name)
	}
	statuses := v.Pool.Status()
	for _, s := range v.Project.Servers {
		file, line := v.Project.Where("mcpServers." + s.Name)
		row := api.ServerAt{At: at(v.Project, file, line), Runs: s.Command + s.URL, Offers: offers[s.Name], Disabled: s.Disabled}
		row.Status.Name = s.Name
		for _, status := range statuses {
			if status.Name == s.Name {
				row.Status = status
			}
		}
		out.Servers = append(out.Servers, row)
	}
	return out
}

// at is a place in a file as shown.
func at(p *config.Project, file string, line int) api.At {
	out := api.At{File: file, Line: line}
	if kindOf(p, file) != "" {
		out.Name = file
	}
	return out
}

// The bounds of [Editor.Replay]: how many recorded calls are decided again, among how many lines of the log.
const (
	replayCalls = 10_000
	replayLines = 4 * replayCalls
)

// Replay says which of the last recorded calls would be decided otherwise than now if an edit were saved. Calls that the policy in force
// decides otherwise than was recorded, because something else changed since, are left out.
func (e *Editor) Replay(ctx context.Context, p api.FilesEdit) (replay.Report, error) {
	c, err := e.look("replay", p)
	if err != nil {
		return replay.Report{}, err
	}
	now := e.View()
	next := now.With(c.cand.Project)
	next.Compile()
	o, err := now.Project.AuditLog()
	if err != nil {
		return replay.Report{}, err
	}
	from, err := audit.Back(o, replayLines)
	if err != nil {
		return replay.Report{}, fmt.Errorf("replay: %w", err)
	}
	var lines []audit.Line
	seen := map[string]bool{}
	for line, err := range audit.Read(ctx, o, from, false) {
		if err != nil {
			return replay.Report{}, fmt.Errorf("replay: %w", err)
		}
		if line.Kind == audit.Decided && !seen[line.ID] {
			seen[line.ID] = true
			lines = append(lines, line)
		}
	}
	r := replay.By(next.Policy)
	for _, line := range lines[max(0, len(lines)-replayCalls):] {
		line.Effect, line.Unknown, line.Rule = decided(now.Policy, line)
		r.Take(&line)
	}
	return r.Report(), nil
}

// decided is what a policy says of a recorded call now, in the form of the record; what no policy decided stays.
func decided(p *policy.Policy, line audit.Line) (effect string, unknown bool, rule string) {
	d, ok := replay.Decide(p, &line)
	if !ok {
		return line.Effect, line.Unknown, line.Rule
	}
	return d.Effect.String(), d.Unknown, d.Rule
}
