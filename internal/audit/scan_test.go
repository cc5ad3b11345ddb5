package audit

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/rawjson"
)

// FuzzScanner: what the index reads of a line is what decode reads.
func FuzzScanner(f *testing.F) {
	for _, r := range []Record{decision("a"), {ID: "\"b\\", Kind: Outcome, Outcome: "error", Error: "設定\n\t\"", Duration: 1234567},
		{Kind: Session, Args: []byte(`{"a":[1,{"b":"\\"}]}`)}} {
		f.Add(bytes.TrimSpace(newSealer([]byte("k")).appendLine(nil, 7, origin, appendBody(nil, &Line{Record: r}, nil))))
	}
	f.Add([]byte(`{"seq":1,"id":"a\u0041","time":"2026-11-20T12:00:00.5Z","args":{},"unknown":true,"durationMs":0.25}`))
	f.Add([]byte(`{"seq":1,"x":}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, err := decode(raw)
		got, gerr := new(scanner).line(raw)
		if err != nil {
			return // that it does not notice every fault inside of a value is said
		}
		if gerr != nil {
			t.Fatalf("%s: %v", raw, gerr)
		}
		for _, l := range []*Line{&want, &got} { // what the index does not need
			l.Parent, l.Skills, l.Args, l.Facts, l.Note = "", nil, nil, nil, ""
		}
		if diff := cmp.Diff(want.Record, got.Record); diff != "" || want.Seq != got.Seq || want.Mac != got.Mac {
			t.Errorf("%s: %s", raw, diff)
		}
		if args := rawjson.Member(raw, "args"); len(args) > 0 {
			full, _ := decode(raw)
			if diff := cmp.Diff(string(full.Args), string(args)); diff != "" {
				t.Errorf("%s: %s", raw, diff)
			}
		}
	})
}
