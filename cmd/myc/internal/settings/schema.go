package settings

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/node/schemas"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// schemaCmd is `myc config schema`.
func (a *app) schemaCmd() *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use: "schema [NAME]", Short: "Print the JSON Schema of a kind of file, for editors", Args: base.ArgRange(0, 1, "one kind of file"),
		Long: "The kinds are " + strings.Join(schemas.Names(), ", ") + "; without one they are listed. An editor that knows YAML completes and checks a file\n" +
			"in which a comment names the schema: # yaml-language-server: $schema=PATH. myc init writes the schemas and the comments,\n" +
			"--write the schemas of this version. What a value may be beyond its kind, myc config validate says.",
		Example:   "  myc config schema mycelium > mycelium.schema.json\n  myc config schema --write",
		ValidArgs: schemas.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case write && len(args) > 0:
				return failure.Usagef("config schema: --write writes all of them")
			case write:
				return a.writeSchemas()
			case len(args) == 0:
				return a.listSchemas()
			}
			b, err := schemas.Of(args[0])
			if err != nil {
				hint := "the kinds are " + strings.Join(schemas.Names(), ", ")
				if near := text.Nearest(args[0], schemas.Names()); near != "" {
					hint = "did you mean " + near + "?"
				}
				return failure.New(failure.Usage, fmt.Errorf("config schema: %w", err), hint)
			}
			fmt.Fprintf(a.Out, "%s\n", b)
			return nil
		}}
	c.Flags().BoolVar(&write, "write", false, "write all schemas into the project, below "+state.Schemas)
	return c
}

// writeSchemas writes the schemas into the project.
func (a *app) writeSchemas() error {
	if err := a.NeedPerson("write the schemas"); err != nil {
		return err
	}
	if err := a.Find(project.NeedsProject); err != nil {
		return err
	}
	folder, err := schemas.Write(a.Dir)
	if err == nil {
		fmt.Fprintln(a.Err, "myc: wrote "+folder)
	}
	return err
}

func (a *app) listSchemas() error {
	if a.JSON {
		return a.PrintJSON(schemas.Names())
	}
	for _, name := range schemas.Names() {
		fmt.Fprintln(a.Out, name)
	}
	return nil
}
