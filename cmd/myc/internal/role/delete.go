package role

import (
	"context"
	"fmt"
	"slices"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/change"
	"mycelium/internal/config"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// delete removes a role's file, unless something names the role.
func (a *app) delete(ctx context.Context, role string, force bool) error {
	const act = "roles delete"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	c := &update{File: change.File{Act: act, P: p, Names: force}}
	if c.Name, err = fileOf(p, act, role); err != nil {
		return err
	}
	c.result = result{Role: role, File: c.Name}
	if err := c.Read(); err != nil {
		return err
	}
	switch {
	case c.Shipped:
		return failure.Hint(fmt.Errorf("%s: %s comes with the program, and is not in the project", act, c.Name),
			"close the role instead: myc roles edit "+role+" --allowed-skills \"\"")
	case c.Was == nil:
		return failure.New(failure.Conflict, fmt.Errorf("%s: %s is gone already, and nobody has accepted that", act, c.Name),
			"accept it: myc trust")
	}
	if isPrograms(p, c.Name) {
		return failure.Hint(fmt.Errorf("%s: without its file here, the program's own %s would count", act, c.Name),
			"close the role instead: myc roles edit "+role+" --allowed-skills \"\"")
	}
	if c.result.References, err = a.references(ctx, role); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	n := len(c.result.References)
	for _, r := range c.result.References {
		fmt.Fprintln(a.Err, text.OneLine(r.String()))
	}
	if n > 0 && !force {
		return failure.New(failure.Conflict, fmt.Errorf("%s: %s the role %s; nothing was changed", act,
			text.Count(n, "place")+text.Plural(n, " names", " name"), role), "change them first, or delete it all the same: --force")
	}
	c.said = "deleted " + c.Name + ": myc roles history " + role + " keeps it"
	if n > 0 {
		c.said += fmt.Sprintf("\n%s a role without a file now; a skill that names it still makes it exist, without a ceiling",
			text.Count(n, "place")+text.Plural(n, " names", " name"))
	}
	if err := a.put(c); err != nil {
		return err
	}
	return a.done(ctx, c)
}

// isPrograms reports whether the program ships a file that the project would use if it had none of its own.
func isPrograms(p *config.Project, file string) bool {
	var main struct {
		Shipped bool `yaml:"shipped"`
	}
	_ = yamlfile.Decode(source.MainFile, p.Accepted(source.MainFile), &main) // its other keys are unknown here
	return main.Shipped && slices.Contains(shipped.Own().Names(), file)
}

// references are the places that name a role: in the files that are accepted, and the live sessions.
func (a *app) references(ctx context.Context, role string) ([]project.Reference, error) {
	v, err := a.OpenView()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	live, err := base.Operate(ctx, a.App, api.SessionList, api.None{})
	if err != nil {
		return nil, err
	}
	return v.References(role, live), nil
}
