package guard

import (
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/internal/rawjson"
)

// textOf returns where the text of a block stands in it, and its token: of a text, an embedded resource or a prompt's message. The
// token is nil if the block has no text.
func textOf(block []byte) (path []string, token []byte) {
	for _, path := range [...][]string{{"text"}, {"resource", "text"}, {"content", "text"}} {
		if token := rawjson.Path(block, path...); len(token) > 0 && token[0] == '"' {
			return path, token
		}
	}
	return nil, nil
}

// maxNote bounds a block that says what was left out, in bytes, and the URI in it.
const maxNote = 400

// noteBlock returns a block with a text of ours, which replaces another one: of a tool's content, a resource's contents or a prompt's
// messages.
func noteBlock(key string, instead []byte, text string) []byte {
	words := rawjson.Field{Name: "text", Value: rawjson.Quote(text)}
	switch key {
	case "contents":
		uri := rawjson.Member(instead, "uri")
		if len(uri) == 0 || uri[0] != '"' || len(uri) > maxNote {
			uri = []byte(`""`)
		}
		return rawjson.Object(rawjson.Field{Name: "uri", Value: uri}, rawjson.Field{Name: "mimeType", Value: []byte(`"text/plain"`)}, words)
	case "messages":
		content := rawjson.Field{Name: "content", Value: noteBlock("content", nil, text)}
		return rawjson.Object(rawjson.Field{Name: "role", Value: []byte(`"user"`)}, content)
	}
	return rawjson.Object(rawjson.Field{Name: "type", Value: []byte(`"text"`)}, words)
}

// addNote adds a block with a text of ours to a result that has a list of blocks.
func addNote(result []rawjson.Field, text string) []rawjson.Field {
	for i, m := range result {
		if (m.Name == "content" || m.Name == "messages") && len(m.Value) > 0 && m.Value[0] == '[' {
			blocks := slices.Collect(rawjson.Elements(m.Value))
			result[i].Value = rawjson.Array(append(blocks, noteBlock(m.Name, nil, text)))
			break
		}
	}
	return result
}

// markResult writes into the _meta of a result what a guard did. It removes what the server put there under our key.
func markResult(raw []byte, done []string) ([]byte, error) {
	list, err := json.Marshal(done)
	if err != nil {
		return nil, err
	}
	meta := rawjson.Member(raw, "_meta")
	if len(meta) == 0 || meta[0] != '{' {
		meta = nil
	}
	for rawjson.Member(meta, metaKey) != nil {
		meta = rawjson.Set(meta, metaKey, nil)
	}
	return rawjson.Set(raw, "_meta", rawjson.Set(meta, metaKey, list)), nil
}
