package builtin

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// JSON-RPC error codes.
const (
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// Answer is the result of a call (CallToolResult of MCP).
type Answer struct {
	Content    []Block `json:"content"`
	Structured any     `json:"structuredContent,omitempty"`
	IsError    bool    `json:"isError,omitzero"`
}

// Block is a part of an answer: text, or an embedded resource.
type Block struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitzero"`
	Resource *Resource `json:"resource,omitempty"`
}

// Resource is content that is not text.
type Resource struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Blob     []byte `json:"blob"` // base64 on the wire
}

// TextBlock makes a part of text. It replaces bytes that are not UTF-8, which names of files may have.
func TextBlock(s string) Block {
	s = strings.ToValidUTF8(s, "�")
	return Block{Type: "text", Text: &s}
}

// Text makes an answer of one text.
func Text(format string, args ...any) Answer {
	return Answer{Content: []Block{TextBlock(fmt.Sprintf(format, args...))}}
}

// failure is the answer of a tool that failed.
func failure(name string, err error) []byte {
	raw, merr := json.Marshal(Answer{Content: []Block{TextBlock(name + ": " + err.Error())}, IsError: true})
	if merr != nil { // cannot happen: the text is valid UTF-8
		return []byte(`{"content":[{"type":"text","text":"the tool failed"}],"isError":true}`)
	}
	return raw
}

func rpcError(code int, message string) []byte {
	raw, err := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, strings.ToValidUTF8(message, "�")})
	if err != nil { // cannot happen: the message is valid UTF-8
		return []byte(`{"code":-32603,"message":"internal error"}`)
	}
	return raw
}
