package rpc

import (
	"bytes"
	"strconv"
)

// PartialID finds the id of a message of which only the beginning and the end are there: a line that was too long. Nil: it stands in
// neither as a member of the message itself, or the message is no answer. What the message carries is not looked into, so that a result
// cannot name another call than its own.
func PartialID(head, tail []byte) []byte {
	var id []byte
	for s := scan(head); s.next(); {
		switch string(s.name()) {
		case "method", "params":
			return nil
		case "id":
			if s.to < len(head) { // else it may go on
				id = s.value()
			}
		}
	}
	if id == nil {
		id = tailID(tail)
	}
	return id
}

// tailID reads the last members of an object backwards: {… ,"id":7} or {… ,"id":7,"jsonrpc":"2.0"}. A comma before the name and the
// brace after the value, with nothing but scalars in between, can only be those of the object that the line is.
func tailID(tail []byte) []byte {
	rest, ok := bytes.CutSuffix(trim(tail), []byte{'}'})
	if !ok {
		return nil
	}
	var id []byte
	for range 3 { // the scalars of a message: jsonrpc, id, and of a request method
		var name, value []byte
		rest, name, value = lastMember(trim(rest))
		switch string(name) {
		case `"id"`:
			id = value
		case `"method"`:
			return nil
		case `"jsonrpc"`:
		default:
			return id
		}
	}
	return id
}

// lastMember cuts the last member off the members of an object, where its value is a string without escapes or a number.
func lastMember(b []byte) (rest, name, value []byte) {
	from := 0
	if n := len(b); n > 0 && b[n-1] == '"' {
		from = bytes.LastIndexByte(b[:n-1], '"')
	} else {
		from = bytes.LastIndexAny(b, ": \t\r\n,") + 1
	}
	if from <= 0 {
		return nil, nil, nil
	}
	value = b[from:]
	if _, err := strconv.ParseInt(string(value), 10, 64); err != nil && !bytes.HasPrefix(value, []byte{'"'}) || bytes.IndexByte(value, '\\') >= 0 {
		return nil, nil, nil
	}
	b, ok := bytes.CutSuffix(trim(b[:from]), []byte{':'})
	b = trim(b)
	if !ok || len(b) < 2 || b[len(b)-1] != '"' {
		return nil, nil, nil
	}
	at := bytes.LastIndexByte(b[:len(b)-1], '"')
	if at < 0 {
		return nil, nil, nil
	}
	name = b[at:]
	rest, ok = bytes.CutSuffix(trim(b[:at]), []byte{','})
	if !ok {
		return nil, nil, nil
	}
	return rest, name, value
}
