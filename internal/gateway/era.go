package gateway

import (
	"mycelium/internal/gate"
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

// versions are the revisions that are served, newest first.
func versions() []string { return []string{v20260728, v20251125, v20250618, v20250326, v20241105} }

// legacy reports whether v is a revision with a handshake that we speak.
func legacy(v string) bool {
	switch v {
	case v20251125, v20250618, v20250326, v20241105:
		return true
	}
	return false
}

// Keys in _meta (MCP 2026-07-28, SEP-2575).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaThinking     = "mycelium/thinking"     // ours: the reasoning that led to a call
	metaToolUse      = "claudecode/toolUseId"  // Claude Code's: its id of the call, which its hook named before
	metaRetry        = "mycelium/retryAfterMs" // ours: when a call that a limit refuses may be tried again
)

// metaOf returns the revision that a request names in its _meta, if it is one of the modern era, known or not.
func metaOf(m rpc.Message) (version string, modern bool) {
	if m.Params == nil {
		return "", false
	}
	version = rawjson.TextAt(m.Params, "_meta", metaVersion)
	return version, version >= v20260728
}

// modernClient is the client of one request of the modern era, which checkModern has passed.
func modernClient(sess *gate.Session, surface string, m rpc.Message) *client {
	return &client{session: sess, surface: surface, version: v20260728, capabilities: rawjson.Path(m.Params, "_meta", metaCapabilities)}
}

// checkModern checks what a request of the modern era must bring.
func checkModern(m rpc.Message, version string) *rpc.Error {
	if version != v20260728 {
		return unsupported(version)
	}
	meta := rawjson.Member(m.Params, "_meta")
	if err := rpc.CheckCase(m.Params, "_meta"); err != nil {
		return err
	}
	if !isObject(rawjson.Member(meta, metaCapabilities)) {
		return invalidParams(`_meta needs the object "` + metaCapabilities + `"`)
	}
	if info := rawjson.Member(meta, metaClientInfo); info != nil && !isObject(info) {
		return invalidParams(`_meta: "` + metaClientInfo + `" must be an object`)
	}
	return nil
}

// unsupported is the answer to a revision that we do not speak.
func unsupported(version string) *rpc.Error {
	data := []byte(`{"supported":[`)
	for i, v := range versions() {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, rawjson.Quote(v)...)
	}
	data = append(data, `],"requested":`...)
	data = append(append(data, rawjson.Quote(version)...), '}')
	return &rpc.Error{Code: rpc.CodeVersion, Message: "unsupported protocol version", Data: data}
}

func invalidParams(msg string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "invalid params: " + msg}
}

func invalidRequest(msg string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "invalid request: " + msg}
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
