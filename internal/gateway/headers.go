package gateway

import (
	"cmp"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The headers of Streamable HTTP.
const (
	headerVersion   = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
	headerLastEvent = "Last-Event-ID"
)

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	encoding := h.Get("Content-Encoding")
	return err == nil && media == "application/json" && (encoding == "" || strings.EqualFold(encoding, "identity"))
}

// accept is what a client can read.
type accept struct {
	json, events bool
	eventsFirst  bool // it names events before JSON
}

// accepts reads the Accept header. The revisions demand both types, but we also serve clients that name one or send no header.
func accepts(h http.Header) accept {
	values := h.Values("Accept")
	if len(values) == 0 {
		return accept{json: true, events: true}
	}
	var a accept
	for _, part := range strings.Split(strings.Join(values, ","), ",") {
		media, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(media)) {
		case "application/json", "application/*":
			a.json = true
		case "text/event-stream", "text/*":
			a.eventsFirst = !a.json
			a.events = true
		case "*/*":
			return accept{json: true, events: true}
		}
	}
	return a
}

// checkHeaders compares the headers of a modern request with its body, so that a proxy that routes by headers and we agree.
func checkHeaders(h http.Header, m rpc.Message, version string) *rpc.Error {
	differs := func(header, want string) *rpc.Error {
		values := h.Values(header)
		switch {
		case len(values) == 0:
			return mismatch(header, "is missing")
		case len(values) > 1 || values[0] != want && rpc.HeaderText(values[0]) != want:
			return mismatch(header, "and the body differ")
		}
		return nil
	}
	if err := differs(headerVersion, version); err != nil {
		return err
	}
	if err := differs(headerMethod, m.Method); err != nil {
		return err
	}
	key := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	default:
		return nil
	}
	return differs(headerName, rawjson.TextAt(m.Params, key))
}

// checkParams compares the Mcp-Param-* headers of a call with its arguments, as the tool's definition asks: a proxy that routes by them
// and the server must not read different values. Headers of a tool that the session does not see are not checked, because the answer
// would show that the tool exists.
func (s *Server) checkParams(sess *session.Session, h http.Header, m rpc.Message) *rpc.Error {
	if m.Method != "tools/call" {
		return nil
	}
	name := rawjson.TextAt(m.Params, "name")
	item := s.gate.Resolve(policy.Tool, name)
	seen := sess.List(policy.Tool)
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
