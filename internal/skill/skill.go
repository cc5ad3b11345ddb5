// Package skill reads skills: their grants, instructions and triggers.
//
// A skill is a folder with a SKILL.md (YAML front matter and a Markdown body), a SKILL.yaml, or both; then SKILL.yaml overrides the front
// matter key by key. [Load] reads the files. [Validate] checks the declarations against the catalog of the servers: a skill with an
// unknown or malformed tool is invalid as a whole and takes no effect. Problems are for the operator; agents do not see them.
package skill

import (
	"io/fs"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/identity"
)

// Skill is a skill as its files declare it. The policy compiles the grant; the rest is for people and models.
type Skill struct {
	policy.Grant `yaml:",inline"`
	DisplayName  string    `yaml:"displayName" json:"displayName,omitempty" about:"for people"`
	Description  string    `yaml:"description" json:"description" about:"what it does, and when it is used"`
	Triggers     []string  `yaml:"triggers" json:"triggers,omitempty" about:"words of a person that suggest it"`
	Commands     []Command `yaml:"commands" json:"commands,omitempty" about:"that people type"`
	Metadata     Metadata  `yaml:"metadata" json:"metadata,omitzero" about:"version, category, author and tags"`
	Sandbox      string    `yaml:"sandbox" json:"sandbox,omitempty" about:"the profile that its scripts run with; empty: standard"`
	Requires     Requires  `yaml:"requires" json:"requires,omitzero" about:"what must be on the machine"`

	Identity *identity.Declared `yaml:"identity" json:"identity,omitempty" about:"gives roles to agents by the skills that their agent cards list"`

	Instructions string `yaml:"-" json:"-"` // the body of SKILL.md, or README.md
	Source       Source `yaml:"-" json:"source"`
	Dir          fs.FS  `yaml:"-" json:"-" msgpack:"-"` // its folder, for resources
	File         string `yaml:"-" json:"-"`             // path, as shown to people, of the file that declares the skill

	origin origin // places of the keys, for problems
}

// Plain returns the skill without its folder and without the places of its keys in the file.
func (s Skill) Plain() Skill {
	s.Dir, s.origin = nil, origin{}
	return s
}

// Sandboxes are the profiles of the sandbox that a skill may name for its scripts, the narrowest first. None of them has a network.
func Sandboxes() []string { return []string{"strict", "standard", "project"} }

// Source is the origin of a skill: "project", "user", "shipped" or "mcp:SERVER".
type Source string

// Command is a slash command of a skill.
type Command struct {
	Name        string     `yaml:"name" json:"name" about:"as people type it"`
	Description string     `yaml:"description" json:"description,omitempty" about:"what it does"`
	HandlerType string     `yaml:"handlerType" json:"handlerType" about:"tool or script"`
	ToolName    string     `yaml:"toolName" json:"toolName,omitempty" about:"the tool that is called"`
	ScriptPath  string     `yaml:"scriptPath" json:"scriptPath,omitempty" about:"the script that is run, in the folder of the skill"`
	Arguments   []Argument `yaml:"arguments" json:"arguments,omitempty" about:"of the command"`
	Usage       string     `yaml:"usage" json:"usage,omitempty" about:"an example"`
}

// Argument is one argument of a command.
type Argument struct {
	Name        string `yaml:"name" json:"name" about:"of the argument"`
	Description string `yaml:"description" json:"description,omitempty" about:"what it is"`
	Required    bool   `yaml:"required" json:"required,omitempty" about:"it must be given"`
	Default     any    `yaml:"default" json:"default,omitempty" about:"its value if it is not given"`
}

// Requires are what the instructions and scripts of a skill use on the machine. They grant nothing, and a skill takes effect without them:
// package need looks for them, for people. An entry may name several, with | between them, of which one is enough.
type Requires struct {
	Programs []string `yaml:"programs" json:"programs,omitempty" about:"found in PATH"`
	Python   []string `yaml:"python" json:"python,omitempty" about:"modules of python3, by the name that import takes"`
}

// Metadata is for people.
type Metadata struct {
	Version  string   `yaml:"version" json:"version,omitempty"`
	Category string   `yaml:"category" json:"category,omitempty"`
	Author   string   `yaml:"author" json:"author,omitempty"`
	Tags     []string `yaml:"tags" json:"tags,omitempty"`
}

// YAMLSchema is how people write metadata: keys of other programs are ignored.
func (Metadata) YAMLSchema() map[string]any { return map[string]any{"type": "object"} }

// UnmarshalYAML reads our four keys and ignores all others. In Agent Skills, metadata is a free map of texts, and its tags are a text with
// commas.
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
		var texts map[string]looseText // a version such as 1.10 is a number in YAML, and loses its zero
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

// looseText is a scalar as it is written. It is empty for other values.
type looseText string

func (l *looseText) UnmarshalYAML(decode func(any) error) error {
	var s string
	if decode(&s) == nil {
		*l = looseText(s)
	}
	return nil
}

// Catalog is the set of items against which skills are validated.
type Catalog struct {
	Definitions []policy.Definition
	Pending     map[string]string // configured servers whose catalog is unknown → reason
	Held        []policy.Item     // items in quarantine, which exist but are not granted
}

// State of a skill after validation.
type State string

// The states. Only a valid skill takes effect.
const (
	Valid   State = "valid"
	Invalid State = "invalid"
	Pending State = "pending" // names a tool of a server that has never been started
)

// Checked is a skill with the result of its validation.
type Checked struct {
	Skill
	State    State
	Problems []policy.Problem
	Waits    []string // of a pending skill: the servers that it waits for
}

// position is a place in a file.
type position struct {
	file string
	line int
}

// origin has the places of a skill's keys.
type origin struct {
	keys  map[string]position // "allowedTools", "commands[1]" …
	tools []position          // one per entry of AllowedTools
}

// Place returns the file and the line of a key, such as allowedRoles[0]; the line is 0 if it is not known.
func (s *Skill) Place(key string) (file string, line int) {
	p := s.at(key)
	return p.file, p.line
}

// at returns the place of a key, or the skill's file if the key is unknown.
func (s *Skill) at(key string) position {
	if p, ok := s.origin.keys[key]; ok {
		return p
	}
	return position{file: s.File}
}

// toolAt returns the place of an entry of AllowedTools.
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
