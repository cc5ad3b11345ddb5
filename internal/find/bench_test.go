package find

import (
	"fmt"
	"testing"
)

// thousand returns a catalog of 1,000 tools: those of testdata, again and again under other servers.
func thousand(tb testing.TB) []Doc {
	tb.Helper()
	var docs []Doc
	for round := 0; len(docs) < 1000; round++ {
		for _, name := range []string{"dev", "home", "office", "shop"} {
			more, _ := catalog(tb, name)
			for _, d := range more {
				d.Server += fmt.Sprint(round)
				docs = append(docs, d)
			}
		}
	}
	return docs[:1000]
}

// BenchmarkFind answers requests over 1,000 tools: one in English, one in Japanese, and one of three steps.
func BenchmarkFind(b *testing.B) {
	x := New(thousand(b))
	for _, bb := range [...]struct{ name, request string }{
		{"english", "which pull requests are still open?"},
		{"japanese", "コンテナのログを見せて"},
		{"steps", "find the mail from Jim, save its attachment and upload it to Drive"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				x.Find(bb.request, 15, nil)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	docs := thousand(b)
	for b.Loop() {
		New(docs)
	}
}
