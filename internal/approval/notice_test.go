package approval

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// TestBoard: a slow watcher delays nobody, gets the newest notices in order, and returns when its context is done.
func TestBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none *Board
		none.Post(Notice{Kind: Started})
		b := &Board{}
		ctx, cancel := context.WithCancel(t.Context())
		ready, done := make(chan struct{}), make(chan struct{})
		gate := make(chan struct{})
		var got []string
		go func() {
			defer close(done)
			b.Watch(ctx, ready, func(n Notice) { <-gate; got = append(got, n.Text) })
		}()
		<-ready
		b.Post(Notice{Text: "first"})
		synctest.Wait() // the watcher is inside its function
		for i := range MaxNotices + 5 {
			b.Post(Notice{Text: fmt.Sprint(i)})
		}
		close(gate)
		synctest.Wait()
		if len(got) != MaxNotices+1 || got[0] != "first" || got[1] != "5" || got[MaxNotices] != fmt.Sprint(MaxNotices+4) {
			t.Errorf("%d notices, from %q to %q", len(got), got[0], got[len(got)-1])
		}
		cancel()
		<-done
		if len(b.watchers) != 0 {
			t.Error("the watcher is still there")
		}
	})
}

// TestMergeSessions: an agent in tmux that reported itself is listed once, by its pane and not by its folder, and keeps its name.
func TestMergeSessions(t *testing.T) {
	known := []AgentSession{
		{ID: "a", Label: "api", Dir: "/p/x", Tmux: "/tmp/t,1,0", Pane: "%1"},
		{ID: "c", Label: "x", Dir: "/p/x"},
		{ID: "d", Label: "y", Dir: "/p/y", Tmux: "/tmp/other,1,0", Pane: "%2"},
	}
	seen := []AgentSession{
		{ID: "pane:%1", Label: "renamed", Dir: "/p/x", Tmux: "/tmp/t", Pane: "%1"},
		{ID: "pane:%2", Label: "web", Dir: "/p/x", Tmux: "/tmp/t", Pane: "%2"},
	}
	var got []string
	for _, s := range MergeSessions(known, seen, func(list []AgentSession) { list[0].Label = "named" }) {
		got = append(got, s.Label+"="+s.ID)
	}
	if diff := cmp.Diff([]string{"api=a", "named=pane:%2", "x=c", "y=d"}, got); diff != "" {
		t.Error(diff)
	}
	if seen[1].Label != "web" {
		t.Error("the argument was changed")
	}
}
