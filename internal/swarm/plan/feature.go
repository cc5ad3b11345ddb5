// Package plan reads and checks the plan of a swarm: the features, what they depend on, and what is known about them before anybody
// works on them. It reads a list of lines, a Markdown plan, and a YAML or JSON file; it refuses circles, unknown names and texts that
// are too long with a reason that names the feature; it scores how complex a feature is, and predicts which features conflict. It is
// pure.
package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Feature is one unit of work, as it is written in a plan.
type Feature struct {
	ID          string      `json:"id" yaml:"id" about:"[A-Za-z0-9_-]{1,64}; feature-N if the plan names none"`
	Description string      `json:"description" yaml:"description" about:"what is to be done"`
	Details     string      `json:"details,omitempty" yaml:"details" about:"what stands below the description, as Markdown"`
	DependsOn   []string    `json:"dependsOn,omitempty" yaml:"dependsOn" about:"ids of features that land before"`
	Role        string      `json:"role,omitempty" yaml:"role" about:"of its worker"`
	Skills      []string    `json:"skills,omitempty" yaml:"skills" about:"that are active for its worker"`
	Files       []string    `json:"files,omitempty" yaml:"files" about:"what it will touch: paths in the project; a folder ends in a slash"`
	Validation  *Validation `json:"validation,omitempty" yaml:"validation" about:"what must hold before it lands"`
	Budget      Budget      `json:"budget,omitzero" yaml:"budget" about:"what it may use"`
	Estimate    Minutes     `json:"estimate,omitempty" yaml:"estimate" about:"0 is unknown"`
	Route       Route       `json:"route,omitzero" yaml:"route" about:"which worker takes it"`
}

// Validation is what must hold before a feature is complete (row C90 of the requirements).
type Validation struct {
	Enabled          bool     `json:"enabled" yaml:"enabled" about:"true, unless the plan says otherwise"`
	CoverageTarget   float64  `json:"coverageTarget,omitempty" yaml:"coverageTarget" about:"percent"`
	TestPassRequired bool     `json:"testPassRequired" yaml:"testPassRequired" about:"true, unless the plan says otherwise"`
	EnforceBlocking  bool     `json:"enforceBlocking" yaml:"enforceBlocking" about:"true, unless the plan says otherwise"`
	VerifyCommand    Command  `json:"verifyCommand,omitempty" yaml:"verifyCommand" about:"a program and its arguments; no shell"`
	ExpectedPackages []string `json:"expectedPackages,omitempty" yaml:"expectedPackages" about:"packages that may be added"`
}

// newValidation is a validation for which the plan says nothing.
func newValidation() Validation {
	return Validation{Enabled: true, TestPassRequired: true, EnforceBlocking: true}
}

type plainValidation Validation

// YAMLSchema is how people write a validation: with the keys of the type.
func (Validation) YAMLSchema() map[string]any { return nil }

// UnmarshalYAML decodes a validation and keeps the defaults of what is absent.
func (v *Validation) UnmarshalYAML(unmarshal func(any) error) error {
	*v = newValidation()
	return unmarshal((*plainValidation)(v))
}

// UnmarshalJSON decodes a validation and keeps the defaults of what is absent.
func (v *Validation) UnmarshalJSON(data []byte) error {
	*v = newValidation()
	return json.Unmarshal(data, (*plainValidation)(v))
}

// Budget is what a feature may use. Zero is no limit of its own.
type Budget struct {
	USD     float64 `json:"usd,omitempty" yaml:"usd" about:"US dollars"`
	Tokens  int64   `json:"tokens,omitempty" yaml:"tokens" about:"of the model"`
	Minutes Minutes `json:"minutes,omitempty" yaml:"minutes" about:"of work"`
}

// Minutes is a length of time. In a plan it is a number of minutes or a duration such as 1h30m.
type Minutes float64

// Duration is m as a time.Duration.
func (m Minutes) Duration() time.Duration { return time.Duration(float64(m) * float64(time.Minute)) }

// YAMLSchema is how people write a length of time in a plan.
func (Minutes) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "number"}, "examples": []any{30, "1h30m"}}
}

// UnmarshalText reads a number of minutes or a duration.
func (m *Minutes) UnmarshalText(b []byte) error {
	s := strings.ReplaceAll(strings.TrimSpace(string(b)), " ", "")
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		*m = Minutes(n)
		return nil
	}
	for _, unit := range []string{"minutes", "minute", "mins", "min", "分"} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			s = number + "m"
			break
		}
	}
	for _, unit := range []string{"hours", "hour", "時間"} {
		s = strings.Replace(s, unit, "h", 1)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is no length of time: write minutes (30) or a duration (1h30m)", b)
	}
	*m = Minutes(d.Minutes())
	return nil
}

// UnmarshalJSON reads a number of minutes or a duration as text.
func (m *Minutes) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	return m.UnmarshalText([]byte(s))
}

// Command is a program and its arguments. In a plan it is a list, or one text that is split at spaces and quotes.
type Command []string

// YAMLSchema is how people write a command in a plan.
func (Command) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "array"}, "items": map[string]any{"type": "string"}}
}

// UnmarshalYAML reads a list or a text.
func (c *Command) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal((*[]string)(c)) == nil {
		return nil
	}
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	return c.split(s)
}

// UnmarshalJSON reads a list or a text.
func (c *Command) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		return json.Unmarshal(b, (*[]string)(c))
	}
	return c.split(s)
}

// split makes words of a text. What a shell would do more with is refused, because there is no shell.
func (c *Command) split(s string) (err error) {
	if i := strings.IndexAny(s, "&|;$`<>\n\r\\"); i >= 0 {
		return fmt.Errorf("the command %q has %q, which only a shell understands: write one program and its arguments", s, s[i:i+1])
	}
	*c, err = Words(s)
	return err
}

// ParseCommand reads a command that is written as one text.
func ParseCommand(s string) (Command, error) {
	var c Command
	err := c.split(s)
	return c, err
}

// Words splits a text at spaces; quotes hold a word together.
func Words(s string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the command %q has a quote that does not end", s)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// Plan is a list of features that keeps the laws of [New]. Its order is the order in which the features were written.
type Plan struct {
	Features []Feature `json:"features"`
	Programs []string  `json:"-"` // that verifyCommand may name besides those of [verify.Programs]: a person has allowed them
}

// Feature is the feature of an id.
func (p Plan) Feature(id string) (Feature, bool) {
	if i := p.index(id); i >= 0 {
		return p.Features[i], true
	}
	return Feature{}, false
}

func (p Plan) index(id string) int {
	return slices.IndexFunc(p.Features, func(f Feature) bool { return f.ID == id })
}

func (p Plan) ids() []string {
	ids := make([]string, len(p.Features))
	for i, f := range p.Features {
		ids[i] = f.ID
	}
	return ids
}
