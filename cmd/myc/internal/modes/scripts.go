package modes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/gate/facts"
	"mycelium/internal/op/failure"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// withScripts makes the skills with scripts active, unless others are named.
func (a *app) withScripts() error {
	if a.options.Skills != nil {
		return nil
	}
	list, err := a.scripts()
	for _, s := range list {
		a.options.Skills = append(a.options.Skills, s.Name)
	}
	return err
}

// scripted is a skill with its scripts.
type scripted struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Scripts     []string `json:"scripts"`
}

// scripts are the skills with scripts that are open to the role of workflows.
func (a *app) scripts() (out []scripted, err error) {
	v, err := a.OpenView()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	if _, known := v.Policy.Role(workflowRole); !known {
		return nil, failure.New(failure.NoRole, errors.New("there is no role "+workflowRole),
			"write shipped: true in mycelium.yaml, or a roles/"+workflowRole+".yaml; then myc trust")
	}
	for _, name := range v.Policy.OpenSkills(workflowRole) {
		k, ok := v.Skills.Skill(name)
		if !ok {
			continue
		}
		if found := scriptsOf(k); len(found) > 0 {
			out = append(out, scripted{k.Name, k.Description, found})
		}
	}
	return out, nil
}

// scriptsOf are the scripts in the folder of a skill, by path.
func scriptsOf(k *skill.Skill) (out []string) {
	if k.Dir == nil {
		return nil
	}
	_ = fs.WalkDir(k.Dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && facts.Interpreters[path.Ext(name)] != nil {
			out = append(out, name)
		}
		return nil // what cannot be read is no script that runs
	})
	return out
}

// listScripts is workflow --list.
func (a *app) listScripts() error {
	list, err := a.scripts()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(append([]scripted{}, list...))
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Err, "No skill with a script is open to the role "+workflowRole+".")
		return nil
	}
	rows := [][]string{}
	for _, s := range list {
		rows = append(rows, []string{s.Name, strings.Join(s.Scripts, ", "), text.OneLine(s.Description)})
	}
	a.Table(base.Column{Name: "SKILL"}, base.Column{Name: "SCRIPTS"}, base.Column{Name: "DESCRIPTION", Drop: 1}).Print(rows...)
	return nil
}
