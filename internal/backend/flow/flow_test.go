package flow

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// endless is a stream without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		f := New(endless{}, nil, 1<<20, 4<<20)
		read := func(n int64) {
			t.Helper()
			if _, err := io.CopyN(io.Discard, f, n); err != nil {
				t.Fatal(err)
			}
		}
		read(4 << 20)
		if d := time.Since(begin); d > 0 {
			t.Errorf("what is allowed at once took %v", d)
		}
		read(10 << 20)
		if d := time.Since(begin); d < 9*time.Second || d > 11*time.Second {
			t.Errorf("ten times what is allowed in a second took %v", d)
		}
		begin = time.Now()
		for range 100 { // answers cost nothing
			read(32 << 10)
			f.Account(true, 32<<10)
		}
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("what was asked for took %v", d)
		}
		dead := make(chan struct{})
		close(dead)
		f.dead = dead
		begin = time.Now()
		read(16 << 20)
		if d := time.Since(begin); d > time.Second {
			t.Errorf("the end of a dead stream took %v", d)
		}
	})
}
