package server

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/yamlfile"
)

// toRemove says where a skill has to go from before it is gone.
func toRemove(v *project.View, name string) string {
	places := []string{"the folder skills/" + name}
	for _, r := range v.Project.Roles {
		if slices.Contains(r.AllowedSkills, name) {
			places = append(places, "allowedSkills of the role "+r.ID)
		}
	}
	if slices.Contains(v.Project.File.Session.DefaultSkills, name) {
		places = append(places, "session.defaultSkills")
	}
	return "remove " + strings.Join(places, ", ") + ", then run myc trust"
}

// remove is `myc server remove`.
func (a *app) remove(name string) error {
	if err := a.NeedPerson("remove a server"); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	if !slices.ContainsFunc(v.Project.Servers, func(s backend.Server) bool { return s.Name == name }) {
		return Unknown(name)
	}
	err = v.Project.Write(time.Now(), func(folders []string) error {
		var all changes
		for _, dir := range folders {
			file := filepath.Join(dir, "mycelium.yaml")
			old, err := read(file)
			if err != nil {
				return err
			}
			text, err := yamlfile.RemoveEntry(old, "mcpServers", name)
			if err != nil {
				return failure.Hint(fmt.Errorf("mycelium.yaml: %w", err), "remove it by hand: myc edit config")
			}
			all = append(all, change{path: file, before: old, after: text})
		}
		return all.write()
	})
	if err != nil {
		return fmt.Errorf("server remove: %w", err)
	}
	fmt.Fprintf(a.Out, "removed %s from mycelium.yaml\n", name)
	for _, s := range v.Skills.All() {
		if slices.ContainsFunc(s.AllowedTools, func(t string) bool { return strings.HasPrefix(strings.TrimPrefix(t, "?"), name+"__") }) {
			fmt.Fprintf(a.Out, "the skill %s still names its tools, and is invalid without them: %s\n", s.Name, toRemove(v, s.Name))
		}
	}
	return nil
}
