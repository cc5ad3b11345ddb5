package control

import (
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"time"
)

// Manifest is the answer to a role switch (A14).
type Manifest struct {
	Role              string         `json:"role"`
	SystemInstruction string         `json:"systemInstruction"`
	AvailableTools    []ManifestTool `json:"availableTools"`
	AvailableServers  []string       `json:"availableServers"`
	Skills            []string       `json:"activeSkills"`
	Added             []string       `json:"added"`
	Removed           []string       `json:"removed"`
	Metadata          ManifestMeta   `json:"metadata"`
}

// ManifestTool is one tool of a manifest.
type ManifestTool struct {
	Name        string `json:"name"`
	Source      string `json:"source"`
	Description string `json:"description,omitempty"`
}

// ManifestMeta are the counts of a manifest.
type ManifestMeta struct {
	GeneratedAt time.Time `json:"generatedAt"`
	ToolCount   int       `json:"toolCount"`
	ServerCount int       `json:"serverCount"`
}

// ManifestOf describes what a session sees after a switch.
func ManifestOf(sw session.Switch, at time.Time) Manifest {
	after := sw.After
	then, now := sw.Before.View(), after.View()
	m := Manifest{
		Role: after.Scope.Principal.Role, SystemInstruction: teaching(after, MaxInstructions),
		AvailableTools: []ManifestTool{}, AvailableServers: now.Servers(), Skills: append([]string{}, after.Scope.Skills...),
	}
	for _, l := range now.Items[policy.Tool] {
		m.AvailableTools = append(m.AvailableTools, ManifestTool{
			Name: l.Item.String(), Source: l.Item.Server, Description: rawjson.TextAt(l.Raw, "description"),
		})
	}
	m.Added, m.Removed = session.Difference(then.Tools(), now.Tools())
	m.Added, m.Removed = append([]string{}, m.Added...), append([]string{}, m.Removed...)
	m.Metadata = ManifestMeta{GeneratedAt: at, ToolCount: len(m.AvailableTools), ServerCount: len(m.AvailableServers)}
	return m
}
