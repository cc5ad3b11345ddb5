// Package skill reads skills: what they declare, what they teach and when they apply.
//
// A skill is a folder with a SKILL.md (YAML front matter and a body in Markdown), a SKILL.yaml, or both; then the front matter
// is the base and SKILL.yaml overrides it key by key. [Load] reads the files, [Validate] checks the declarations against the
// catalog of what the servers offer: a skill that names an unknown or malformed tool is invalid whole, and takes no effect.
// What an operator is told of it no agent ever sees.
package skill

import (
	"io/fs"
	"strings"

	"mycelium/internal/policy"
)

// Skill is one skill as its files declare it. The grant is what the policy compiles; the rest is for people and models.
type Skill struct {
	policy.Grant `yaml:",inline"`
	DisplayName  string    `yaml:"displayName" json:"displayName,omitempty"`
	Description  string    `yaml:"description" json:"description"`
	Triggers     []string  `yaml:"triggers" json:"triggers,omitempty"`
	Commands     []Command `yaml:"commands" json:"commands,omitempty"`
	Metadata     Metadata  `yaml:"metadata" json:"metadata,omitzero"`

	// Identity is what the skill says of agents that are matched by their skills; kept as it is written.
	Identity map[string]any `yaml:"identity" json:"identity,omitempty"`

	Instructions string `yaml:"-" json:"-"` // the body of SKILL.md, else README.md
	Source       Source `yaml:"-" json:"source"`
	Dir          fs.FS  `yaml:"-" json:"-"` // its folder, for resources
	File         string `yaml:"-" json:"-"` // path of the file that declares it, as shown to people

	origin origin // where each key stands, for problems
}

// Source says whose a skill is: "project", "user", "shipped" or "mcp:SERVER".
type Source string

// Command is a slash command that a skill brings.
type Command struct {
	Name        string     `yaml:"name" json:"name"`
	Description string     `yaml:"description" json:"description,omitempty"`
	HandlerType string     `yaml:"handlerType" json:"handlerType"` // tool or script
	ToolName    string     `yaml:"toolName" json:"toolName,omitempty"`
	ScriptPath  string     `yaml:"scriptPath" json:"scriptPath,omitempty"`
	Arguments   []Argument `yaml:"arguments" json:"arguments,omitempty"`
	Usage       string     `yaml:"usage" json:"usage,omitempty"`
}

// Argument is one argument of a command.
type Argument struct {
	Name        string `yaml:"name" json:"name"`
	Description string `yaml:"description" json:"description,omitempty"`
	Required    bool   `yaml:"required" json:"required,omitempty"`
	Default     any    `yaml:"default" json:"default,omitempty"`
}

// Metadata is for people.
type Metadata struct {
	Version  string   `yaml:"version" json:"version,omitempty"`
	Category string   `yaml:"category" json:"category,omitempty"`
	Author   string   `yaml:"author" json:"author,omitempty"`
	Tags     []string `yaml:"tags" json:"tags,omitempty"`
}

// UnmarshalYAML reads our four keys and passes over all others: in Agent Skills metadata is a free map of texts, where the tags
// are one text with commas.
func (m *Metadata) UnmarshalYAML(decode func(any) error) error {
	var free map[string]any
	if err := decode(&free); err != nil {
		return err
	}
	text := func(key string) string {
		s, _ := free[key].(string)
		return s
	}
	*m = Metadata{Version: text("version"), Category: text("category"), Author: text("author")}
	if m.Version == "" && free["version"] != nil {
		var only struct{ Version string }
		var texts map[string]looseText // a version such as 1.10 is a number to YAML; as text it keeps its zero
		if decode(&texts) == nil {
			only.Version = string(texts["version"])
		}
		m.Version = only.Version
	}
	switch tags := free["tags"].(type) {
	case string:
		for t := range strings.SplitSeq(tags, ",") {
			if t = strings.TrimSpace(t); t != "" {
				m.Tags = append(m.Tags, t)
			}
		}
	case []any:
		for _, t := range tags {
			if s, ok := t.(string); ok {
				m.Tags = append(m.Tags, s)
			}
		}
	}
	return nil
}

// looseText is a scalar as it is written, or nothing for what is no scalar.
type looseText string

func (l *looseText) UnmarshalYAML(decode func(any) error) error {
	var s string
	if decode(&s) == nil {
		*l = looseText(s)
	}
	return nil
}

// Catalog is what skills are validated against.
type Catalog struct {
	Definitions []policy.Definition
	Pending     map[string]string // configured servers whose catalog is not known yet → why
	Held        []policy.Item     // in quarantine: they exist and are granted to nobody
}

// State of a skill after validation.
type State string

// The states. Only a valid skill takes effect.
const (
	Valid   State = "valid"
	Invalid State = "invalid"
	Pending State = "pending" // names a tool of a server that was never started yet
)

// Checked is a skill with the result of its validation.
type Checked struct {
	Skill
	State    State
	Problems []policy.Problem
}

// position is a place in a file.
type position struct {
	file string
	line int
}

// origin knows where the keys of a skill stand.
type origin struct {
	keys  map[string]position // "allowedTools", "commands[1]" …
	tools []position          // one per entry of AllowedTools
}

// at is the place of a key; the skill's file where the key is not known.
func (s *Skill) at(key string) position {
	if p, ok := s.origin.keys[key]; ok {
		return p
	}
	return position{file: s.File}
}

// toolAt is the place of an entry of AllowedTools.
func (s *Skill) toolAt(i int) position {
	if i < len(s.origin.tools) {
		return s.origin.tools[i]
	}
	return s.at("allowedTools")
}

func (p position) problem(message, hint string) policy.Problem {
	return policy.Problem{File: p.file, Line: p.line, Message: message, Hint: hint}
}

func (p position) warning(message, hint string) policy.Problem {
	return policy.Problem{File: p.file, Line: p.line, Message: message, Hint: hint, Warning: true}
}
