package rpc

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestPartialID(t *testing.T) {
	long := strings.Repeat("x", 3*lineBuffer)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"x":"` + long + `"}}`:              "7",
		`{"id" : "a" ,"result":{"x":"` + long + `"}}`:                         `"a"`,
		`{"jsonrpc":"2.0","result":{"id":8,"x":"` + long + `"},"id":7}`:       "7",
		`{"result":{"x":"` + long + `"}, "id" : 7 , "jsonrpc" : "2.0" }`:      "7",
		`{"result":{"x":"` + long + `"},"jsonrpc":"2.0","id":-7}  `:           "-7",
		`{"result":{"x":"` + long + `","id":7}}`:                              "",
		`{"result":{"x":"` + long + `,\"id\":7"}}`:                            "",
		`{"result":["` + long + `"]}`:                                         "",
		`{"result":{"x":"` + long + `"},"id":{"a":1}}`:                        "",
		`{"result":{"x":"` + long + `"},"x,\"id":7}`:                          "",
		`{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"` + long + `"}}`: "",
		`{"method":"m","id":7,"params":{"x":"` + long + `"}}`:                 "",
		`{"params":{"x":"` + long + `"},"method":"m","id":7}`:                 "",
		`{"params":{"x":"` + long + `"},"id":7,"method":"m"}`:                 "",
		long: "",
	} {
		for _, limit := range []int{2 * lineBuffer, 3*lineBuffer - 1} {
			lines := NewLines(strings.NewReader(line+"\n{}\n"), limit)
			if _, err := lines.Next(); !errors.Is(err, ErrTooLong) {
				t.Fatal(err)
			}
			head, tail := lines.TooLong()
			if got := string(PartialID(head, tail)); got != want {
				t.Errorf("%.60s…%s: id %s", line, line[len(line)-20:], got)
			}
			if next, err := lines.Next(); string(next) != "{}" || err != nil {
				t.Errorf("after it comes %.60s, %v", next, err)
			}
		}
	}
	for line, want := range map[string]string{ // the SDKs put the id last
		`{"method":"tools/call","params":{"x":"` + long + `"},"jsonrpc":"2.0","id":7}`: "7",
		`{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"` + long + `","id":8}}`:   "7",
		`{"params":{"x":"` + long + `"},"id":7,"method":"m"}`:                          "7",
		`{"method":"m","params":{"x":"` + long + `","id":8}}`:                          "",
	} {
		if got := string(RequestID([]byte(line)[:lineBuffer], []byte(line)[len(line)-lineBuffer:])); got != want {
			t.Errorf("request %.40s: id %s, want %s", line, got, want)
		}
	}
	lines := NewLines(strings.NewReader(`{"id":7,"result":1}`), 10)
	_, err := lines.Next()
	if head, tail := lines.TooLong(); !errors.Is(err, ErrTooLong) || string(PartialID(head, tail)) != "7" {
		t.Errorf("%s %s %v", head, tail, err)
	}
}

// Of a message that is there whole, cut anywhere, the id is its own or none.
func FuzzPartialID(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{"id":8}}`), 20, 30)
	f.Add([]byte(`{"result":{"a":"\\\",\"id\":9}"},"id":7}`), 3, 9)
	f.Add([]byte(`{"result":[1],"id":"x\"y"}`), 3, 9)
	f.Fuzz(func(t *testing.T, b []byte, head, tail int) {
		m, bad := Parse(b)
		if bad != nil || head < 0 || tail < 0 || head > len(b) || tail > len(b) {
			PartialID(b, b)
			return
		}
		got := PartialID(b[:head], b[tail:])
		if got != nil && m.IsResponse() && !bytes.Equal(got, m.ID) {
			t.Errorf("%s cut at %d and %d: id %s", b, head, tail, got)
		}
	})
}
