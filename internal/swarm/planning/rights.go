package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/text"
	"slices"
	"strings"
)

// Rights is what the policy gives the workers of a session.
type Rights interface {
	// Skills are those that are active at the start of a session of a role, and those that it may have.
	Skills(role string) (start, open []string)
	// Refuses says why a session may not read a file of the project; empty: it may.
	Refuses(role string, skills []string, path string) string
	// Commands reports whether a session has a tool of the gateway that runs commands. skills as for Refuses; nil: those of the role.
	Commands(role string, skills []string) bool
}

// RoleOf is the role of the worker of a feature.
func RoleOf(s *book.Session, f *book.Feature) string { return cmp.Or(f.Role, s.Settings.Role) }

// CheckRoute refuses a route that would not be obeyed in a session with these settings.
func CheckRoute(f plan.Feature, s book.Settings, rights Rights) error {
	r := f.Route
	switch {
	case r.Worker != "" && !slices.Contains(runner.Names(), r.Worker):
		return text.Hinted(fmt.Errorf("feature %s: there is no runner %q", f.ID, text.TruncateRunes(r.Worker, 64)), "the runners are "+
			strings.Join(runner.Names(), ", "))
	case r.Worker == runner.Command && len(s.Command) == 0:
		return text.Hinted(fmt.Errorf("feature %s: its runner is command, and the session has none", f.ID), "begin it with --command")
	case r.Worker != "" && r.Worker != runner.Command && s.Budget > 0 && !runner.Prices(r.Worker):
		return text.Hinted(fmt.Errorf("feature %s: the runner %s does not tell what it costs, and the session has a budget", f.ID, r.Worker),
			"route it to claude")
	}
	role := cmp.Or(f.Role, s.Role)
	skills, err := SkillsOf(f, role, rights)
	if err == nil && cmp.Or(r.Worker, s.Runner) == runner.API && (rights == nil || !rights.Commands(role, skills)) {
		return text.Hinted(fmt.Errorf("feature %s: a worker of the runner api has only the tools of the gateway, and none of those that the "+
			"role %s has at its start runs commands, so it could not commit", f.ID, role),
			"let the feature require a skill that grants mycelium-sandbox__bash: requiredCapabilities: [safe-code-exec]")
	}
	return err
}

// SkillsOf are the skills that are active at the start of the worker of a feature; nil: those of its role. A skill that is excluded is one
// that its role may not have at all, because a worker may activate what its role may have.
func SkillsOf(f plan.Feature, role string, rights Rights) ([]string, error) {
	r := f.Route
	if len(r.Require)+len(r.Exclude) == 0 {
		return f.Skills, nil
	}
	if rights == nil {
		return nil, errors.New("the policy is not known, so the skills of a route cannot be given")
	}
	start, open := rights.Skills(role)
	if len(f.Skills) > 0 {
		start = f.Skills
	}
	start = slices.Clone(start)
	for _, skill := range r.Require {
		if !slices.Contains(open, skill) {
			return nil, text.Hinted(fmt.Errorf("feature %s requires the skill %s, which the role %s may not have", f.ID, skill, role),
				"give the feature another role")
		}
		if !slices.Contains(start, skill) {
			start = append(start, skill)
		}
	}
	for _, skill := range r.Exclude {
		if slices.Contains(open, skill) || slices.Contains(start, skill) {
			return nil, text.Hinted(fmt.Errorf("feature %s excludes the skill %s, which the role %s may have", f.ID, skill, role),
				"give the feature a role without it: what a role may have, its worker may activate")
		}
	}
	return start, nil
}

// Gather is the material for the worker of a feature that begins from a commit. Files that govern agents, secrets, and what the session of
// the worker may not read are left out.
func Gather(ctx context.Context, g *ground.Repo, s *book.Session, f *book.Feature, from ground.Commit, rights Rights,
	governs func(path string) bool, b material.Bounds) (material.Material, error) {
	all, err := g.Files(ctx, from)
	if err != nil {
		return material.Material{}, err
	}
	role := RoleOf(s, f)
	skills, err := SkillsOf(f.Feature, role, rights)
	if err != nil {
		return material.Material{}, err
	}
	if skills == nil {
		skills, _ = rights.Skills(role)
	}
	p := material.Project{Files: make([]material.File, len(all))}
	blobs := map[string]ground.Blob{}
	for i, blob := range all {
		p.Files[i], blobs[blob.Path] = material.File{Path: blob.Path, Size: blob.Size}, blob
	}
	p.Why = func(path string) string {
		if governs(g.Prefix()+path) && !material.IsDocument(path) {
			return "it governs agents"
		}
		return rights.Refuses(role, skills, path)
	}
	p.Read = func(path string) (string, error) { return g.Read(ctx, blobs[path]) }
	of := f.Feature
	if chosen := f.Chosen(); chosen != nil {
		of.Files = append(slices.Clone(of.Files), chosen.Files()...)
	}
	return material.Gather(of, f.Context, p, b), nil
}
