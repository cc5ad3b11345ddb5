package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// maxRuleArgs bounds the arguments in a written rule, in bytes, so that people can read it.
const maxRuleArgs = 4 << 10

// Approved returns the rule for an answer with [approval.Rule]. It allows this call and no other: the tool, the role and all arguments must
// be the same. For Bash, the command must be the same, with any description and timeout. For an agent's own tool, the working directory
// must be the same too. With another kind than this call, it is the rule of that candidate (approval.Candidates).
// An error says why there can be no such rule, and what to do instead.
func Approved(r approval.Request, as approval.As) (policy.Rule, error) {
	var none policy.Rule
	once := "; approve it once, or for the session"
	switch {
	case r.Kind != approval.Call:
		return none, errors.New("a rule is for a call, and this question is not about one")
	case r.Rule != "" && !r.Lacked.Allowed:
		return none, fmt.Errorf("the rule %q asks about this call, and an allow rule does not overrule one that asks: change that rule%s", r.Rule,
			once)
	case r.Refuses(approval.Rule) != "":
		return none, errors.New(r.Refuses(approval.Rule))
	case len(r.Args) > maxRuleArgs:
		return none, fmt.Errorf("the arguments are longer than a rule that people can read%s", once)
	case r.HoldsSecret():
		return none, fmt.Errorf("the arguments hold a secret, which does not belong in a file%s", once)
	case slices.ContainsFunc(r.Facts.Parts, func(p policy.Part) bool { return slices.Contains(p.Effects, policy.EffectWrittenHere) }):
		return none, fmt.Errorf("the session wrote the code that it runs, and a rule that is written down allows no such code%s", once)
	case r.Sandbox.None() && !r.Code.Whole():
		return none, errors.New("it runs code that was not read, which may become something else; approve it once")
	case r.Sandbox.None() && len(r.Code.Present()) > 0:
		return none, fmt.Errorf("it runs %s, which may become something else, and a rule does not see that%s: those answers "+
			"hold for the content that it has now", codeName(r), once)
	case slices.ContainsFunc(r.Facts.Parts, func(p policy.Part) bool { return slices.ContainsFunc(p.Unclear, tooUnclear) }):
		return none, fmt.Errorf("not all of it was understood, and a rule may allow only what was%s", once)
	}
	if as != "" && as != approval.ThisCall {
		for _, c := range approval.Candidates(r) {
			if c.As == as {
				return c.Rule, nil
			}
		}
		return none, fmt.Errorf("it cannot be approved as %s%s", as, once)
	}
	args := r.Args
	if len(args) == 0 {
		args = jsontext.Value("{}")
	}
	when, err := sameArgs(r.Tool, args)
	if err != nil {
		return none, fmt.Errorf("%w%s", err, once)
	}
	if strings.HasPrefix(r.Tool, policy.AgentServer+"__") {
		when += ` && dir == ` + quote(r.Dir) + ` && !(` + quote(policy.EffectWrittenHere) + ` in effects)`
	}
	rule := policy.Rule{Name: "approved-" + r.ID, Action: "allow", Tool: policy.Names{r.Tool}, When: when, Sandbox: r.RuleSandbox(),
		Place: r.RulePlace()}
	if r.Role != "" {
		rule.Role = policy.Names{r.Role}
	}
	if command := commandOf(args); r.Tool == policy.Bash.String() && (len(r.Facts.Parts) > 1 || isUnclear(r.Facts)) {
		boundByEffects(&rule, command, r)
	}
	if !approval.Holds(rule, r) {
		return none, fmt.Errorf("no rule can be written that would match this call%s", once)
	}
	return rule, nil
}

// tooUnclear reports whether a rule may not allow a command of which this was not understood. The commits that git pull brings are not
// known before they are here, and whoever has the command run without a question has that in mind.
func tooUnclear(why string) bool { return why != policy.FilesNotKnown }

func isUnclear(f policy.Facts) bool {
	return slices.ContainsFunc(f.Parts, func(p policy.Part) bool { return len(p.Unclear) > 0 })
}

func commandOf(args jsontext.Value) string {
	parsed, _ := policy.ParseArgs(args) // sameArgs has read them
	command, _ := parsed["command"].(string)
	return command
}

// boundByEffects makes a rule for one command judge each of its parts, or one that was not understood wholly. Such a rule names the command
// by its text and all that it may do, because its condition may not look at what the command would do.
func boundByEffects(rule *policy.Rule, command string, r approval.Request) {
	effects := []string{}
	for _, p := range r.Facts.Parts {
		effects = append(effects, p.Effects...)
		for _, path := range p.Paths {
			effects = append(effects, string(path.Access))
		}
	}
	if isUnclear(r.Facts) {
		effects = append(effects, policy.EffectUnclear)
	}
	slices.Sort(effects)
	var values policy.Values
	for _, e := range slices.Compact(effects) {
		values = append(values, policy.Value{Literal: &e})
	}
	rule.Match = policy.Fields{"effect": values}
	rule.Args = map[string]policy.Values{"command": {{Literal: &command}}}
	rule.When = `args.all(k, k in ["command", "description", "timeout"]) && dir == ` + quote(r.Dir)
}

// codeName names the code that a call runs, for people.
func codeName(r approval.Request) string {
	files := r.Code.Present()
	name := strings.TrimPrefix(files[0].Path, r.Dir+"/")
	if len(files) > 1 {
		return fmt.Sprintf("%s (and others: %d)", name, len(files)-1)
	}
	return name
}

// sameArgs returns a condition that holds for these arguments. JSON is valid CEL except for the escaped slash, which canonical JSON does
// not use.
func sameArgs(tool string, args jsontext.Value) (string, error) {
	v := args.Clone()
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return "", fmt.Errorf("the arguments cannot be written as a condition: %w", err)
	}
	parsed, err := policy.ParseArgs(v)
	if err != nil {
		return "", fmt.Errorf("the arguments cannot be written as a condition: %w", err)
	}
	if command, ok := parsed["command"].(string); ok && tool == policy.AgentServer+"__Bash" {
		known := append([]string{"command", "timeout"}, policy.IdleArgs(tool)...)
		for key := range parsed {
			if !slices.Contains(known, key) {
				return "", fmt.Errorf("the argument %s makes it another call", strconv.Quote(key))
			}
		}
		return `args.command == ` + quote(command) + ` && args.all(k, k in ["command", "description", "timeout"])`, nil
	}
	return "args == " + string(v), nil
}

// quote writes a text as JSON and CEL do.
func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD")) // no argument equals it
	}
	return string(b)
}

// Append adds a rule to the rules file of this name in each of the folders, with a comment above it: at the end, or at the beginning if it
// grants something to a sandbox, because the first rule that allows decides and others may allow the same call without the grant. It
// creates a missing file; an existing one keeps its bytes. It reads the result to check that the old rules are unchanged.
func Append(folders []string, name, comment, reason string, r policy.Rule) error {
	for _, dir := range folders {
		if err := appendTo(filepath.Join(dir, filepath.FromSlash(name)), comment, reason, r); err != nil {
			return err
		}
	}
	return nil
}

func appendTo(path, comment, reason string, r policy.Rule) error {
	old, err := os.ReadFile(filepath.Clean(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write rule: %w", err)
	}
	name := filepath.Base(path)
	var before, after document
	if source.Faulty(yamlfile.Decode(name, old, &before)) {
		return text.Hinted(fmt.Errorf("write rule: %s does not load as it is", name), "myc config validate says what is wrong with it")
	}
	indent := "  "
	file := source.EndLine(slices.Clone(old))
	switch {
	case len(bytes.TrimSpace(old)) == 0:
		file = []byte("version: 1\nrules:\n")
	case len(before.Rules) == 0:
		if yamlfile.Line(old, "$.rules") == 0 {
			file = append(file, "rules:\n"...)
		}
	default:
		indent = indentOf(old, yamlfile.Line(old, "$.rules[0]"))
	}
	item := ruleText(indent, comment, reason, r)
	want := append(slices.Clone(before.Rules), withReason(r, reason))
	if line := yamlfile.Line(old, "$.rules"); r.Sandbox.Grants() && len(before.Rules) > 0 {
		at := lineEnd(file, line)
		file, want = slices.Concat(file[:at], []byte(item), file[at:]), append(want[len(before.Rules):], before.Rules...)
	} else {
		file = append(file, item...)
	}
	if source.Faulty(yamlfile.Decode(name, file, &after)) || len(after.Rules) != len(want) || !sameRules(want, after.Rules) {
		return text.Hinted(fmt.Errorf("write rule: %s cannot be extended in the form that it has", name), "add it by hand:\n"+item)
	}
	if err := atomicfile.Write(path, file, 0o644); err != nil {
		return fmt.Errorf("write rule: %w", err)
	}
	return nil
}

// lineEnd is the offset at which the line ends; the first line is 1.
func lineEnd(text []byte, line int) (at int) {
	for range line {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

func withReason(r policy.Rule, reason string) policy.Rule {
	r.Reason = reason
	return r
}

// indentOf is the white space at the beginning of a line; the first line is 1.
func indentOf(text []byte, line int) string {
	lines := bytes.Split(text, []byte("\n"))
	if line < 1 || line > len(lines) {
		return "  "
	}
	l := lines[line-1]
	return string(l[:len(l)-len(bytes.TrimLeft(l, " "))])
}

// ruleText writes a rule as an item of a list.
func ruleText(indent, comment, reason string, r policy.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n%s- name: %s\n%s  action: %s\n%s  tool: %s\n", indent, comment, indent, quote(r.Name), indent, r.Action, indent,
		quote(r.Tool[0]))
	if len(r.Role) > 0 {
		fmt.Fprintf(&b, "%s  role: %s\n", indent, quote(r.Role[0]))
	}
	for _, line := range fieldLines(r) {
		b.WriteString(indent + "  " + line + "\n")
	}
	if r.When != "" {
		fmt.Fprintf(&b, "%s  when: %s\n", indent, quote(r.When))
	}
	if r.Place != "" {
		fmt.Fprintf(&b, "%s  place: %s\n", indent, r.Place)
	}
	if !r.Sandbox.None() {
		fmt.Fprintf(&b, "%s  sandbox: %s\n", indent, boxText(r.Sandbox))
	}
	fmt.Fprintf(&b, "%s  reason: %s\n", indent, quote(reason))
	if len(r.Examples.Match)+len(r.Examples.NotMatch) > 0 {
		fmt.Fprintf(&b, "%s  examples:\n", indent)
	}
	for _, part := range []struct {
		key  string
		list []policy.Example
	}{{"match", r.Examples.Match}, {"not_match", r.Examples.NotMatch}} {
		if len(part.list) > 0 {
			fmt.Fprintf(&b, "%s    %s:\n", indent, part.key)
		}
		for _, x := range part.list {
			for key, value := range x.Args { // one: see OfText
				fmt.Fprintf(&b, "%s      - {tool: %s, args: {%s: %s}}\n", indent, quote(x.Tool), key, quote(fmt.Sprint(value)))
			}
		}
	}
	return b.String()
}

// boxText writes a sandbox: the name of a profile, or a map.
func boxText(b box.Box) string {
	if !b.Grants() {
		return quote(b.Profile)
	}
	keys := []string{"profile: " + quote(b.Profile)}
	for _, l := range b.Lists() {
		var words []string
		for _, w := range l.Says {
			words = append(words, quote(w))
		}
		keys = append(keys, l.Key+": ["+strings.Join(words, ", ")+"]")
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// OfText returns an example with one argument, which is a text.
func OfText(tool, argument, text string) policy.Example {
	return policy.Example{Tool: tool, Args: map[string]any{argument: text}}
}

func sameRules(a, b []policy.Rule) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// Comment returns the comment above an approved rule, which says who approved it, when, and how to undo it, and the reason of the rule.
func Comment(r approval.Request, a approval.Answer) (comment, reason string) {
	by := text.OneLine(a.By)
	comment = fmt.Sprintf("Approved by %s via %s on %s (request %s). Remove this rule to be asked again.", by, a.Via,
		a.Time.Format(time.DateOnly), r.ID)
	if a.Reason != "" {
		comment += " Why: " + text.OneLine(a.Reason)
	}
	return comment, "Approved by " + by + "."
}
