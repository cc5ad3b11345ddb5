// Package rpc reads and writes JSON-RPC 2.0 messages without decoding what they carry.
//
// Ids, params, results and errors stay raw bytes. Parsing is strict: one JSON object, no batch, no duplicate key at any depth, no case
// variant of a protocol key at the top level.
package rpc

import (
	"bytes"
	"strconv"

	"mycelium/internal/rawjson"
)

// MaxMessage is the default limit for one message, in bytes (4 MiB).
const MaxMessage = 4 << 20

// Standard and MCP error codes.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeHeaderMismatch = -32020 // MCP 2026-07-28: headers and body differ
	CodeVersion        = -32022 // MCP 2026-07-28: unsupported protocol version

	// CodeEnding is our own: the process ends, and has not done what it was asked. The next one does.
	CodeEnding = -32054

	// CodeBusy is our own, outside of the range that JSON-RPC and MCP reserve, and equals the HTTP status.
	CodeBusy = 503
)

// Message is one request (ID and Method), notification (Method only) or response (ID and Result or Error). The raw members
// alias the parsed buffer.
type Message struct {
	ID     []byte // raw JSON string or number; nil for a notification. The response to an unreadable request has "null"
	Method string
	Params []byte // raw JSON object; nil: absent
	Result []byte // raw JSON value; nil: absent
	Error  []byte // raw JSON object; nil: absent
}

// IsRequest reports whether the message is a request.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsResponse reports whether the message is a response.
func (m Message) IsResponse() bool { return m.Method == "" }

// Append appends the message as one line of JSON, without a newline. Line breaks between the tokens of raw members become spaces; all
// other bytes stay.
func (m Message) Append(b []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if m.ID != nil {
		b = append(b, `,"id":`...)
		b = appendLine(b, m.ID)
	}
	if m.Method != "" {
		b = append(b, `,"method":`...)
		b = rawjson.AppendQuote(b, m.Method)
	}
	if m.Params != nil {
		b = append(b, `,"params":`...)
		b = appendLine(b, m.Params)
	}
	if m.Result != nil {
		b = append(b, `,"result":`...)
		b = appendLine(b, m.Result)
	}
	if m.Error != nil {
		b = append(b, `,"error":`...)
		b = appendLine(b, m.Error)
	}
	return append(b, '}')
}

// Around returns what stands before and after the result of a response in its JSON: a long result is written without a copy of it. Unlike
// in [Message.Append], line breaks in the result stay.
func (m Message) Around() (head, tail []byte) {
	head = Message{ID: m.ID}.Append(nil)
	return append(head[:len(head)-1], `,"result":`...), []byte("}")
}

// appendLine appends raw JSON with line breaks replaced by spaces.
func appendLine(b, raw []byte) []byte {
	n := len(b)
	b = append(b, raw...)
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return b
	}
	for i := n; i < len(b); i++ {
		if b[i] == '\n' || b[i] == '\r' {
			b[i] = ' '
		}
	}
	return b
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    []byte `json:"-"` // raw JSON value, or nil
}

func (e *Error) Error() string { return e.Message }

// Raw returns the error as a JSON object.
func (e *Error) Raw() []byte {
	b := make([]byte, 0, 48+len(e.Message)+len(e.Data))
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = rawjson.AppendQuote(b, e.Message)
	if e.Data != nil {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, '}')
}

// InvalidRequest returns the error for a message that breaks the protocol.
func InvalidRequest(msg string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "invalid request: " + msg}
}

// InvalidParams returns the error for a request with unusable parameters.
func InvalidParams(msg string) *Error {
	return &Error{Code: CodeInvalidParams, Message: "invalid params: " + msg}
}

// Refuse returns the response to a request that fails with e. The id is nil if it could not be read.
func Refuse(id []byte, e *Error) Message {
	if id == nil {
		id = []byte("null")
	}
	return Message{ID: id, Error: e.Raw()}
}

// ErrorOf decodes a raw JSON-RPC error object. Parts that are missing or of the wrong type stay zero. The result is never nil.
func ErrorOf(raw []byte) *Error {
	e := &Error{Data: rawjson.Member(raw, "data")}
	e.Code, _ = strconv.Atoi(string(rawjson.Member(raw, "code")))
	e.Message = rawjson.TextAt(raw, "message")
	return e
}
