// Package catalog tells people of every tool of a project, with its category and the roles that see it, and writes the index of tools.
package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/backend/pin"
	"mycelium/internal/config/toolindex"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/socket"
	"mycelium/internal/policy"
	"mycelium/internal/state"
)

// Catalog answers what people ask a node of all tools.
type Catalog struct {
	View  func() *project.View                 // what is in force
	Learn func(context.Context) api.LearnReply // asks every server what it offers
}

// Handle adds the methods of the service to those that a socket answers.
func (s Catalog) Handle(to socket.Table) {
	socket.Handle(to, api.ToolsKnown, func(context.Context, op.Caller, op.None) (api.KnownTools, error) { return Known(s.View()) })
	socket.Handle(to, api.ToolsSync, func(ctx context.Context, _ op.Caller, _ op.None) (api.SyncedTools, error) {
		learned := s.Learn(ctx)
		done, err := Sync(s.View(), time.Now())
		done.Failed = learned.Failed
		return done, err
	})
}

// Known returns every tool.
func Known(v *project.View) (api.KnownTools, error) {
	out := api.KnownTools{Categories: []api.ToolCategory{}, Tools: []api.KnownTool{}, Unknown: slices.Sorted(maps.Keys(v.Catalog.Pending))}
	all, err := v.Tools(policy.Scope{}, true)
	if err != nil {
		return out, err
	}
	categories, err := toolindex.Read(v.Project.Dir, v.Project.Servers)
	if err != nil {
		return out, err
	}
	count := map[string]int{}
	seen, held := seers(v), v.Pool.Catalog().Held
	for _, t := range all {
		known := api.KnownTool{Tool: t, Roles: []string{}}
		if it, err := policy.ParseTool(t.Name); err == nil {
			known.Roles = append(known.Roles, seen(it)...)
			known.Skills = v.Granting(it)
		}
		if i := slices.IndexFunc(held, func(h pin.Held) bool { return h.Name() == t.Name }); i >= 0 {
			known.Held = held[i].Reason
		}
		known.Visible, known.Reason = nil, ""
		count[t.Category]++
		out.Tools = append(out.Tools, known)
	}
	for _, c := range categories.All() {
		out.Categories = append(out.Categories, api.ToolCategory{ID: c.ID, Name: c.Name, Description: c.Description, Order: c.Order,
			Tools: count[c.ID]})
		delete(count, c.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(count)) { // no tool is left out because its category is in no list
		out.Categories = append(out.Categories, api.ToolCategory{ID: id, Name: toolindex.Humanise(id), Order: len(out.Categories) + 1,
			Tools: count[id]})
	}
	slices.SortFunc(out.Tools, func(a, b api.KnownTool) int { return cmp.Compare(a.Name, b.Name) })
	if st, err := os.Stat(filepath.Join(v.Project.Dir, filepath.FromSlash(state.ToolIndex))); err == nil {
		out.Synced = st.ModTime()
	}
	return out, nil
}

// seers returns which roles see a tool once every skill that is open to them is active.
func seers(v *project.View) func(policy.Item) []string {
	type role struct {
		id    string
		scope policy.Scope
	}
	var roles []role
	for _, id := range v.Policy.Roles() {
		roles = append(roles, role{id, policy.Scope{Principal: policy.Principal{ID: project.LocalPrincipal, Role: id},
			Skills: v.Policy.OpenSkills(id)}})
	}
	return func(it policy.Item) (out []string) {
		for _, r := range roles {
			if v.Policy.Visible(r.scope, it) {
				out = append(out, r.id)
			}
		}
		return out
	}
}

// Sync writes the index of tools and the categories (D7 to D9).
func Sync(v *project.View, now time.Time) (api.SyncedTools, error) {
	out := api.SyncedTools{Wrote: []string{}}
	var tools []policy.Definition
	for _, d := range v.Catalog.Definitions {
		if d.Item.Kind == policy.Tool {
			tools = append(tools, d)
		}
	}
	out.Tools = len(tools)
	categories, err := toolindex.Read(v.Project.Dir, v.Project.Servers)
	if err != nil {
		return out, err
	}
	index, hash, err := categories.Index(tools, now)
	if err != nil {
		return out, err
	}
	cats, err := categories.Render()
	if err != nil {
		return out, err
	}
	out.SourceHash = hash
	for name, data := range map[string][]byte{state.ToolIndex: index, state.Categories: cats} {
		path := filepath.Join(v.Project.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return out, fmt.Errorf("make folder for the tool index: %w", err)
		}
		if err := atomicfile.Write(path, data, 0o600); err != nil {
			return out, err
		}
		out.Wrote = append(out.Wrote, path)
	}
	slices.Sort(out.Wrote)
	return out, nil
}
