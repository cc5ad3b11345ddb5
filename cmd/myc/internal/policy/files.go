package policy

import (
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
)

// roleFiles says which files declare the roles of a project.
type roleFiles struct {
	p     *config.Project
	ships map[string][]byte
}

// filesOf returns the files of a project's roles.
func filesOf(p *config.Project) (roleFiles, error) {
	ships, err := p.Shipped(p)
	return roleFiles{p, ships}, err
}

// shipped reports whether a role's file comes with the program and does not lie in the project.
func (f roleFiles) shipped(id string) bool {
	for _, file := range config.Declares(f.p, id) {
		if f.ships[file] != nil {
			return true
		}
	}
	return false
}

// shown names the files of a role for people.
func (f roleFiles) shown(id string) string {
	var out []string
	for _, file := range config.Declares(f.p, id) {
		out = append(out, base.WithShipped(file, f.ships))
	}
	return base.OrDash(strings.Join(out, ", "))
}
