package api

import (
	"mycelium/internal/op"
	"mycelium/internal/policy"
)

// The operations on roles. The editor of roles tries a change, and saves it with [FilesSave].
var (
	RolesList = op.Op[op.None, []Role]{Name: "roles/list", Act: "look at roles", About: "The roles of a project",
		Route: op.Route{Pattern: "GET /api/roles", ID: "roles", Tag: "policy"}}
	RolesShow = op.Op[RoleParams, RoleDetail]{Name: "roles/show", Act: "look at roles", About: "One role",
		Route: op.Route{Pattern: "GET /api/roles/{id}", ID: "role", Tag: "policy"}}
	RolesTry    = op.Op[RoleTry, RoleTried]{Name: "roles/try", Act: "look at roles"}
	RolesCreate = op.Op[RoleChange, RoleDetail]{Name: "roles/create", Act: "change roles", About: "Make a role",
		Note:  "A new role has a name and at least one tool, or a skill that gives one.",
		Route: op.Route{Pattern: "POST /api/roles", ID: "createRole", Tag: "policy"}}
	RolesUpdate = op.Op[RoleUpdate, RoleDetail]{Name: "roles/update", Act: "change roles", About: "Change a role",
		Note:  "A member that is left out changes nothing.",
		Route: op.Route{Pattern: "PUT /api/roles/{id}", ID: "updateRole", Tag: "policy"}}
	RolesDelete = op.Op[RoleVersion, RoleParams]{Name: "roles/delete", Act: "change roles", About: "Delete a role that nothing names",
		Route: op.Route{Pattern: "DELETE /api/roles/{id}", ID: "deleteRole", Tag: "policy"}}
	RolesRestore = op.Op[RoleRestore, op.None]{Name: "roles/restore", Act: "change roles", // it is a new version
		About: "Put a former version of a role's file in force again"}
)

// RoleParams name a role; empty: one that is new.
type RoleParams struct {
	ID string `json:"id" about:"id of the role"`
}

// RoleVersion names a role as its file was read.
type RoleVersion struct {
	ID     string `json:"id" about:"id of the role"`
	Digest string `json:"digest,omitempty" about:"of the file as it was read; left out: whatever it says"`
	Device string `json:"device,omitempty" by:""`
}

// RoleChange is a role as it shall be.
type RoleChange struct {
	Name        *string   `json:"name,omitzero" about:"for people; the id of a new role comes from it"`
	Description *string   `json:"description,omitzero" about:"what the role is for"`
	Inherits    *string   `json:"inherits,omitzero" about:"the role whose skills and tools it has too"`
	Prompt      *string   `json:"prompt,omitzero" about:"what an agent in this role is told"`
	Skills      *[]string `json:"skills,omitzero" about:"the only ones that it may have"`
	ToolIDs     *[]string `json:"toolIds,omitzero" about:"that it has in any case"`
	Digest      string    `json:"digest,omitempty" about:"of the file as it was read; left out: whatever it says"`
	Device      string    `json:"device,omitempty" by:""`
}

// RoleUpdate is a change of a role that exists.
type RoleUpdate struct {
	ID string `json:"id" about:"id of the role"`
	RoleChange
}

// RoleRestore names a version of a role's file.
type RoleRestore struct {
	File    string `json:"file"`
	Version int    `json:"version"`
	Digest  string `json:"digest"` // of the file as it was read
	Device  string `json:"device,omitempty" by:""`
}

// RoleFields are what the file of a role says, as far as a form has it.
type RoleFields struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Inherits    string        `json:"inherits"`
	Bounded     bool          `json:"bounded"` // Skills are the only ones that it may have
	Skills      []string      `json:"skills"`
	ToolIDs     []string      `json:"toolIds"` // that it has in any case
	Prompt      string        `json:"prompt"`
	Model       *policy.Model `json:"model,omitempty"`
}

// RoleDetail is a role with what its file says.
type RoleDetail struct {
	Role
	File       string      `json:"file,omitempty"` // in the project, that an edit changes or makes; empty: none can be changed
	Digest     string      `json:"digest"`         // of the file; empty: there is none
	Fields     RoleFields  `json:"fields"`
	Further    []string    `json:"further"` // keys that the file has besides
	Entries    []ToolEntry `json:"entries"` // of toolIds
	Sees       []RoleSees  `json:"sees"`    // every tool, by name
	Opens      []RoleSkill `json:"opens"`   // every skill, by name
	References []string    `json:"references"`
}

// ToolEntry is an entry of a role's toolIds.
type ToolEntry struct {
	ID    string   `json:"id"`
	Tools []string `json:"tools"`         // that it gives
	Why   string   `json:"why,omitempty"` // it gives none
}

// RoleSees says whether a role sees a tool once the skills open to it are active.
type RoleSees struct {
	Tool        string   `json:"tool"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	Mutates     bool     `json:"mutates"`
	SaysReads   bool     `json:"saysReads,omitzero"`
	Sees        bool     `json:"sees"`
	Skills      []string `json:"skills"` // that give it; none: the role's own toolIds
	Why         string   `json:"why"`    // it does not see it
}

// RoleSkill says whether a skill is open to a role.
type RoleSkill struct {
	Skill       string `json:"skill"`
	Description string `json:"description"`
	Open        bool   `json:"open"`
	Start       bool   `json:"start"` // it is active when a session begins
	Why         string `json:"why"`   // it is not open
}

// RoleTry is a role as its file shall say it.
type RoleTry struct {
	ID     string     `json:"id"`            // empty: made from the name
	New    bool       `json:"new,omitzero"`  // it has no file yet
	Gone   bool       `json:"gone,omitzero"` // it shall go
	Digest string     `json:"digest"`        // of the file that the person began with
	Fields RoleFields `json:"fields"`
}

// RoleTried says what a change of a role's file would do.
type RoleTried struct {
	ID       string        `json:"id"`
	Edit     FileEdit      `json:"edit"`
	Fault    string        `json:"fault,omitempty"` // the files would not load; then nothing is known of the rest
	Sees     []RoleSees    `json:"sees"`
	Opens    []RoleSkill   `json:"opens"`
	Entries  []ToolEntry   `json:"entries"`
	Sessions []ToolsChange `json:"sessions"` // that would see other tools
	Others   []ToolsChange `json:"others"`   // other roles that would
}

// ToolsChange is how the tools of a session, or of a role, change.
type ToolsChange struct {
	ID    string   `json:"id"`
	Name  string   `json:"name,omitempty"`
	Role  string   `json:"role"`
	Gains []string `json:"gains"`
	Loses []string `json:"loses"`
}

// Tools counts the tools that the role would see.
func (t RoleTried) Tools() (n int) {
	for _, s := range t.Sees {
		if s.Sees {
			n++
		}
	}
	return n
}
