package meaning

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/approval/judge"
	"mycelium/internal/policy"
)

// quoted writes a name that may be absent.
func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// list writes names with commas between them.
func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// named finds a policy in words by its id.
func named(all []judge.Policy, id string) (judge.Policy, bool) {
	if i := slices.IndexFunc(all, func(p judge.Policy) bool { return p.ID == id }); i >= 0 {
		return all[i], true
	}
	return judge.Policy{}, false
}

// gained returns the entries of is that was does not have.
func gained[T comparable](was, is []T) []T {
	var out []T
	for _, e := range is {
		if !slices.Contains(was, e) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// ruleName is a rule's name for people.
func ruleName(r *policy.Rule) string {
	if r.Name == "" {
		return "without a name"
	}
	return r.Name
}

// describe says what a rule does.
func describe(r *policy.Rule) string {
	verb := map[string]string{"deny": "denies ", "ask": "asks about ", "escalate": "asks about ", "allow": "allows "}[r.Action]
	var b strings.Builder
	b.WriteString(verb + toolNames(r.Tool))
	for _, part := range []struct {
		before string
		names  policy.Names
	}{{" for role ", r.Role}, {" with skill ", r.Skill}, {" in stage ", r.Stage}} {
		if len(part.names) > 0 {
			b.WriteString(part.before + strings.Join(part.names, " or "))
		}
	}
	var where []string
	for _, key := range slices.Sorted(maps.Keys(r.Annotations)) {
		where = append(where, key+" is "+strconv.FormatBool(r.Annotations[key]))
	}
	where = append(where, conditions(r)...)
	if r.Named {
		where = append(where, "the call names the file")
	}
	if r.When != "" {
		where = append(where, r.When)
	}
	if len(where) > 0 {
		b.WriteString(" where " + strings.Join(where, " and "))
	}
	switch {
	case !r.Sandbox.None():
		b.WriteString(", in the sandbox " + r.Sandbox.String())
	case r.Sandbox.Grants():
		b.WriteString(", and opens in the sandbox" + r.Sandbox.String())
	}
	if r.Place != "" {
		b.WriteString(", outside of the sandbox")
	}
	if g := r.Result.String(); g != "" {
		b.WriteString(" (" + g + ")")
	}
	return b.String()
}

// toolNames writes the tools of a rule.
func toolNames(names policy.Names) string {
	if len(names) == 0 || slices.Contains(names, "*") {
		return "every tool"
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = toolName(n)
	}
	return strings.Join(out, ", ")
}

// toolName writes an agent's own tool without its server.
func toolName(s string) string { return strings.TrimPrefix(s, policy.AgentServer+"__") }

// maxValues is how many patterns of a field are written out. The lines of the file have them all.
const maxValues = 3

// conditions are those of match and args: several, or one text if one of them is enough.
func conditions(r *policy.Rule) (where []string) {
	for _, key := range slices.Sorted(maps.Keys(r.Match)) {
		if len(r.Match[key]) > 0 {
			where = append(where, key+" is "+values(r.Match[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Args)) {
		where = append(where, "args."+key+" is "+values(r.Args[key]))
	}
	if r.Match.Any() && len(where) > 1 {
		return []string{"either " + strings.Join(where, " or ")}
	}
	return where
}

// values writes the patterns of a field.
func values(vs policy.Values) string {
	var out []string
	for _, v := range vs {
		for _, s := range []*string{v.Literal, v.Glob, v.Regex} {
			if s != nil {
				out = append(out, *s)
			}
		}
	}
	if n := len(out); n > maxValues+1 {
		out = append(out[:maxValues], strconv.Itoa(n-maxValues)+" more")
	}
	return strings.Join(out, " or ")
}
