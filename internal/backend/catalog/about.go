package catalog

import (
	"bytes"

	"mycelium/internal/rawjson"
)

// About is what a server said of itself when it was last asked. It is stored with the catalog, so that it is known before the server runs.
// Only its JSON syntax is checked.
type About struct {
	Version      string // protocol revision that was agreed on
	Capabilities []byte // raw JSON object, byte for byte; nil: none
	Instructions string
	Info         []byte // name and version (serverInfo), a raw JSON object; nil: none
	NoDiscovery  bool   // it was asked with server/discover, and does not speak the modern revision
}

// Declares reports whether the server declared a capability: Declares("resources", "subscribe"), Declares("extensions",
// "io.modelcontextprotocol/tasks"). A member that is false or null counts as not declared.
func (s About) Declares(path ...string) bool {
	v := rawjson.Path(s.Capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// Object is a copy of raw if raw is a JSON object; otherwise nil.
func Object(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return bytes.Clone(raw)
}
