package mcpserver

import (
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The protocol revisions. From v20260728 on there is no handshake: every request says in its _meta what it speaks.
const (
	v20241105 = "2024-11-05"
	v20250326 = "2025-03-26"
	v20250618 = "2025-06-18"
	v20251125 = "2025-11-25"
	v20260728 = "2026-07-28"
)

// supported are the revisions that are served, the newest first, in JSON.
const supported = `["` + v20260728 + `","` + v20251125 + `","` + v20250618 + `","` + v20250326 + `","` + v20241105 + `"]`

// IsModern reports whether v is of the modern era, which has no handshake, whether we speak it or not.
func IsModern(v string) bool { return v >= v20260728 }

// Legacy reports whether v is a revision with a handshake that we speak.
func Legacy(v string) bool {
	switch v {
	case v20251125, v20250618, v20250326, v20241105:
		return true
	}
	return false
}

// Keys in _meta (MCP 2026-07-28, SEP-2575).
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaThinking     = "mycelium/thinking"     // ours: the reasoning that led to a call
	metaToolUse      = "claudecode/toolUseId"  // Claude Code's: its id of the call, which its hook named before
	metaRetry        = "mycelium/retryAfterMs" // ours: when a call that a limit refuses may be tried again
)

// Revision returns the revision that a request names in its _meta, and whether that is one of the modern era, known or not.
func Revision(m rpc.Message) (version string, modern bool) {
	if m.Params == nil {
		return "", false
	}
	version = rawjson.TextAt(m.Params, "_meta", MetaVersion)
	return version, IsModern(version)
}

// checkModern returns what is wrong with the _meta of a request of the modern era.
func checkModern(m rpc.Message, version string) *rpc.Error {
	if version != v20260728 {
		return Unsupported(version)
	}
	meta := rawjson.Member(m.Params, "_meta")
	if err := rpc.CheckCase(m.Params, "_meta"); err != nil {
		return err
	}
	if !isObject(rawjson.Member(meta, metaCapabilities)) {
		return rpc.InvalidParams(`_meta needs the object "` + metaCapabilities + `"`)
	}
	if info := rawjson.Member(meta, metaClientInfo); info != nil && !isObject(info) {
		return rpc.InvalidParams(`_meta: "` + metaClientInfo + `" must be an object`)
	}
	return nil
}

// Unsupported is the error for a revision that we do not speak.
func Unsupported(version string) *rpc.Error {
	data := []byte(`{"supported":` + supported + `,"requested":`)
	data = append(append(data, rawjson.Quote(version)...), '}')
	return &rpc.Error{Code: rpc.CodeVersion, Message: "unsupported protocol version", Data: data}
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
