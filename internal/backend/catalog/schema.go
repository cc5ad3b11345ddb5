package catalog

import (
	"errors"
	"fmt"
	"net/url"

	stdjson "encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"mycelium/internal/rawjson"
)

// maxSchema bounds the schemas that are compiled, in bytes: a larger one costs more than what it tells.
const maxSchema = 256 << 10

// The dialects that are understood, as $schema names them. Without $schema a schema is of 2020-12 (MCP 2025-11-25 and later).
var dialects = [...]string{
	"https://json-schema.org/draft/2020-12/schema",
	"http://json-schema.org/draft-07/schema",
}

// SchemaProblems says what is wrong with the schemas of a tool's definition; nothing when they compile. The tool works all the same: its
// server judges the arguments. No reference to the network is followed.
func SchemaProblems(definition []byte) []string {
	var found []string
	for _, key := range [...]string{"inputSchema", "outputSchema"} {
		raw := rawjson.Member(definition, key)
		if raw == nil && key == "outputSchema" {
			continue
		}
		if err := compileSchema(raw); err != nil {
			found = append(found, key+": "+err.Error())
		}
	}
	return found
}

// compileSchema reports why a schema does not compile. The library is given what strangers wrote: a panic of it is an error here.
func compileSchema(raw []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be compiled: %v", p)
		}
	}()
	switch {
	case len(raw) == 0 || raw[0] != '{':
		return errors.New("it is no object")
	case len(raw) > maxSchema:
		return fmt.Errorf("it is longer than %d KiB and was not checked", maxSchema>>10)
	}
	if dialect, ok := rawjson.Text(rawjson.Member(raw, "$schema")); ok && !known(dialect) {
		return fmt.Errorf("its dialect %.80q is not understood (hint: 2020-12 and draft-07 are)", dialect)
	}
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("it is no JSON Schema: %.200s", err)
	}
	_, err = s.Resolve(&jsonschema.ResolveOptions{Loader: func(*url.URL) (*jsonschema.Schema, error) {
		return nil, errors.New("nothing is fetched from elsewhere")
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
