package roles

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Change writes the file of a role, or of a new one if the id is empty, and returns the role as it is then.
func (s Roles) Change(ctx context.Context, person, id string, c api.RoleChange) (none api.RoleDetail, err error) {
	detail, err := s.Show(ctx, id)
	if err != nil {
		return none, err
	}
	f, fresh := detail.Fields, detail.ID == ""
	for _, t := range []struct{ to, from *string }{{&f.Name, c.Name}, {&f.Description, c.Description}, {&f.Inherits, c.Inherits},
		{&f.Prompt, c.Prompt}} {
		if t.from != nil {
			*t.to = *t.from
		}
	}
	if c.Skills != nil {
		f.Bounded, f.Skills = true, *c.Skills
	} else if fresh {
		f.Bounded, f.Skills = f.Inherits == "", []string{}
	}
	if c.ToolIDs != nil {
		f.ToolIDs = *c.ToolIDs
	}
	if (fresh || c.Name != nil) && strings.TrimSpace(f.Name) == "" {
		return none, failure.New(failure.Invalid, errors.New("a role has a name"), "")
	}
	if c.Digest == "" {
		c.Digest = detail.Digest
	}
	tried, err := s.Try(ctx, api.RoleTry{ID: detail.ID, New: fresh, Digest: c.Digest, Fields: f})
	if err != nil {
		return none, err
	}
	if fresh && tried.Fault == "" && tried.Tools() == 0 && len(f.ToolIDs) == 0 {
		return none, failure.New(failure.Invalid, errors.New("a new role has at least one tool"), "name one in toolIds, or a skill that gives one")
	}
	if err := s.save(ctx, person, tried.Edit, c.Device, "the API of roles"); err != nil {
		return none, err
	}
	return s.Show(ctx, tried.ID)
}

// Delete deletes a role that nothing names.
func (s Roles) Delete(ctx context.Context, person string, p api.RoleVersion) error {
	detail, err := s.Show(ctx, p.ID)
	if err != nil {
		return err
	}
	if n := len(detail.References); n > 0 {
		return failure.New(failure.Conflict, errors.New(text.Count(n, "place")+text.Plural(n, " names", " name")+" the role "+p.ID+":\n"+
			strings.Join(detail.References, "\n")), "change them first")
	}
	if p.Digest == "" {
		p.Digest = detail.Digest
	}
	tried, err := s.Try(ctx, api.RoleTry{ID: p.ID, Gone: true, Digest: p.Digest})
	if err != nil {
		return err
	}
	return s.save(ctx, person, tried.Edit, p.Device, "deletion of the role "+p.ID)
}

// Restore puts a former version of a role's file in force again.
func (s Roles) Restore(ctx context.Context, person string, p api.RoleRestore) error {
	is, err := s.Edits.Version(p.File, p.Version)
	if err == nil && is.Digest == "" {
		err = failure.New(failure.Invalid, errors.New("in this version the file was deleted"), "")
	}
	if err != nil {
		return err
	}
	return s.save(ctx, person, api.FileEdit{Name: p.File, Text: is.Text, Digest: p.Digest}, p.Device,
		fmt.Sprintf("version %d of %s again", p.Version, p.File))
}

// save saves one file, or says why it cannot be saved.
func (s Roles) save(ctx context.Context, person string, f api.FileEdit, device, because string) error {
	saved, err := s.Edits.Save(ctx, person, api.FilesEdit{Files: []api.FileEdit{f}, Device: device, Because: because})
	switch {
	case err != nil:
		return err
	case saved.Saved:
		return nil
	case len(saved.Stale) > 0:
		return failure.New(failure.Conflict, errors.New(f.Name+" has changed meanwhile and is not overwritten"), "look at it, and try again")
	case len(saved.Unseen) > 0:
		return failure.New(failure.Conflict, errors.New(f.Name+" has lines that nobody has accepted"), "look at them: myc trust --diff")
	}
	var words []string
	for _, pr := range saved.Problems {
		if pr.Blocks {
			words = append(words, pr.Message)
		}
	}
	return failure.New(failure.Invalid, errors.New("it would not load: "+strings.Join(words, "; ")), "")
}
