package catalog

import (
	"errors"
	"fmt"
	"net/url"

	stdjson "encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// maxSchema bounds the schemas that are compiled, in bytes. Compiling a larger one costs more than it is worth.
const maxSchema = 256 << 10

// dialects are the supported dialects, as $schema names them. A schema without $schema is of 2020-12 (MCP 2025-11-25 and later).
var dialects = [...]string{
	"https://json-schema.org/draft/2020-12/schema",
	"http://json-schema.org/draft-07/schema",
}

// SchemaProblems says why the schemas of a tool's definition do not compile. The tool can still be used: its server checks the arguments.
// References to the network are not followed.
func SchemaProblems(definition []byte) []string {
	var found []string
	for _, key := range [...]string{"inputSchema", "outputSchema"} {
		raw := rawjson.Member(definition, key)
		if raw == nil && key == "outputSchema" {
			continue
		}
		if err := compileSchema(raw); err != nil {
			found = append(found, key+": "+text.Describe(err))
		}
	}
	return found
}

// compileSchema says why a schema does not compile. Schemas come from strangers, so a panic of the library is an error.
func compileSchema(raw []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be compiled: %v", p)
		}
	}()
	switch {
	case len(raw) == 0 || raw[0] != '{':
		return errors.New("it is not an object")
	case len(raw) > maxSchema:
		return fmt.Errorf("it is longer than %d KiB and was not checked", maxSchema>>10)
	}
	if dialect, ok := rawjson.Text(rawjson.Member(raw, "$schema")); ok && !known(dialect) {
		return text.Hinted(fmt.Errorf("its dialect %.80q is not understood", dialect), "2020-12 and draft-07 are")
	}
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("it is not a JSON Schema: %.200s", err)
	}
	_, err = s.Resolve(&jsonschema.ResolveOptions{Loader: func(*url.URL) (*jsonschema.Schema, error) {
		return nil, errors.New("references to other documents are not followed")
	}})
	if err != nil {
		return fmt.Errorf("it does not compile: %.300s", err)
	}
	return nil
}

func known(dialect string) bool {
	for _, d := range dialects {
		if dialect == d || dialect == d+"#" {
			return true
		}
	}
	return false
}
