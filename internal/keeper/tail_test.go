package keeper

import (
	"fmt"
	"testing"
)

// Tail keeps the end, however it is written, and begins with a whole character.
func TestTail(t *testing.T) {
	for most, want := range map[int]string{0: "", 3: "語", 4: "語", 5: "語", 6: "本語", 9: "日本語", 100: "日本語"} {
		for _, size := range []int{1, 2, 9} {
			tail := &Tail{Most: most}
			for rest := []byte("日本語"); len(rest) > 0; {
				n := min(size, len(rest))
				if wrote, err := tail.Write(rest[:n]); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			if got := tail.String(); got != want {
				t.Errorf("the last %d bytes, written by %d: %q, want %q", most, size, got, want)
			}
		}
	}
	tail := &Tail{Most: 10}
	for i := range 1000 {
		fmt.Fprintf(tail, "%d ", i)
	}
	if got := tail.String(); got != "7 998 999 " || cap(tail.kept) > 100 {
		t.Errorf("%q in %d bytes", got, cap(tail.kept))
	}
}
