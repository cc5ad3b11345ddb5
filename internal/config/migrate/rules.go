package migrate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mycelium/internal/config/rules"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// editor changes the lines of a rules file.
type editor struct {
	plan  *Plan
	lines []string
	rules []policy.Rule // as they stand in the lines, with the line of each
}

// rewrite writes the old rules anew, the last one first, so that the lines of the others stay.
func (e *editor) rewrite() {
	for i, r := range slices.Backward(e.rules) {
		if !old(r) {
			continue
		}
		name := fmt.Sprintf("rule %s", r.Name)
		start := r.Line - 1
		if start < 0 || start >= len(e.lines) || !strings.HasPrefix(strings.TrimSpace(e.lines[start]), "- ") ||
			i+1 < len(e.rules) && e.rules[i+1].Line == r.Line {
			e.plan.note("%s stays as it is: it does not begin on a line of its own", name)
			continue
		}
		if more(r) {
			e.plan.note("%s stays as it is: it has keys that ClaudeCube does not know", name)
			continue
		}
		dash := strings.Index(e.lines[start], "-")
		end := e.end(start, dash)
		indent := e.lines[start][:dash]
		var out []string
		for _, c := range comments(e.lines[start:end]) {
			out = append(out, indent+c)
		}
		for _, l := range e.write(r) {
			out = append(out, indent+l)
		}
		e.lines = slices.Concat(e.lines[:start:start], out, e.lines[end:])
	}
}

// old reports whether a rule is written in the older form.
func old(r policy.Rule) bool {
	for _, vs := range r.Match {
		if slices.ContainsFunc(vs, func(v policy.Value) bool { return v.Legacy }) {
			return true
		}
	}
	return false
}

// more reports whether a rule has keys that the older form does not have.
func more(r policy.Rule) bool {
	return len(r.Role)+len(r.Skill)+len(r.Stage)+len(r.Annotations)+len(r.Args)+len(r.Examples.Match)+len(r.Examples.NotMatch) > 0 ||
		r.When != "" || !r.Sandbox.None() || r.Result != (policy.Guard{}) || r.Match.Any()
}

// end is the line after the item of a list that begins at start, behind so many spaces.
func (e *editor) end(start, spaces int) int {
	end := start + 1
	for i := end; i < len(e.lines); i++ {
		l := strings.TrimLeft(e.lines[i], " ")
		depth := len(e.lines[i]) - len(l)
		switch l = strings.TrimSpace(l); {
		case l == "", strings.HasPrefix(l, "#") && depth <= spaces:
		case depth <= spaces:
			return end
		default:
			end = i + 1
		}
	}
	return end
}

// comments are the comments in some lines.
func comments(lines []string) (out []string) {
	for _, l := range lines {
		at := strings.LastIndex(" "+l, " #")
		if at < 0 || strings.Count(l[:at], `"`)%2+strings.Count(l[:at], "'")%2 > 0 {
			continue
		}
		out = append(out, strings.TrimSpace(l[at:]))
	}
	return out
}

// write writes a rule in the present form. In the older form one field is enough, so each field becomes a rule of its own.
func (e *editor) write(r policy.Rule) (lines []string) {
	fields := slices.Sorted(maps.Keys(r.Match))
	for i, field := range fields {
		name := r.Name
		if i > 0 {
			name += "-" + field
		}
		action := r.Action
		if action == "escalate" {
			action = policy.Ask.String()
		}
		lines = append(lines, "- name: "+yamlfile.Text(name), "  action: "+action)
		if len(r.Tool) > 0 {
			lines = append(lines, "  tool: "+yamlfile.Text(strings.Join(r.Tool, "|")))
		}
		var values []string
		for _, v := range r.Match[field] {
			values = append(values, value(v, action))
		}
		where, what := "args", yamlfile.Text(field)
		if policy.IsPathArg(field) {
			where, what = "match", "path" // in every form of the path, with links followed
		}
		lines = append(lines, "  "+where+": {"+what+": ["+strings.Join(values, ", ")+"]}")
		if r.Reason != "" {
			lines = append(lines, "  reason: "+yamlfile.Text(r.Reason))
		}
	}
	if len(fields) > 1 {
		e.plan.note("rule %s is %d rules now, because one of its fields was enough (match: {any: …} says that in one rule)", r.Name,
			len(fields))
	}
	return lines
}

// value writes a pattern. An expression of the older form is found anywhere in the text where it refuses.
func value(v policy.Value, action string) string {
	switch {
	case v.Glob != nil:
		return "{glob: " + yamlfile.Text(*v.Glob) + "}"
	case v.Regex != nil && action != policy.Allow.String():
		return "{regex: " + yamlfile.Text("(?s:.*)(?:"+*v.Regex+")(?s:.*)") + "}"
	case v.Regex != nil:
		return "{regex: " + yamlfile.Text(*v.Regex) + "}"
	default:
		return "{literal: " + yamlfile.Text(*v.Literal) + "}"
	}
}

// version writes the version as a number, if it is written as a text.
func (e *editor) version() {
	quoted := regexp.MustCompile(`^version:\s*["']1["']`)
	for i, l := range e.lines {
		e.lines[i] = quoted.ReplaceAllString(l, "version: 1")
	}
}

// defaults removes the defaults, except those that have no other place.
func (e *editor) defaults(left []setting, f *rules.File) {
	start := slices.IndexFunc(e.lines, func(l string) bool { return strings.HasPrefix(l, "defaults:") })
	if start < 0 {
		return
	}
	end := e.end(start, 0)
	var keep []string
	for _, s := range left {
		switch s.from {
		case "unmatched":
			keep = append(keep, "unmatched: "+rules.Stricter(f.Fallback.MCP, f.Fallback.Agent))
		case "max_budget_per_agent":
			keep = append(keep, s.from+": "+number(f.Budget))
		default:
			keep = append(keep, s.from+": "+fmt.Sprint(f.Turns))
		}
	}
	out := comments(e.lines[start:end])
	if len(keep) > 0 {
		out = append(out, "defaults: {"+strings.Join(keep, ", ")+"}")
	}
	e.lines = slices.Concat(e.lines[:start:start], out, e.lines[end:])
}
