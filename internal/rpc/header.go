package rpc

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/rawjson"
)

// The form in which a header carries a value that is not plain ASCII (MCP 2026-07-28, SEP-2243).
const encodedPrefix, encodedSuffix = "=?base64?", "?="

// HeaderValue encodes a text as the value of a header. Plain ASCII without space at its ends stays as it is, unless it looks encoded.
func HeaderValue(s string) string {
	plain := s == strings.Trim(s, " \t") && (!strings.HasPrefix(s, encodedPrefix) || !strings.HasSuffix(s, encodedSuffix))
	for i := range len(s) {
		plain = plain && s[i] >= 0x20 && s[i] <= 0x7E
	}
	if plain {
		return s
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + encodedSuffix
}

// HeaderText decodes a value of HeaderValue. It returns a value that is not encoded, or not well encoded, as it is.
func HeaderText(v string) string {
	inner, ok := strings.CutPrefix(v, encodedPrefix)
	if !ok {
		return v
	}
	inner, ok = strings.CutSuffix(inner, encodedSuffix)
	b, err := base64.StdEncoding.DecodeString(inner)
	if !ok || err != nil {
		return v
	}
	return string(b)
}

// ParamHeader is an argument of a tool that is repeated in a header over HTTP, because the input schema of the tool asks for it with
// x-mcp-header (MCP 2026-07-28).
type ParamHeader struct {
	Path []string // of the argument
	Name string   // of the header, with its prefix Mcp-Param-
}

// ParamHeaderKey is the key in the schema of an argument that asks for a header.
const ParamHeaderKey = "x-mcp-header"

// maxSchemaDepth bounds the nesting of properties that ParamHeaders visits.
const maxSchemaDepth = 16

// maxSafeInteger is the largest integer that the header form knows (2^53 - 1, SEP-2243).
const maxSafeInteger = 1<<53 - 1

// ParamHeaders returns the headers that the definition of a tool asks for. It skips invalid header names.
func ParamHeaders(definition []byte) []ParamHeader {
	if !bytes.Contains(definition, []byte(ParamHeaderKey)) {
		return nil
	}
	return paramHeaders(rawjson.Member(definition, "inputSchema"), nil)
}

func paramHeaders(schema []byte, path []string) (list []ParamHeader) {
	if len(path) >= maxSchemaDepth {
		return nil
	}
	for name, property := range rawjson.Members(rawjson.Member(schema, "properties")) {
		at := slices.Concat(path, []string{name})
		if header, ok := rawjson.Text(rawjson.Member(property, ParamHeaderKey)); ok && IsToken(header) {
			list = append(list, ParamHeader{at, "Mcp-Param-" + header})
		}
		list = append(list, paramHeaders(property, at)...)
	}
	return list
}

// Value returns the text of the header for the arguments of a call, before [HeaderValue]. It returns false if the argument is absent or
// of a type without a header form (null, objects, fractions, integers that JavaScript cannot represent).
func (p ParamHeader) Value(arguments []byte) (string, bool) {
	raw := rawjson.Path(arguments, p.Path...)
	if text, ok := rawjson.Text(raw); ok {
		return text, true
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n >= -maxSafeInteger && n <= maxSafeInteger {
		return strconv.FormatInt(n, 10), true
	}
	s := string(raw)
	return s, s == "true" || s == "false"
}

// IsToken reports whether s is a valid header name (RFC 9110, token).
func IsToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !plain && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
