package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/policy"
)

// learnPending starts servers whose catalog nobody knows yet, so that a first look shows what they offer.
func (a *app) learnPending(ctx context.Context, c *client) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	if len(v.catalog.Pending) == 0 {
		return nil
	}
	return a.learnAll(ctx, c)
}

// learnAll asks every server anew what it offers.
func (a *app) learnAll(ctx context.Context, c *client) error {
	var failed struct {
		Failed map[string]string `json:"failed"`
	}
	if err := c.ask(ctx, "learn", nil, &failed); err != nil {
		return err
	}
	for name, why := range failed.Failed {
		fmt.Fprintf(a.err, "myc: server %s: %s\n", name, visible(strings.TrimPrefix(why, fmt.Sprintf("server %q: ", name))))
	}
	return nil
}

// toolsSync writes the tool index and the categories (D7 to D9).
func (a *app) toolsSync(ctx context.Context) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	if err := a.learnAll(ctx, c); err != nil {
		return err
	}
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	var tools []policy.Definition
	for _, d := range v.catalog.Definitions {
		if d.Item.Kind == policy.Tool {
			tools = append(tools, d)
		}
	}
	return a.writeIndex(v, tools)
}

func (a *app) writeIndex(v *view, tools []policy.Definition) error {
	say := func(format string, args ...any) {
		if !a.json {
			fmt.Fprintf(a.out, format+"\n", args...)
		}
	}
	say("Syncing tools …")
	say("Found %d tools", len(tools))
	categories, err := config.ReadCategories(v.project)
	if err != nil {
		return err
	}
	index, hash, err := categories.Index(tools, time.Now())
	if err != nil {
		return err
	}
	dir := filepath.Join(v.project.Dir, ".mycelium", "tools")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder for the tool index: %w", err)
	}
	cats, err := categories.Render()
	if err != nil {
		return err
	}
	var wrote []string
	for name, data := range map[string][]byte{"index.yaml": index, "categories.yaml": cats} {
		path := filepath.Join(dir, name)
		if err := atomicfile.Write(path, data, 0o600); err != nil {
			return err
		}
		wrote = append(wrote, path)
	}
	slices.Sort(wrote)
	for _, w := range wrote {
		say("Wrote %s", w)
	}
	if a.json {
		return a.printJSON(map[string]any{"tools": len(tools), "sourceHash": hash, "wrote": wrote})
	}
	say("Done.")
	return nil
}
