package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"mycelium/internal/gate"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// checkParams compares the Mcp-Param-* headers of a call with its arguments, as the tool's definition asks: whoever routes by them and
// the server must not read different values. Of a tool that the session does not see nothing is said here.
func (s *Server) checkParams(sess *gate.Session, h http.Header, m rpc.Message) *rpc.Error {
	if m.Method != "tools/call" {
		return nil
	}
	name := rawjson.TextAt(m.Params, "name")
	item := s.gate.Resolve(policy.Tool, name)
	seen := s.gate.List(sess, policy.Tool)
	i, ok := slices.BinarySearchFunc(seen, item, func(l view.Listed, it policy.Item) int {
		return cmp.Or(cmp.Compare(l.Item.Server, it.Server), cmp.Compare(l.Item.Name, it.Name))
	})
	if !ok {
		return nil
	}
	for _, p := range rpc.ParamHeaders(seen[i].Raw) {
		want, asked := p.Value(rawjson.Member(m.Params, "arguments"))
		got := h.Values(p.Name)
		switch {
		case !asked && len(got) == 0:
		case !asked:
			return mismatch(p.Name, "says what the arguments do not")
		case len(got) == 0:
			return mismatch(p.Name, "is missing")
		case len(got) > 1 || !sameParam(rpc.HeaderText(got[0]), want):
			return mismatch(p.Name, "and the body differ")
		}
	}
	return nil
}

// sameParam compares the value of a header with that of an argument: 42.0 is 42.
func sameParam(got, want string) bool {
	if got == want {
		return true
	}
	n, err := strconv.ParseInt(want, 10, 64)
	f, ferr := strconv.ParseFloat(got, 64)
	return err == nil && ferr == nil && f == float64(n)
}

func mismatch(header, why string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeHeaderMismatch, Message: "header mismatch: " + header + " " + why}
}
