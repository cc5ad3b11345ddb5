package mcpserver

import (
	"testing"

	"mycelium/internal/rpc"
)

// Only an answer with the id of a question settles the question, and only once.
func FuzzSettle(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"1","result":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1.0,"error":{"code":1,"message":"x"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, bad := rpc.Parse(line)
		if bad != nil || !m.IsResponse() {
			return
		}
		var a questions
		_, answer, err := a.begin()
		if err != nil {
			t.Fatal(err)
		}
		a.settle(m)
		a.settle(m)
		if (len(answer) == 1) != (string(m.ID) == "1") {
			t.Errorf("%s settled %d", line, len(answer))
		}
	})
}
