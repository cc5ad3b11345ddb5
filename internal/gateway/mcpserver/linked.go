package mcpserver

import (
	"bytes"

	"mycelium/internal/gate/session"
	"mycelium/internal/rawjson"
)

// noteLinks notes the URIs in a result of a server, which passes untouched: the client reads them by the names that it got. They are in
// the content of tools, in the messages of prompts, and in the contents of resources, which may be the pages of a folder.
func noteLinks(sess *session.Session, server string, result []byte) {
	if server == "" || !bytes.Contains(result, []byte(`"uri"`)) {
		return
	}
	note := func(part []byte) {
		sess.Links.Note(server, rawjson.TextAt(part, "uri"))
		sess.Links.Note(server, rawjson.TextAt(part, "resource", "uri"))
	}
	for _, list := range [...]string{"content", "contents"} {
		for part := range rawjson.Elements(rawjson.Member(result, list)) {
			note(part)
		}
	}
	for message := range rawjson.Elements(rawjson.Member(result, "messages")) {
		note(rawjson.Member(message, "content"))
	}
}
