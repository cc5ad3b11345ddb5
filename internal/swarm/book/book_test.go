package book_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

// open opens the book of a database, as each process does.
func open(t *testing.T, path string) *book.Book {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite://"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return book.New(db)
}

func session(id string, features ...string) *book.Session {
	s := &book.Session{ID: id, State: book.Going, Settings: book.Settings{Workers: 3, Verify: [][]string{{"go", "test"}}}}
	for _, f := range features {
		s.Features = append(s.Features, &book.Feature{Feature: plan.Feature{ID: f, Description: "Add " + f}, State: book.Pending})
	}
	return s
}

// begun is a book with a session s that has the features a and b.
func begun(t *testing.T) *book.Book {
	t.Helper()
	b := open(t, filepath.Join(t.TempDir(), "m.db"))
	if err := b.Begin(t.Context(), session("s", "a", "b")); err != nil {
		t.Fatal(err)
	}
	return b
}

// texts are the events of session s behind one, as lines.
func texts(t *testing.T, b *book.Book, after int64, limit int) (out []string) {
	t.Helper()
	events, err := b.Events(t.Context(), "s", after, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		out = append(out, e.Kind+" "+e.Feature+" "+e.Text)
	}
	return out
}

func TestChangeIsWhole(t *testing.T) {
	t.Parallel()
	b := begun(t)
	if got := texts(t, b, 0, 0); !slices.Equal(got, []string{"session  the session began with 2 features"}) {
		t.Errorf("the beginning: %q", got)
	}
	got, err := b.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		f, err := s.Feature("b")
		if err != nil {
			return nil, err
		}
		f.State, f.Attempts = book.Going, []*book.Attempt{{N: 1, State: book.Starting, Cost: 1.25}}
		s.Landing = &book.Landing{Old: "1", New: "2", Features: []string{"b"}}
		return []book.Event{{Kind: "feature", Feature: "b", Attempt: 1, Text: "one"}, {Kind: "merge", Text: strings.Repeat("x", 9000)}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := b.Read(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*book.Session{"returned": got, "kept": kept} {
		f := s.Features[1]
		if len(s.Features) != 2 || f.ID != "b" || f.State != book.Going || f.Live() == nil || s.Cost() != 1.25 || s.Landing == nil ||
			s.Features[0].State != book.Pending || s.Settings.Verify[0][1] != "test" {
			t.Errorf("%s: %+v, feature %+v", name, s, f)
		}
	}
	events, err := b.Events(t.Context(), "s", 1, 0)
	if err != nil || len(events) != 2 || events[0].Attempt != 1 || events[0].At.IsZero() || len(events[1].Text) > 4100 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// Nothing is half done: what f has changed before it fails, or without an event, is not kept.
func TestChangeThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	b := begun(t)
	before := texts(t, b, 0, 0)
	failure := errors.New("the disk is full")
	for _, want := range []error{failure, nil} {
		_, err := b.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
			s.State, s.Features[0].State = book.Paused, book.Failed
			if want == nil {
				return nil, nil
			}
			return []book.Event{{Kind: "session", Text: "paused"}}, want
		})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		s, err := b.Read(t.Context(), "s")
		if err != nil || s.State != book.Going || s.Features[0].State != book.Pending {
			t.Errorf("after %v: %+v %v", want, s, err)
		}
	}
	if after := texts(t, b, 0, 0); !slices.Equal(before, after) {
		t.Errorf("events: %q", after)
	}
	absent := (*book.AbsentError)(nil)
	if _, err := b.Change(t.Context(), "x", "", nil); !errors.As(err, &absent) || absent.ID != "x" {
		t.Errorf("a session that is not there: %v", err)
	}
}

func TestLeaseOfAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	b, other := open(t, path), open(t, path)
	if err := b.Begin(t.Context(), session("s", "a")); err != nil {
		t.Fatal(err)
	}
	driver := func(want string) {
		t.Helper()
		if got, err := other.Driver(t.Context(), "s"); err != nil || got != want {
			t.Errorf("the driver is %q, %v; want %q", got, err, want)
		}
	}
	driver("")
	for range 2 { // it is renewed
		if err := b.Hold(t.Context(), "s", "one", time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	driver("one")
	held := (*book.HeldError)(nil)
	if err := other.Hold(t.Context(), "s", "two", time.Hour); !errors.As(err, &held) || held.Holder != "one" || !held.Until.After(time.Now()) {
		t.Errorf("two: %v", err)
	}
	pause := func(s *book.Session) ([]book.Event, error) {
		s.State = book.Paused
		return []book.Event{{Kind: "session", Text: "paused"}}, nil
	}
	if _, err := other.Change(t.Context(), "s", "two", pause); !errors.As(err, &held) {
		t.Errorf("a change by two: %v", err)
	}
	if s, err := b.Read(t.Context(), "s"); err != nil || s.State != book.Going {
		t.Errorf("the change was made: %+v %v", s, err)
	}
	if _, err := other.Change(t.Context(), "s", "", pause); err != nil { // a person may at any time
		t.Error(err)
	}
	if err := other.Release(t.Context(), "s", "two"); err != nil { // it is not its own
		t.Error(err)
	}
	driver("one")
	if err := b.Release(t.Context(), "s", "one"); err != nil {
		t.Error(err)
	}
	driver("")
	if err := b.Hold(t.Context(), "s", "one", -time.Second); err != nil { // a lease that has run out
		t.Fatal(err)
	}
	driver("")
	if err := other.Hold(t.Context(), "s", "two", time.Hour); err != nil {
		t.Errorf("after its end: %v", err)
	}
	if _, err := b.Change(t.Context(), "s", "one", pause); !errors.As(err, &held) {
		t.Errorf("the one who lost it: %v", err)
	}
}

func TestOneSessionIsOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	b := open(t, path)
	absent := (*book.AbsentError)(nil)
	if _, err := b.Current(t.Context()); !errors.As(err, &absent) {
		t.Errorf("without a session: %v", err)
	}
	var all sync.WaitGroup
	begun := make([]error, 4)
	for i := range begun {
		other := open(t, path)
		all.Go(func() { begun[i] = other.Begin(t.Context(), session("s"+strconv.Itoa(i), "a")) })
	}
	all.Wait()
	refused := slices.DeleteFunc(slices.Clone(begun), func(err error) bool { return err == nil })
	if len(refused) != len(begun)-1 || !strings.Contains(refused[0].Error(), "a project has one at a time") {
		t.Fatalf("of four that begin at once: %v", begun)
	}
	first, err := b.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []book.State{book.Paused, book.Completed} {
		if _, err := b.Change(t.Context(), first.ID, "", func(s *book.Session) ([]book.Event, error) {
			s.State = state
			return []book.Event{{Kind: "session", Text: string(state)}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := b.Begin(t.Context(), session("next", "a")); (err == nil) != (state == book.Completed) {
			t.Errorf("while the first is %s: %v", state, err)
		}
	}
	if s, err := b.Current(t.Context()); err != nil || s.ID != "next" {
		t.Errorf("current: %+v %v", s, err)
	}
}

// Many processes write at once: no event is lost, and each reader has them in the order in which they came about.
func TestEventsAreInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	b := open(t, path)
	if err := b.Begin(t.Context(), session("s", "a")); err != nil {
		t.Fatal(err)
	}
	const writers, each = 3, 10
	var all sync.WaitGroup
	for w := range writers {
		other := open(t, path)
		all.Go(func() {
			for range each {
				if err := count(t.Context(), other, w); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	events, err := b.Events(t.Context(), "s", 1, 0)
	if err != nil || len(events) != writers*each {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for i, e := range events {
		if e.Text != strconv.Itoa(i+1) || i > 0 && (e.Seq <= events[i-1].Seq || e.At.Before(events[i-1].At)) {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if got := texts(t, b, 0, 2); !slices.Equal(got, []string{"count  29", "count  30"}) {
		t.Errorf("the last two: %q", got)
	}
	if got := texts(t, b, events[27].Seq, 0); !slices.Equal(got, []string{"count  29", "count  30"}) {
		t.Errorf("what came after: %q", got)
	}
}

// count raises a number of the session by one: a change that were not alone would lose one.
func count(ctx context.Context, b *book.Book, writer int) error {
	_, err := b.Change(ctx, "s", "", func(s *book.Session) ([]book.Event, error) {
		s.Features[0].Tried++
		return []book.Event{{Kind: "count", Text: strconv.Itoa(s.Features[0].Tried)}}, nil
	})
	if err != nil {
		return errors.Join(err, errors.New("writer "+strconv.Itoa(writer)))
	}
	return nil
}
