package backend

import (
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// BenchmarkDo is one call of 1 KB through a stdio server that answers at once.
func BenchmarkDo(b *testing.B) {
	p := newPool(b, Options{}, play(b, "s", "play-fake", "params"))
	ctx := b.Context()
	params := []byte(`{"name":"t","arguments":{"x":"` + strings.Repeat("x", 1000) + `"}}`)
	if err := p.Start(ctx, []string{"s"}); err != nil {
		b.Fatal(err)
	}
	b.Run("one caller", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", params, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("16 callers", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", params, nil); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
