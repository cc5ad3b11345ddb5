package edit

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/approval/judge"
	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
)

// kindOf says what a file is in the configuration of a project; "" if it is no part of it. Files that servers run are none, although they
// are accepted too: they are the project's own work.
func kindOf(p *config.Project, name string) string {
	ext := path.Ext(name)
	yaml := ext == ".yaml" || ext == ".yml"
	switch folder, rest, deep := strings.Cut(name, "/"); {
	case !filepath.IsLocal(filepath.FromSlash(name)), path.Clean(name) != name, hidden(name) && name != source.ClientFile:
		return ""
	case deep && folder == source.RolesFolder:
		if yaml && !strings.Contains(rest, "/") {
			return api.FileRole
		}
		return ""
	case deep && folder == source.SkillsFolder:
		if strings.Contains(rest, "/") {
			return api.FileSkill
		}
		return ""
	case deep && (folder == source.ProtocolsFolder || folder == source.WorkflowsFolder):
		return api.FileOther
	case name == source.MainFile:
		return api.FileMain
	case name == source.ConfigFile, name == source.ClientFile:
		return api.FileServers
	case name == source.RulesFile, slices.Contains(p.File.Policy.Rules, name):
		return api.FileRules
	case name == judge.PoliciesFile, name == judge.LocalPoliciesFile:
		return api.FileOther
	}
	return ""
}

// hidden reports whether an element of a path begins with a dot.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return strings.HasPrefix(s, ".") })
}

// named is an error if one of the names is no file of the configuration.
func named(p *config.Project, act string, names []string) error {
	for _, name := range names {
		if kindOf(p, name) == "" {
			return failure.New(failure.Invalid, fmt.Errorf("%s: %q is no file of which the configuration of the project consists", act, name),
				"those are mycelium.yaml, the rules, roles/NAME.yaml, what is below skills/NAME, config.json and .mcp.json")
		}
	}
	return nil
}
