package skill

import (
	"mycelium/internal/node/project"
	"mycelium/internal/skill"
)

// shippedFiles are the files of the program that count in the project and in the user's own folder, by their names as shown.
func shippedFiles(v *project.View) (map[string][]byte, error) {
	ships, err := v.Project.Shipped(v.Project)
	if err != nil || v.Project.Dir == v.Project.UserDir {
		return ships, err
	}
	own, err := v.Project.User.Shipped(v.Project)
	for name, data := range own {
		ships[v.Project.User.Shown(name)] = data
	}
	return ships, err
}

// sourceOf says where a skill comes from: the project, the user's folder or the program.
func sourceOf(s skill.Checked, ships map[string][]byte) string {
	if ships[s.File] != nil {
		return "shipped"
	}
	return string(s.Source)
}
