package api

import (
	"time"

	"mycelium/internal/op"
)

// The operations that tell people of tools, whatever a session sees of them.
var (
	ToolsKnown = op.Op[op.None, KnownTools]{Name: "tools/known", Act: "look at every tool",
		About: "All tools, their categories, and the roles that see them", Route: op.Route{Pattern: "GET /api/tools", ID: "tools", Tag: "policy"}}
	ToolsSync = op.Op[op.None, SyncedTools]{Name: "tools/sync", Act: "write the index of tools", About: "Ask the servers for their tools anew",
		Route: op.Route{Pattern: "POST /api/tools/sync", ID: "syncTools", Tag: "policy"}}
)

// KnownTools are all tools of a project, as far as it is known what its servers offer.
type KnownTools struct {
	Categories []ToolCategory `json:"categories"` // in their order; those without a tool too
	Tools      []KnownTool    `json:"tools"`      // by name
	Unknown    []string       `json:"unknown"`    // servers that have not told yet what they offer
	Synced     time.Time      `json:"synced,omitzero"`
}

// ToolCategory groups tools for people.
type ToolCategory struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Order       int    `json:"order"`
	Tools       int    `json:"tools"` // how many it has
}

// KnownTool is a tool with who may use it. Its skills are all that grant it.
type KnownTool struct {
	Tool
	Roles []string `json:"roles"`          // that see it once the skills open to them are active
	Held  string   `json:"held,omitempty"` // why it is in quarantine
}

// SyncedTools says what was written about the tools, and of which servers it is not known what they offer.
type SyncedTools struct {
	Tools      int               `json:"tools"`
	SourceHash string            `json:"sourceHash"`
	Wrote      []string          `json:"wrote"`
	Failed     map[string]string `json:"failed,omitempty"` // by server, why
}

// Role is a role in the list of roles.
type Role struct {
	ID          string   `json:"id"`
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Tools       int      `json:"tools"`   // that it sees once the skills open to it are active
	Skills      []string `json:"skills"`  // open to it
	ToolIDs     []string `json:"toolIds"` // that its file gives it besides
	Missing     []string `json:"missing"` // those of them that name no tool that exists
	Inherits    []string `json:"inherits"`
	Files       []string `json:"files"`             // that declare it, as shown; none: a skill names it
	Shipped     bool     `json:"shipped,omitzero"`  // its file comes with the program, and is not in the project
	Locked      string   `json:"locked,omitempty"`  // why its file cannot be changed as one of the project
	Broken      string   `json:"broken,omitempty"`  // why no call of it is allowed
	Sessions    int      `json:"sessions,omitzero"` // that have it now
}
