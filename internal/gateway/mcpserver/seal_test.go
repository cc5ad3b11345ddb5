package mcpserver

import (
	"testing"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/rawjson"
)

// Every state that a client sends is genuine or refused.
func FuzzOpenState(f *testing.F) {
	s, sess := newSealer(), &session.Session{ID: "one"}
	r := gate.Request{Method: "tools/call", Asked: "docs__input", Args: []byte(`{"a":1}`)}
	good := s.sealState(sess, &r, requestState{Call: "c", Inner: "i", Has: true})
	f.Add([]byte(`"`+good+`"`), []byte(`{"a":1}`))
	f.Add([]byte(`"`+good[:40]+`"`), []byte(`{}`))
	f.Add([]byte(`7`), []byte(`{"a" : 1}`))
	f.Fuzz(func(t *testing.T, raw, args []byte) {
		if !rawjson.Valid(raw) || !rawjson.Valid(args) {
			return
		}
		r := r
		r.Args = args
		st, why := s.openState(sess, &r, raw)
		text, _ := rawjson.Text(raw)
		if why == "" && (text != good || string(digest(args)) != string(digest([]byte(`{"a":1}`))) || st.Inner != "i") {
			t.Errorf("opened %q for %q", raw, args)
		}
	})
}
