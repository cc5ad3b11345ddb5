package rpc

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// Parse parses exactly one message. Its error is always an *Error with CodeParse or CodeInvalidRequest. With an error the message has the
// id and the method if they could be read, so that the answer can carry the id, and a response can be told from a request.
//
// CodeParse means that the input is not JSON, not UTF-8 or followed by more data. CodeInvalidRequest means JSON that is not one message:
// a batch, a duplicate name at any depth, a name that differs from a protocol key only in case, params that are not an object, an id that
// is not a string or an integer, a version other than 2.0. It also means input that is nested too deep ([rawjson.TooDeep]).
func Parse(b []byte) (Message, *Error) {
	if !rawjson.Valid(b) {
		return malformed(b)
	}
	b = rawjson.Trim(b)
	if b[0] == '[' {
		return Message{}, InvalidRequest("batches are not supported: send one message at a time")
	}
	if b[0] != '{' {
		return Message{}, InvalidRequest("a message is a JSON object")
	}
	var f fields
	if err := f.read(b); err != nil {
		return f.readable(), err
	}
	return f.message()
}

// fields are the protocol members of a message, raw.
type fields struct{ version, id, method, params, result, err []byte }

var protocolKeys = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

func (f *fields) read(object []byte) *Error {
	var bad *Error
	for s := rawjson.ScanObject(object); s.Next(); {
		value := s.Value()
		switch string(s.Name()) {
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
			if key := rawjson.Variant(s.Name(), protocolKeys[:]...); key != "" && bad == nil {
				bad = InvalidRequest(variantMessage(string(s.Name()), key))
			}
		}
	}
	return bad
}

// message checks the members and returns the message.
func (f *fields) message() (Message, *Error) {
	m := f.readable()
	if string(f.version) != `"2.0"` {
		if v, _ := rawjson.Text(f.version); v != "2.0" {
			return m, InvalidRequest(`"jsonrpc" must be "2.0"`)
		}
	}
	if f.method == nil {
		return f.response(m)
	}
	if f.result != nil || f.err != nil {
		return m, InvalidRequest(`"method" together with "result" or "error"`)
	}
	if f.id != nil && m.ID == nil {
		return m, InvalidRequest(`"id" must be a string or an integer`)
	}
	if m.Method == "" {
		return m, InvalidRequest(`"method" must be a string that is not empty`)
	}
	if f.params != nil && f.params[0] != '{' {
		return m, InvalidRequest(`"params" must be an object`)
	}
	m.Params = f.params
	return m, nil
}

func (f *fields) response(m Message) (Message, *Error) {
	if string(f.id) == "null" {
		m.ID = f.id
	}
	switch {
	case f.result == nil && f.err == nil:
		return m, InvalidRequest(`"method" is missing`)
	case f.result != nil && f.err != nil:
		return m, InvalidRequest(`"result" together with "error"`)
	case m.ID == nil:
		return m, InvalidRequest(`a response needs the "id" of its request`)
	case f.err != nil && f.err[0] != '{':
		return m, InvalidRequest(`"error" must be an object`)
	}
	m.Result, m.Error = f.result, f.err
	return m, nil
}

// readable returns the message with its id and its method, as far as they can be read.
func (f *fields) readable() Message {
	m := Message{ID: f.readableID()}
	if f.method != nil {
		m.Method, _ = methodName(f.method)
	}
	return m
}

// readableID returns the id if it is a string or an integer.
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

// methodName decodes the method, without an allocation for the usual ones.
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
	return rawjson.Text(raw)
}

// malformed describes why input is not one strict JSON value. It is slow and only used for errors.
func malformed(b []byte) (Message, *Error) {
	if rawjson.TooDeep(b) {
		return partly(b), InvalidRequest(fmt.Sprintf("it is nested more than %d deep", rawjson.MaxDepth))
	}
	d := jsontext.NewDecoder(strings.NewReader(string(b)))
	_, err := d.ReadValue()
	if errors.Is(err, jsontext.ErrDuplicateName) && rawjson.WellFormed(b) {
		return partly(b), InvalidRequest("a member name appears twice in one object")
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

// partly reads the id and the method of an object that has only one id.
func partly(b []byte) Message {
	var f fields
	if b = rawjson.Trim(b); b[0] == '{' && rawjson.Unique(b, "id") {
		_ = f.read(b)
	}
	return f.readable()
}

// CheckCase returns an error if an object has a member whose name equals one of the keys only when case is ignored (T1:
// {"name":…,"Name":…}). The gateway calls it for the params that it acts upon.
func CheckCase(object []byte, keys ...string) *Error {
	name, key := rawjson.CaseVariant(object, keys...)
	if key == "" {
		return nil
	}
	return InvalidParams(variantMessage(name, key))
}

func variantMessage(name, key string) string {
	return "the member " + string(rawjson.Quote(name)) + " must be written " + string(rawjson.Quote(key))
}
