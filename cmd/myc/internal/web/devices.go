package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/op/failure"
	"mycelium/internal/web"
	"mycelium/internal/web/device"
)

func (a *app) devicesCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "devices", Short: "List the browsers and programs that are signed in to the pages", Example: "  myc web devices --json", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.devices() },
	}
	c.AddCommand(&cobra.Command{
		Use: "revoke ID", Short: "Sign a browser out", Example: "  myc web devices revoke d-k3m9x2ab",
		Long: "Sign a browser out: its next request leads to the sign-in, and a page that is open there is told nothing more.",
		Args: base.ArgRange(1, 1, "the id of one device"),
		RunE: func(c *cobra.Command, args []string) error { return a.revoke(c.Context(), args[0]) },
	})
	c.AddCommand(a.addCmd())
	return c
}

func (a *app) devices() error {
	if err := a.NeedPerson(actDevices); err != nil {
		return err
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	list, err := device.Open(root, nil).List()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(shown(list))
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Err, "myc: no browser is signed in")
		return nil
	}
	var rows [][]string
	for _, d := range list {
		rows = append(rows, []string{d.ID, d.Name, d.Created.Local().Format(time.DateTime), d.Seen.Local().Format(time.DateTime),
			d.Expires.Local().Format(time.DateOnly)})
	}
	a.Table(base.Column{Name: "ID"}, base.Column{Name: "BROWSER", Least: 12}, base.Column{Name: "SIGNED IN", Drop: 2},
		base.Column{Name: "SEEN"}, base.Column{Name: "UNTIL", Drop: 1}).Print(rows...)
	return nil
}

// shown are the devices without their keys.
func shown(list []device.Device) []device.Device {
	out := []device.Device{}
	for _, d := range list {
		out = append(out, d.Shown())
	}
	return out
}

func (a *app) revoke(ctx context.Context, id string) error {
	if err := a.NeedPerson(actRevoke); err != nil {
		return err
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	id = strings.TrimSpace(id)
	err = device.Open(root, nil).Revoke(id)
	if errors.Is(err, device.ErrUnknown) {
		return failure.New(failure.NotFound, fmt.Errorf("web devices: no device has the id %q", id), "myc web devices lists them")
	}
	if err == nil { // it is signed out in any case
		err = a.record(ctx, root, "cli", web.Sign{Act: "browser revoked", Device: id}, "browser revoked: "+id)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"revoked": id})
	}
	fmt.Fprintf(a.Out, "%s is signed out.\n", id)
	return nil
}
