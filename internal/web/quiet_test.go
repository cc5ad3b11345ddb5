package web

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestQuieter: the first record of a session is told of at once, many that follow by one word, and many sessions together.
func TestQuieter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		since := func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			out := told
			told = nil
			return out
		}
		q := newQuieter(func(session string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, session)
		})
		q.tell("a")
		q.tell("b")
		if got := since(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("at once: %v", got)
		}
		for range 1000 {
			q.tell("a")
		}
		if got := since(); got != nil {
			t.Errorf("too early: %v", got)
		}
		time.Sleep(quietFor)
		if got := since(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("after a while: %v", got)
		}
		time.Sleep(2 * quietFor)
		q.tell("a")
		if got := since(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("after a pause it is not told of at once: %v", got)
		}
		for range 2 {
			for i := range 100 {
				q.tell(fmt.Sprint(i))
			}
		}
		if got := since(); len(got) > maxSessions+1 {
			t.Errorf("%d sessions one by one", len(got))
		}
		time.Sleep(quietFor)
		if got := since(); !slices.Equal(got, []string{anySession}) {
			t.Errorf("many sessions: %v", got)
		}
		q.tell("z")
		q.tell("z")
		since()
		q.end()
		time.Sleep(2 * quietFor)
		if got := since(); got != nil {
			t.Errorf("after the end: %v", got)
		}
	})
}
