package files

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

// answer is a CallToolResult.
type answer struct {
	Content    []block `json:"content"`
	Structured any     `json:"structuredContent,omitempty"`
	IsError    bool    `json:"isError,omitzero"`
}

// block is a content block: text, or an embedded resource.
type block struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitzero"`
	Resource *resource `json:"resource,omitempty"`
}

// resource is the content of a file that is not text.
type resource struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Blob     []byte `json:"blob"` // base64 on the wire
}

// textBlock makes a text block. It replaces bytes that are not UTF-8, which names of files may have.
func textBlock(s string) block {
	s = strings.ToValidUTF8(s, "�")
	return block{Type: "text", Text: &s}
}

func textAnswer(format string, args ...any) answer {
	return answer{Content: []block{textBlock(fmt.Sprintf(format, args...))}}
}

// failure is the answer of a tool that failed.
func failure(name string, err error) []byte {
	raw, merr := json.Marshal(answer{Content: []block{textBlock(name + ": " + err.Error())}, IsError: true})
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
