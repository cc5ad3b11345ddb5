package policy

import (
	"time"

	"mycelium/internal/policy/box"
	"mycelium/internal/policy/remote"
)

// Source is everything that people declared, parsed and not yet compiled. Two roles or two grants of one name, the user's and the
// project's, both bound the result: a call that one of them refuses is refused. Rules are concatenated, the user's first.
type Source struct {
	Catalog  []Definition // what the servers offer; order does not matter
	Grants   []Grant      // one for each valid skill
	Roles    []Role
	Rules    []Rule
	Default  []string // session.defaultSkills; nil is every skill that is open to the role
	Fallback Fallback
	Limits   map[string]Limit // by the id or the name of a role, or EveryRole
	Strict   bool             // refuse `inherits` and wildcards
	Dir      string           // project folder, absolute and with links resolved; base constraints protect its own files
	Home     string           // home folder of the user, for the base constraints that begin with ~
	Programs []string         // absolute paths of the programs by which this policy is enforced: a base constraint protects them
	State    string           // absolute path of the folder with state, keys and logs: a base constraint keeps agents out; "": none
	Memory   string           // folder of the memories in the project, relative and with slashes: only their tools reach it; "": none
	Expected []string         // roles that exist although no grant names them: those of skills whose servers have never been started
	Boxes    box.Profiles     // the profiles of the sandbox; nil is the shipped ones
	Wall     string           // the profile of the sandbox in which agents' commands run by default; "" or [NoWall]: they run outside
	Shipped  []Rule           // rules of the program, behind the others. One of Rules stands in the place of the shipped rule of its name
	Broken   Broken           // files that could not be read: calls that they could have restricted are denied
}

// Fallback is the answer to a visible call that no rule decides. The zero value of a field is the default: allow for MCP tools, because the
// skill that declares the tool grants it, and ask for an agent's own tools.
type Fallback struct {
	MCP   string `yaml:"mcp" json:"mcp,omitempty" of:"allow,ask,deny" about:"of tools of MCP servers"`
	Agent string `yaml:"agent" json:"agent,omitempty" of:"allow,ask,deny" about:"of an agent's own tools"`
}

// Broken names files that could not be loaded. The calls that they could have restricted are denied, so a broken file widens nothing.
type Broken struct {
	All   string            // why no call is allowed: a rules file or mycelium.yaml is broken; empty otherwise
	Roles map[string]string // role id → why no call of that role, or of a role that inherits it, is allowed
}

// Definition is one item as its server defines it.
type Definition struct {
	Item        Item
	Raw         []byte          // the definition as the server sent it: a JSON object, unprefixed
	Annotations map[string]bool // the boolean hints of a tool (readOnlyHint …) as far as the operator trusts the server
}

// Grant is what a skill declares: which roles may use it, and which items it makes visible. Without AllowedRoles, the roles whose file
// lists the skill may use it. A tool may have limits, as in agent__Bash(git *).
type Grant struct {
	Name             string   `yaml:"name" json:"name" about:"of the skill"`
	AllowedRoles     []string `yaml:"allowedRoles" json:"allowedRoles,omitempty" about:"\"*\" is every role"`
	AllowedTools     []string `yaml:"allowedTools" json:"allowedTools,omitempty" about:"patterns; \"?x\" is optional"`
	AllowedResources []string `yaml:"allowedResources" json:"allowedResources,omitempty" about:"server__uri-glob (doublestar)"`
	AllowedPrompts   []string `yaml:"allowedPrompts" json:"allowedPrompts,omitempty" about:"patterns"`
	Grants           Grants   `yaml:"grants" json:"grants,omitzero" about:"what else it opens"`
}

// Grants are the capabilities of a skill other than items.
type Grants struct {
	Memory          string   `yaml:"memory" json:"memory,omitempty" about:"none, isolated, team or all; empty is none"`
	MemoryTeamRoles []string `yaml:"memoryTeamRoles" json:"memoryTeamRoles,omitempty" about:"with memory: team, the roles whose memories are read"`
}

// Role is a ceiling over skills, with a prompt and a model. With ToolIDs it is also a skill of its own.
type Role struct {
	ID            string   `yaml:"id" json:"id" about:"of the role; it is the name of its file"`
	Name          string   `yaml:"name" json:"name,omitempty" about:"for people"`
	Description   string   `yaml:"description" json:"description,omitempty" about:"what the role is for"`
	AllowedSkills []string `yaml:"allowedSkills" json:"allowedSkills,omitempty" about:"the only ones that it may have; \"*\" is all; absent: no ceiling"`
	ToolIDs       []string `yaml:"toolIds" json:"toolIds,omitempty" about:"tools that it has in any case"`
	Deny          []string `yaml:"deny" json:"deny,omitempty" about:"patterns of items that it hides"`
	OnlyTools     []string `yaml:"onlyTools" json:"onlyTools,omitempty" about:"it sees no other tools, control tools neither; absent: no ceiling"`
	Ask           []string `yaml:"ask" json:"ask,omitempty" about:"effects: a call that has one waits for a person"`
	MayStart      []string `yaml:"mayStart" json:"mayStart,omitempty" about:"roles of the sub-agents that it may start, besides its own"`
	Inherits      string   `yaml:"inherits" json:"inherits,omitempty" about:"a role whose skills and tools it has too"`
	Prompt        string   `yaml:"prompt" json:"prompt,omitempty" about:"what an agent in this role is told"`

	Promotion  string `yaml:"promotion" json:"promotion,omitempty" about:"auto, confirm or manual; it only narrows session.promotion"`
	ToolSearch string `yaml:"toolSearch" json:"toolSearch,omitempty" about:"on, off, auto or a number: what lists leave out"`

	Remote *remote.Instruction `yaml:"remoteInstruction" json:"remoteInstruction,omitempty" about:"a prompt of a server, used in place of prompt"`

	Model     *Model     `yaml:"model" json:"model,omitempty" about:"that it prefers"`
	CreatedAt *time.Time `yaml:"createdAt" json:"createdAt,omitempty" about:"a date"`
	UpdatedAt *time.Time `yaml:"updatedAt" json:"updatedAt,omitempty" about:"a date"`
}

// Model is the language model that a role prefers.
type Model struct {
	Provider    string         `yaml:"provider" json:"provider,omitempty" about:"anthropic, openai, gemini or ollama"`
	Model       string         `yaml:"model" json:"model,omitempty" about:"its name at the provider"`
	Temperature *float64       `yaml:"temperature" json:"temperature,omitempty" about:"0 to 1"`
	MaxTokens   int            `yaml:"maxTokens" json:"maxTokens,omitempty" about:"of one answer"`
	Options     map[string]any `yaml:"options" json:"options,omitempty" about:"further ones, for the provider"`
}

// Problem is a fault in the declarations. It is for the operator; an agent never sees it.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1; 0 is unknown
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Tool    string `json:"-"`                 // the name of a tool that the catalog does not have; a caller may hint at the nearest one
	Role    string `json:"-"`                 // the role that it breaks, whose declaration the policy knows by name only
	Skill   string `json:"-"`                 // the skill against whose declaration it is, likewise
	Key     string `json:"-"`                 // the key of that declaration, such as grants.memory, or one of mycelium.yaml that has no effect
	Warning bool   `json:"warning,omitempty"` // the declaration takes effect all the same
}
