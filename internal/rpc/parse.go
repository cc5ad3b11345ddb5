package rpc

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Parse reads exactly one message. Its error is always an *Error with CodeParse or CodeInvalidRequest; the id is returned in
// the message where it could be read, so that the answer can carry it.
//
// What is not JSON, not UTF-8 or followed by more data is CodeParse. CodeInvalidRequest is JSON that is not one message: a batch,
// a duplicate name at any depth, a name that differs from a protocol key only in case, params that are not an object, an id
// that is not a string or an integer, a version other than 2.0.
func Parse(b []byte) (Message, *Error) {
	if !jsontext.Value(b).IsValid() {
		return malformed(b)
	}
	b = trim(b)
	if b[0] == '[' {
		return Message{}, invalid("batches are not supported: send one message at a time")
	}
	if b[0] != '{' {
		return Message{}, invalid("a message is a JSON object")
	}
	var f fields
	if err := f.read(b); err != nil {
		return Message{ID: f.readableID()}, err
	}
	return f.message()
}

// Valid reports whether raw is exactly one JSON value in UTF-8 without duplicate names at any depth.
func Valid(raw []byte) bool { return jsontext.Value(raw).IsValid() }

func invalid(msg string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "invalid request: " + msg}
}

// fields are the protocol members of a message, raw.
type fields struct{ version, id, method, params, result, err []byte }

var protocolKeys = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

func (f *fields) read(object []byte) *Error {
	var bad *Error
	s := scan(object)
	for s.next() {
		value := s.value()
		switch string(s.name()) {
		case "jsonrpc":
			f.version = value
		case "id":
			f.id = value
		case "method":
			f.method = value
		case "params":
			f.params = value
		case "result":
			f.result = value
		case "error":
			f.err = value
		default:
			// The rest is still read, so that the answer can carry the id.
			if key := variant(s.name(), protocolKeys[:]); key != "" && bad == nil {
				bad = invalid("the member " + string(Quote(string(s.name()))) + " must be written " + string(Quote(key)))
			}
		}
	}
	return bad
}

// message checks the members and makes a message of them.
func (f *fields) message() (Message, *Error) {
	m := Message{ID: f.readableID()}
	if string(f.version) != `"2.0"` {
		if v, _ := Text(f.version); v != "2.0" {
			return m, invalid(`"jsonrpc" must be "2.0"`)
		}
	}
	if f.method == nil {
		return f.response(m)
	}
	if f.result != nil || f.err != nil {
		return m, invalid(`"method" together with "result" or "error"`)
	}
	if f.id != nil && m.ID == nil {
		return m, invalid(`"id" must be a string or an integer`)
	}
	method, ok := methodName(f.method)
	if !ok || method == "" {
		return m, invalid(`"method" must be a string that is not empty`)
	}
	if f.params != nil && f.params[0] != '{' {
		return m, invalid(`"params" must be an object`)
	}
	m.Method, m.Params = method, f.params
	return m, nil
}

func (f *fields) response(m Message) (Message, *Error) {
	if string(f.id) == "null" {
		m.ID = f.id
	}
	switch {
	case f.result == nil && f.err == nil:
		return m, invalid(`"method" is missing`)
	case f.result != nil && f.err != nil:
		return m, invalid(`"result" together with "error"`)
	case m.ID == nil:
		return m, invalid(`a response needs the "id" of its request`)
	case f.err != nil && f.err[0] != '{':
		return m, invalid(`"error" must be an object`)
	}
	m.Result, m.Error = f.result, f.err
	return m, nil
}

// readableID is the id, if it is a string or an integer.
func (f *fields) readableID() []byte {
	id := f.id
	if len(id) == 0 || id[0] == '"' {
		return id
	}
	digits := id
	if digits[0] == '-' {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil
		}
	}
	if len(digits) == 0 {
		return nil
	}
	return id
}

// methodName decodes the method; the usual ones cost no allocation.
func methodName(raw []byte) (string, bool) {
	switch string(raw) {
	case `"tools/call"`:
		return "tools/call", true
	case `"tools/list"`:
		return "tools/list", true
	case `"resources/read"`:
		return "resources/read", true
	case `"prompts/get"`:
		return "prompts/get", true
	case `"ping"`:
		return "ping", true
	case `"notifications/progress"`:
		return "notifications/progress", true
	case `"notifications/cancelled"`:
		return "notifications/cancelled", true
	}
	return Text(raw)
}

// malformed says what is wrong with bytes that are not one strict JSON value. It is slow, and only for refusals.
func malformed(b []byte) (Message, *Error) {
	d := jsontext.NewDecoder(strings.NewReader(string(b)))
	_, err := d.ReadValue()
	if errors.Is(err, jsontext.ErrDuplicateName) && jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true)) {
		var f fields
		if t := trim(b); t[0] == '{' && unique(t, "id") {
			_ = f.read(t)
		}
		return Message{ID: f.readableID()}, invalid("a member name stands twice in one object")
	}
	msg := "more data after the message"
	if err != nil {
		msg = "not JSON in UTF-8"
		if errors.Is(err, io.EOF) {
			msg = "empty message"
		}
	}
	return Message{}, &Error{Code: CodeParse, Message: "parse error: " + msg}
}

// unique reports whether a key stands at most once in the object.
func unique(object []byte, key string) bool {
	n := 0
	s := scan(object)
	for s.next() {
		if string(s.name()) == key {
			n++
		}
	}
	return n <= 1
}

// variant returns the key that name equals only when case is ignored.
func variant(name []byte, keys []string) string {
	for _, key := range keys {
		// Unicode folding, because encoding/json (v1) folds so: U+017F is an s, U+212A a k.
		if string(name) != key && strings.EqualFold(string(name), key) {
			return key
		}
	}
	return ""
}

// CheckCase returns an error if an object has a member whose name equals one of the keys only when case is ignored (T1:
// {"name":…,"Name":…}). The gateway uses it on the params that it acts upon.
func CheckCase(object []byte, keys ...string) *Error {
	s := scan(object)
	for s.next() {
		if key := variant(s.name(), keys); key != "" {
			return &Error{Code: CodeInvalidParams, Message: "invalid params: the member " + string(Quote(string(s.name()))) +
				" must be written " + string(Quote(key))}
		}
	}
	return nil
}
