package policy

import "time"

// Source is everything that people declared, parsed and not yet compiled. Two roles, or two grants, of one name (the user's and
// the project's) both bound the result: what either refuses is refused. Rules are concatenated, the user's first.
type Source struct {
	Catalog  []Definition // what the servers offer; order does not matter
	Grants   []Grant      // one per skill that is valid and takes effect
	Roles    []Role
	Rules    []Rule
	Default  []string // session.defaultSkills; nil: every skill open to the role
	Fallback Fallback
	Limits   map[string]Limit // by role, id or name, or EveryRole
	Strict   bool             // refuse `inherits` and wildcards
	Dir      string           // project folder, absolute and with links resolved; base constraints protect its own files
	Home     string           // home folder of the user, for the base constraints that begin with ~
	Broken   Broken           // files that could not be read: what they could have restricted is denied
}

// Fallback is the effect of a visible call that no rule decides. The zero value of a field means the default: allow for MCP
// tools (the skill's declaration is the grant), ask for an agent's own tools.
type Fallback struct {
	MCP   string `yaml:"mcp" json:"mcp,omitempty"`     // "allow", "ask" or "deny"
	Agent string `yaml:"agent" json:"agent,omitempty"` // likewise
}

// Broken names what could not be loaded. Everything that it could have restricted is invisible, so nothing is wider because a
// file is broken.
type Broken struct {
	All   string            // why nothing may be called (a rules file or mycelium.yaml); empty: fine
	Roles map[string]string // role id → why no call of that role, or of a role that inherits it, is allowed
}

// Definition is one item as its server defines it.
type Definition struct {
	Item        Item
	Raw         []byte          // the definition as the server sent it: a JSON object, unprefixed
	Annotations map[string]bool // the boolean hints of a tool (readOnlyHint …) as far as the operator trusts the server
}

// Grant is what a skill declares: which roles may use it, and what it makes visible.
type Grant struct {
	Name             string   `yaml:"name" json:"name"`
	AllowedRoles     []string `yaml:"allowedRoles" json:"allowedRoles,omitempty"`         // "*": every named role; nil: the roles whose file lists this skill
	AllowedTools     []string `yaml:"allowedTools" json:"allowedTools,omitempty"`         // patterns; "?x" is optional; "agent__Bash(git *)" limits the arguments
	AllowedResources []string `yaml:"allowedResources" json:"allowedResources,omitempty"` // server__uri-glob (doublestar)
	AllowedPrompts   []string `yaml:"allowedPrompts" json:"allowedPrompts,omitempty"`     // patterns
	Grants           Grants   `yaml:"grants" json:"grants,omitzero"`
}

// Grants are the capabilities of a skill other than tools.
type Grants struct {
	Memory          string   `yaml:"memory" json:"memory,omitempty"` // none, isolated, team or all; empty: none
	MemoryTeamRoles []string `yaml:"memoryTeamRoles" json:"memoryTeamRoles,omitempty"`
}

// Role is a ceiling over skills, with a prompt and a model; with ToolIDs it is a skill of its own besides.
type Role struct {
	ID            string     `yaml:"id" json:"id"`
	Name          string     `yaml:"name" json:"name,omitempty"`
	Description   string     `yaml:"description" json:"description,omitempty"`
	AllowedSkills []string   `yaml:"allowedSkills" json:"allowedSkills,omitempty"` // "*": all; nil: no ceiling of this kind
	ToolIDs       []string   `yaml:"toolIds" json:"toolIds,omitempty"`
	Deny          []string   `yaml:"deny" json:"deny,omitempty"` // patterns that hide
	Inherits      string     `yaml:"inherits" json:"inherits,omitempty"`
	Prompt        string     `yaml:"prompt" json:"prompt,omitempty"`
	Model         *Model     `yaml:"model" json:"model,omitempty"`
	CreatedAt     *time.Time `yaml:"createdAt" json:"createdAt,omitempty"`
	UpdatedAt     *time.Time `yaml:"updatedAt" json:"updatedAt,omitempty"`
}

// Model is the language model that a role prefers.
type Model struct {
	Provider    string         `yaml:"provider" json:"provider,omitempty"` // anthropic, openai, gemini or ollama
	Model       string         `yaml:"model" json:"model,omitempty"`
	Temperature *float64       `yaml:"temperature" json:"temperature,omitempty"` // 0 to 1
	MaxTokens   int            `yaml:"maxTokens" json:"maxTokens,omitempty"`
	Options     map[string]any `yaml:"options" json:"options,omitempty"`
}

// Problem is something wrong in what people declared, for the operator and never for an agent.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1; 0: unknown
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Tool    string `json:"-"`                 // the name of a tool that the catalog does not have; a caller may hint at the nearest one
	Warning bool   `json:"warning,omitempty"` // nothing is switched off because of it
}
