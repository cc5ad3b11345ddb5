package catalog

import (
	"bytes"

	"mycelium/internal/rawjson"
)

// About is what a server said of itself when it was last asked. It is kept with the learned catalog, so that it is known before
// the server runs. Nothing in it is checked but that it is JSON.
type About struct {
	Version      string // the protocol revision that was agreed on
	Capabilities []byte // raw JSON object, byte for byte; nil: it declared none
	Instructions string
	Info         []byte // its name and version (serverInfo), raw JSON object; nil: it said nothing
}

// Declares reports whether the server declared a capability: Declares("resources", "subscribe"), Declares("extensions",
// "io.modelcontextprotocol/tasks"). A member that is false or null counts as not declared.
func (s About) Declares(path ...string) bool {
	v := rawjson.Path(s.Capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// Object is raw, copied, if it is a JSON object; else nil.
func Object(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return bytes.Clone(raw)
}
