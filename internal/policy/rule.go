package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mycelium/internal/policy/box"
)

// Rule is one rule of a rules file. A key that it leaves out does not restrict it: a rule without tool, role, skill, stage, annotations,
// match, args and when applies to every call, except that an allow rule must name its tools. docs/reference/files.md describes the keys.
//
// In a condition (When), an absent argument is null: without a mode, args.mode != "safe" is true, has(args.mode) is false, and a use that
// null does not support, such as args.n > 5, does not match. Every other error, and more work than the cost limit, makes a deny or ask rule
// deny. In an allow rule, a condition over paths or hosts needs at least one of them, and every path must be resolved; paths has the
// cleaned and the resolved form of each path. A deny rule hides its tools if its condition uses only tool, server, role, skills,
// principal, parent, stage and annotations.
type Rule struct {
	Name        string            `yaml:"name" json:"name" about:"of the rule, as the log and explanations have it"`
	Action      string            `yaml:"action" json:"action" about:"deny, ask or allow; escalate means ask"`
	Tool        Names             `yaml:"tool" json:"tool,omitempty" about:"patterns; a bare Write is agent__Write"`
	Role        Names             `yaml:"role" json:"role,omitempty" about:"patterns; inherited roles count too"`
	Skill       Names             `yaml:"skill" json:"skill,omitempty" about:"one of these skills is active"`
	Stage       Names             `yaml:"stage" json:"stage,omitempty" about:"workflow stages"`
	Annotations map[string]bool   `yaml:"annotations" json:"annotations,omitempty" about:"hints of the tool; a missing hint has the default of MCP"`
	Match       Fields            `yaml:"match" json:"match,omitempty" about:"what the call would do: effect, path, host, program"`
	Args        map[string]Values `yaml:"args" json:"args,omitempty" about:"arguments by dotted path"`
	Named       bool              `yaml:"named" json:"named,omitempty" about:"only the paths that a call names; of deny and ask rules"`
	When        string            `yaml:"when" json:"when,omitempty" about:"a CEL condition"`
	Checked     [][]byte          `yaml:"-" json:"-"` // When as [when.Compiler.Check] has it; or nil
	Reason      string            `yaml:"reason" json:"reason,omitempty" about:"for people"`
	Result      Guard             `yaml:"result" json:"result,omitzero" about:"what is done to results; of allow and ask rules only"`
	Sandbox     box.Box           `yaml:"sandbox" json:"sandbox,omitzero" about:"the sandbox that the call must run in"`
	Place       string            `yaml:"place" json:"place,omitempty" of:"outside,no-wall" about:"of allow and ask rules: where the command then runs; absent: in the sandbox"`
	Fault       string            `yaml:"-" json:"-"` // what is wrong with it beyond this package; or ""
	Examples    Examples          `yaml:"examples" json:"examples,omitzero" about:"what myc policy test checks"`
	File        string            `yaml:"-" json:"-"` // where the rule stands, for problems
	Line        int               `yaml:"-" json:"-"` // likewise; 0 is unknown
}

// Examples are the tests that a rule carries.
type Examples struct {
	Match    []Example `yaml:"match" json:"match,omitempty" about:"calls that the rule must match"`
	NotMatch []Example `yaml:"not_match" json:"not_match,omitempty" about:"calls that it must not match"`
}

// Example is one call. Role, skills and stage are taken from the rule if the example leaves them out.
type Example struct {
	Tool   string         `yaml:"tool" json:"tool" about:"the tool that is called"`
	Args   map[string]any `yaml:"args" json:"args,omitempty" about:"its arguments"`
	Role   string         `yaml:"role" json:"role,omitempty" about:"of the caller"`
	Skills []string       `yaml:"skills" json:"skills,omitempty" about:"that are active"`
	Stage  string         `yaml:"stage" json:"stage,omitempty" about:"of the workflow"`
	Cwd    string         `yaml:"cwd" json:"cwd,omitempty" about:"default: the project folder"`
}

// Names is a list of names or patterns, written as a list or as one string with "|" between them.
type Names []string

// YAMLSchema is how people write names.
func (Names) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "array"}, "items": map[string]any{"type": "string"}}
}

// UnmarshalYAML reads either form.
func (n *Names) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		for part := range strings.SplitSeq(v, "|") {
			*n = append(*n, strings.TrimSpace(part))
		}
		return nil
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return fmt.Errorf("%v is not a name; write a list of strings", e)
			}
			*n = append(*n, s)
		}
		return nil
	}
	return fmt.Errorf("%v is not a name; write a string with \"|\" between names, or a list of strings", v)
}

// Value is one pattern over a value. Exactly one of Literal, Glob and Regex is set.
type Value struct {
	Literal *string `yaml:"literal,omitempty" json:"literal,omitempty" about:"the value equals it"`
	Glob    *string `yaml:"glob,omitempty" json:"glob,omitempty" about:"doublestar: \"*\" stops at \"/\", \"**\" does not"`
	Regex   *string `yaml:"regex,omitempty" json:"regex,omitempty" about:"RE2; it matches the whole value"`
	Legacy  bool    `yaml:"-" json:"legacy,omitempty"` // written as {pattern, type}: one field of the rule must match
	Plain   bool    `yaml:"-" json:"-"`                // Literal was written as a plain string, not as {literal: …}
}

// Fields are the conditions of a rule by field. Where they are written as any, or as {any: {…}}, one condition of match and args is
// enough.
type Fields map[string]Values

// anyField has no patterns, and says that one condition is enough.
const anyField = "any"

// Any reports whether one condition of the rule is enough.
func (f Fields) Any() bool {
	vs, written := f[anyField]
	return written && len(vs) == 0
}

// YAMLSchema is how people write conditions.
func (Fields) YAMLSchema() map[string]any {
	return map[string]any{"anyOf": []any{map[string]any{"const": anyField}, map[string]any{"type": "object"}}}
}

// UnmarshalYAML reads a map of fields, {any: map}, or any.
func (f *Fields) UnmarshalYAML(decode func(any) error) error {
	var word string
	var either struct {
		Any map[string]Values `yaml:"any"`
	}
	m := map[string]Values{}
	err := decode(&m)
	switch {
	case err == nil && Fields(m).Any(): // any: without a value
		return errors.New("any has no conditions; write {any: {path: …}}, or any beside args")
	case err == nil:
		*f = m
	case decode(&word) == nil && word == anyField:
		*f = Fields{anyField: nil}
	case decode(&either) == nil && len(either.Any) > 0:
		*f = either.Any
		(*f)[anyField] = nil
	default:
		return err
	}
	return nil
}

// Values are patterns of which one must match, written as one pattern or as a list.
type Values []Value

// YAMLSchema is how people write patterns.
func (Values) YAMLSchema() map[string]any { return map[string]any{} }

// UnmarshalYAML reads one pattern or a list of patterns. A pattern is a scalar, which is a literal, or {literal:}, {glob:}, {regex:}, or
// the older {pattern:, type:}.
func (vs *Values) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		p, err := readPattern(e)
		if err != nil {
			return err
		}
		*vs = append(*vs, p)
	}
	return nil
}

func readPattern(v any) (Value, error) {
	m, ok := v.(map[string]any)
	if !ok {
		s, err := scalar(v)
		return Value{Literal: &s, Plain: true}, err
	}
	if _, legacy := m["pattern"]; legacy {
		return readLegacy(m)
	}
	if len(m) != 1 {
		return Value{}, errors.New("a pattern has one key: literal, glob or regex")
	}
	var p Value
	for key, e := range m {
		s, err := scalar(e)
		if err != nil {
			return Value{}, err
		}
		if err := p.put(key, s); err != nil {
			return Value{}, err
		}
	}
	return p, nil
}

func readLegacy(m map[string]any) (Value, error) {
	p := Value{Legacy: true}
	for key := range m {
		if key != "pattern" && key != "type" {
			return Value{}, fmt.Errorf("unknown key %q of a pattern; write literal, glob or regex", key)
		}
	}
	text, err := scalar(m["pattern"])
	if err != nil {
		return Value{}, err
	}
	kind := "literal"
	if t, ok := m["type"]; ok {
		if kind, ok = t.(string); !ok {
			return Value{}, errors.New("type of a pattern: write literal, glob or regex")
		}
	}
	return p, p.put(kind, text)
}

func (p *Value) put(kind, text string) error {
	switch kind {
	case "literal":
		p.Literal = &text
	case "glob":
		p.Glob = &text
	case "regex":
		p.Regex = &text
	default:
		return fmt.Errorf("unknown kind %q of a pattern; write literal, glob or regex", kind)
	}
	return nil
}

// scalar is the text of a YAML scalar, as an argument's value is compared with it.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case float64:
		return formatFloat(v), nil
	}
	return "", fmt.Errorf("%v is not a pattern; write a string, {literal: …}, {glob: …} or {regex: …}", v)
}

// formatFloat is the one text form of a float, in rules and in arguments.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
