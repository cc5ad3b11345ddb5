package role

import (
	"context"
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/change"
	"mycelium/internal/config/rolefile"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/node/roles"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// delete removes a role's file, unless something names the role.
func (a *app) delete(ctx context.Context, role string, force bool) error {
	const act = "roles delete"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	c := &update{File: change.Of(act, p, "")}
	c.Names = force
	if c.Name, err = roles.FileOf(p, act, role); err != nil {
		return err
	}
	c.result = result{Role: role, File: c.Name}
	if err := c.Read(); err != nil {
		return err
	}
	if err := roles.Deletable(p, act, role, c.Name, c.Was, c.Shipped); err != nil {
		return err
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
	if c.Data, err = rolefile.Without(c.Name, role, c.Was); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	c.said = "deleted " + c.Name + ": myc roles history " + role + " keeps it"
	if c.Data != nil {
		c.said = "deleted " + role + " from " + c.Name
	}
	if n > 0 {
		c.said += fmt.Sprintf("\n%s a role without a file now; a skill that names it still makes it exist, without a ceiling",
			text.Count(n, "place")+text.Plural(n, " names", " name"))
	}
	if err := a.put(ctx, c); err != nil {
		return err
	}
	return a.done(ctx, c)
}

// references are the places that name a role: in the files that are accepted, and the live sessions.
func (a *app) references(ctx context.Context, role string) ([]project.Reference, error) {
	v, err := a.OpenView()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	live, err := base.Operate(ctx, a.App, api.SessionList, op.None{})
	if err != nil {
		return nil, err
	}
	return v.References(role, live), nil
}
