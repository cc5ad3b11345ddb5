package settings

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config/settings"
	"mycelium/internal/credential"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) exportCmd() *cobra.Command {
	var format, output string
	var force bool
	c := &cobra.Command{Use: "export", Short: "Print what the files set, as one mycelium.yaml",
		Long: "Prints what your own file and the project's set together, without defaults, as a mycelium.yaml of another project. References\n" +
			"such as ${TOKEN} stay references. trust, state, web and sandbox.backend, which only your own file can have, are left out.",
		Example: "  myc config export --output ../other/mycelium.yaml", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				format = "json"
			}
			if format != "yaml" && format != "json" {
				return failure.Usagef("config export: --format: %q is neither yaml nor json", format)
			}
			return a.export(format, output, force)
		}}
	c.Flags().StringVarP(&format, "format", "f", "yaml", "yaml or json")
	c.Flags().StringVarP(&output, "output", "o", "", "write to this `FILE`")
	c.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return c
}

func (a *app) export(format, output string, force bool) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	raw, err := settings.Files(v.Project)
	if err != nil {
		return err
	}
	said := string(raw)
	if format == "yaml" {
		if said, err = settings.Text(raw); err != nil {
			return err
		}
	}
	if len(credential.Find(said)) > 0 {
		fmt.Fprintln(a.Err, "myc: warning: the configuration holds what looks like a secret, and so does the export\n"+
			"hint: write ${VAR} or ${secret:NAME}")
	}
	if output == "" {
		_, err = fmt.Fprintln(a.Out, said)
		return err
	}
	if _, err := os.Lstat(output); !force && !errors.Is(err, os.ErrNotExist) {
		return failure.New(failure.Conflict, fmt.Errorf("config export: %s exists", text.Visible(output)), "--force replaces it")
	}
	if err := atomicfile.Write(output, []byte(said+"\n"), 0o600); err != nil {
		return fmt.Errorf("config export: %w", err)
	}
	fmt.Fprintf(a.Err, "myc: wrote %s\n", text.Visible(output))
	return nil
}
