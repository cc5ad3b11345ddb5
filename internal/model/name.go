package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DefaultModel is the alias of the model that an agent asks where nothing else is said.
const DefaultModel = "sonnet"

// Window is how many tokens a conversation may have, of every model that is known here.
const Window = 200_000

// Resolve returns the full id of a model. opus, sonnet, haiku and the other names of families mean the newest model of the family in the
// price table; any other name is a full id already.
func Resolve(name string) string {
	name = cmp.Or(name, DefaultModel)
	for _, p := range prices {
		if strings.HasPrefix(p.family, "claude-"+strings.ToLower(name)+"-") {
			return p.family
		}
	}
	return name
}

// maxToolName is how long the name of a tool may be for the API, in bytes.
const maxToolName = 128

// ToolName returns the name of a tool in the form of the API, [a-zA-Z0-9_-]{1,128}. A name that has this form stays as it is. Another one
// ends with a digest of itself, so that two names never become one; taken reports whether a name is in use already.
func ToolName(name string, taken func(string) bool) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if clean == name && name != "" && len(name) <= maxToolName && !taken(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	digest := hex.EncodeToString(sum[:])
	for n := 8; ; n += 8 {
		short := clean[:min(len(clean), maxToolName-n-1)] + "_" + digest[:n]
		if !taken(short) || n == len(digest) {
			return short
		}
	}
}

// ToolSchema returns the schema of a tool's arguments as the API takes it: one that is not of an object, or that has a choice at its top
// level, becomes that of any object. The gateway validates the arguments by the tool's own schema anyway.
func ToolSchema(schema []byte) jsontext.Value {
	anything := jsontext.Value(`{"type":"object"}`)
	var top map[string]jsontext.Value
	if len(schema) == 0 || json.Unmarshal(schema, &top) != nil || top == nil {
		return anything
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if _, has := top[key]; has {
			return anything
		}
	}
	if kind, has := top["type"]; !has || string(kind) != `"object"` {
		return anything
	}
	if p, has := top["properties"]; has && p.Kind() != '{' {
		return anything
	}
	return jsontext.Value(schema)
}
