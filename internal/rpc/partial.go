package rpc

import (
	"bytes"

	"mycelium/internal/rawjson"
)

// PartialID returns the id of a response of which only the beginning and the end are known, because the line was too long. It returns nil
// if the message is not a response, or if neither part has the id as a member of the message itself. It ignores the values of other
// members, so that a result cannot name another call.
func PartialID(head, tail []byte) []byte {
	var id []byte
	for s := rawjson.ScanObject(head); s.Next(); {
		switch string(s.Name()) {
		case "method", "params":
			return nil
		case "id":
			if s.End() < len(head) { // otherwise the value may continue
				id = s.Value()
			}
		}
	}
	if id == nil {
		if last, request := tailID(tail); !request {
			id = last
		}
	}
	return id
}

// RequestID returns the id of a request of which only the beginning and the end are known. It returns nil if neither has the whole id.
func RequestID(head, tail []byte) []byte {
	for s := rawjson.ScanObject(head); s.Next(); {
		if string(s.Name()) == "id" && s.End() < len(head) {
			return s.Value()
		}
	}
	id, _ := tailID(tail)
	return id
}

// tailID reads the last members of an object backwards: {… ,"id":7} or {… ,"id":7,"jsonrpc":"2.0"}. If there are only scalars between a
// comma and the last brace of the line, both belong to the outermost object. request reports that a method is among them.
func tailID(tail []byte) (id []byte, request bool) {
	rest, ok := bytes.CutSuffix(rawjson.Trim(tail), []byte{'}'})
	if !ok {
		return nil, false
	}
	for range 3 { // the scalars of a message: jsonrpc, id and, in a request, method
		var name, value []byte
		rest, name, value = rawjson.LastMember(rest)
		switch string(name) {
		case `"id"`:
			id = value
		case `"method"`:
			request = true
		case `"jsonrpc"`:
		default:
			return id, request
		}
	}
	return id, request
}
