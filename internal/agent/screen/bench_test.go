package screen

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// BenchmarkKey is a key and the screen after it, at 10,000 lines of history, at 80×24 and at 200×50 (docs/proofs/performance.md).
func BenchmarkKey(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			c := newChat(b.Context(), Options{})
			for i := range 2000 {
				c.add(said{fmt.Sprintf("question %d", i)})
				c.add(&answer{src: "An **answer** of a\n\n- list\n- with 日本語"})
			}
			c.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for b.Loop() {
				c.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
				_ = c.View()
				c.edit.set("")
			}
		})
	}
}
