// Package schemas writes the JSON Schemas of the files that people write, from the types into which the program reads them. An editor that
// knows YAML completes and checks a file with it.
package schemas

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/config/rolefile"
	"mycelium/internal/config/rules"
	"mycelium/internal/op/schema"
	"mycelium/internal/skill"
	"mycelium/internal/state"
	"mycelium/internal/swarm/plan"
)

// file is a kind of file with a schema.
type file struct {
	name, title string
	of          func() (reflect.Type, map[string]string) // its type, and other names of its keys
	list        bool                                     // it may be a list of such values, or have one under the key features
}

func plain(of func() reflect.Type) func() (reflect.Type, map[string]string) {
	return func() (reflect.Type, map[string]string) { return of(), nil }
}

var files = []file{
	{name: "mycelium", title: "mycelium.yaml of Mycelium", of: plain(config.Document)},
	{name: "rules", title: "Rules of Mycelium (rules.yaml)", of: plain(rules.Document)},
	{name: "role", title: "A role of Mycelium (roles/NAME.yaml)", of: plain(rolefile.Document)},
	{name: "skill", title: "A skill of Mycelium (SKILL.yaml)", of: skill.Document},
	{name: "plan", title: "A plan of the swarm of Mycelium", of: plan.Document, list: true},
}

// Names are the kinds of files that have a schema.
func Names() (all []string) {
	for _, f := range files {
		all = append(all, f.name)
	}
	return all
}

// Of returns the schema of a kind of file, one of [Names].
func Of(name string) ([]byte, error) {
	for _, f := range files {
		if f.name == name {
			return f.schema()
		}
	}
	return nil, fmt.Errorf("no kind of file is called %q", name)
}

// Write writes the schemas into a project, where the first lines of its files name them, and returns their folder.
func Write(project string) (folder string, err error) {
	folder = filepath.Join(project, filepath.FromSlash(state.Schemas))
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // views, which everybody may read
		return folder, fmt.Errorf("write the schemas: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".gitignore"), []byte("*\n"), 0o644); err != nil { //nolint:gosec // as above
		return folder, fmt.Errorf("write the schemas: %w", err)
	}
	for _, f := range files {
		b, err := f.schema()
		if err == nil {
			err = atomicfile.Note(filepath.Join(folder, f.name+".json"), append(b, '\n'), 0o644)
		}
		if err != nil {
			return folder, fmt.Errorf("write the schemas: %w", err)
		}
	}
	return folder, nil
}

func (f file) schema() ([]byte, error) {
	t, aliases := f.of()
	w := schema.Writer{Format: "yaml", Refs: "#/$defs/", Closed: true}
	root, err := w.Of(t)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", f.name, err)
	}
	for _, part := range w.Parts {
		properties, _ := part.(schema.Object)["properties"].(schema.Object)
		for other, key := range aliases {
			if is, known := properties[key]; known {
				properties[other] = is
			}
		}
	}
	out := schema.Object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f.title, "$defs": w.Parts}
	if f.list {
		list := schema.Object{"type": "array", "items": root}
		root = schema.Object{"anyOf": []any{list, schema.Object{"type": "object", "properties": schema.Object{"features": list,
			"includeProtocols": schema.Object{}}, "additionalProperties": false}}}
	}
	maps.Copy(out, root)
	return json.Marshal(out, json.Deterministic(true), jsontext.WithIndent("  "))
}
