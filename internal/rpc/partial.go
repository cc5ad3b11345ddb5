package rpc

import (
	"bytes"

	"mycelium/internal/rawjson"
)

// PartialID returns the id of a response of which only the beginning and the end are known: a line that was too long. It returns nil
// if neither part has the id as a member of the message itself, or if the message is not a response. It does not look into the values
// of other members, so that a result cannot name another call than its own.
func PartialID(head, tail []byte) []byte {
	var id []byte
	for s := rawjson.ScanObject(head); s.Next(); {
		switch string(s.Name()) {
		case "method", "params":
			return nil
		case "id":
			if s.End() < len(head) { // else it may go on
				id = s.Value()
			}
		}
	}
	if id == nil {
		id = tailID(tail)
	}
	return id
}

// tailID reads the last members of an object backwards: {… ,"id":7} or {… ,"id":7,"jsonrpc":"2.0"}. If only scalars stand between a
// comma and the last brace of the line, both belong to the outermost object.
func tailID(tail []byte) []byte {
	rest, ok := bytes.CutSuffix(rawjson.Trim(tail), []byte{'}'})
	if !ok {
		return nil
	}
	var id []byte
	for range 3 { // the scalars of a message: jsonrpc, id, and of a request method
		var name, value []byte
		rest, name, value = rawjson.LastMember(rest)
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
