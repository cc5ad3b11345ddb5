package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/toolindex"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// toolsSync writes the tool index and the categories (D7 to D9).
func (a *app) toolsSync(ctx context.Context) error {
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := a.LearnAll(ctx, c); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	var tools []policy.Definition
	for _, d := range v.Catalog.Definitions {
		if d.Item.Kind == policy.Tool {
			tools = append(tools, d)
		}
	}
	return a.writeIndex(v, tools)
}

func (a *app) writeIndex(v *project.View, tools []policy.Definition) error {
	say := func(format string, args ...any) {
		if !a.JSON {
			fmt.Fprintf(a.Out, format+"\n", args...)
		}
	}
	say("Syncing tools …")
	say("Found %s", text.Count(len(tools), "tool"))
	categories, err := toolindex.Read(v.Project.Dir, v.Project.Servers)
	if err != nil {
		return err
	}
	index, hash, err := categories.Index(tools, time.Now())
	if err != nil {
		return err
	}
	cats, err := categories.Render()
	if err != nil {
		return err
	}
	var wrote []string
	for name, data := range map[string][]byte{state.ToolIndex: index, state.Categories: cats} {
		path := filepath.Join(v.Project.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("make folder for the tool index: %w", err)
		}
		if err := atomicfile.Write(path, data, 0o600); err != nil {
			return err
		}
		wrote = append(wrote, path)
	}
	slices.Sort(wrote)
	for _, w := range wrote {
		say("Wrote %s", w)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"tools": len(tools), "sourceHash": hash, "wrote": wrote})
	}
	say("Done.")
	return nil
}
