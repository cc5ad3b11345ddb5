package role

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"mycelium/cmd/myc/internal/change"
	"mycelium/internal/config/accept"
	"mycelium/internal/op/failure"
)

// restore writes a version of a role's file again.
func (a *app) restore(ctx context.Context, role, number string) error {
	const act = "roles restore"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	file, list, err := versionsOf(p, act, role)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(number)
	i := slices.IndexFunc(list, func(v accept.Version) bool { return v.Number == n })
	switch {
	case err != nil || i < 0:
		return failure.New(failure.Usage, fmt.Errorf("%s: %s has no version %q", act, file, number), "myc roles history "+role+" lists them")
	case list[i].Sum == "":
		return failure.Usagef("%s: version %d is that the file was deleted: myc roles delete %s", act, n, role)
	}
	c := &update{File: change.Of(act, p, file), result: result{Role: role, File: file},
		said: "in force: " + file + ", as in version " + number}
	if c.Data, err = p.Store().Content(list[i]); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("the content of version %d is not kept", n)
		}
		return fmt.Errorf("%s: %w", act, err)
	}
	if err := c.Read(); err != nil {
		return err
	}
	if err := a.put(ctx, c); err != nil {
		return err
	}
	return a.done(ctx, c)
}
