package swarm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/worker"
)

// die is a worker that does something and dies without a word.
func (h *hand) die(did ...worker.Event) error {
	lock, err := atomicfile.LockWait(filepath.Join(string(h.folder), "worker.lock"), time.Minute)
	if err != nil {
		return err
	}
	var lines []byte
	for _, e := range did {
		e.At = time.Now()
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		lines = append(append(lines, b...), '\n')
	}
	return errors.Join(os.WriteFile(filepath.Join(string(h.folder), "events.jsonl"), lines, 0o600), lock.Unlock())
}

// A worker dies in the middle. The next one goes on in the same worktree with the conversation, and is given the message that the dead one
// did not receive. That is done once: the one after it begins anew.
func TestConversationIsGoneOnWith(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Retries: 1}, Features: []*book.Feature{feature("a")}})
	var orders []worker.Order
	var inbox [][]worker.Message
	f.workers["a"] = func(h *hand) {
		o, _, err := h.folder.Order()
		waiting, inboxErr := h.folder.Inbox()
		if err := errors.Join(err, inboxErr); err != nil {
			t.Error(err)
		}
		orders, inbox = append(orders, o), append(inbox, waiting)
		if len(orders) == 3 {
			h.work(func(*worker.Work) { h.commit(h.tree, "feat: a", "a", "1\n") })
			return
		}
		if len(orders) == 1 {
			err = h.folder.Tell("Use tabs.")
		}
		if err := errors.Join(err, h.die(worker.Event{Kind: worker.Began}, worker.Event{Kind: worker.Talks, Text: "c-1"})); err != nil {
			t.Error(err)
		}
	}
	f.want(f.drive(), "a", book.Completed, 2, 3)
	if len(orders) != 3 || orders[1].Resume != "c-1" || !strings.Contains(orders[1].Again, "go on now") || orders[1].Tree != orders[0].Tree ||
		orders[2].Resume != "" || orders[2].Again != "" || orders[2].Tree == orders[0].Tree {
		t.Fatalf("%+v", orders)
	}
	for i, want := range []int{0, 1, 1} {
		if len(inbox[i]) != want {
			t.Errorf("worker %d has the messages %+v", i, inbox[i])
		}
	}
}
