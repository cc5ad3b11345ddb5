package rpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestReadAllTakesWhatComes: a length that was only announced costs no memory (T19).
func TestReadAllTakesWhatComes(t *testing.T) {
	m := NewMemory(64 << 20)
	r, w := io.Pipe()
	c := m.Claim("a")
	type read struct {
		b   []byte
		err error
	}
	done := make(chan read)
	go func() {
		b, err := ReadAll(r, 4<<20, 4<<20, c)
		done <- read{b, err}
	}()
	_, _ = io.WriteString(w, "0123456789") // returns when it was read: the buffer exists
	if now, _ := m.Used(); now > 8<<10 {
		t.Errorf("10 of 4 MiB came, and %d bytes are held", now)
	}
	_, _ = w.Write(make([]byte, 1<<20))
	if now, _ := m.Used(); now > 3<<20 {
		t.Errorf("1 of 4 MiB came, and %d bytes are held", now)
	}
	_, _ = w.Write(make([]byte, 3<<20-10))
	w.Close()
	got := <-done
	if got.err != nil || len(got.b) != 4<<20 {
		t.Fatal(len(got.b), got.err)
	}
	if now, _ := m.Used(); now > 4<<20+1 {
		t.Errorf("%d bytes are held for 4 MiB", now)
	}
	c.Release()
	if now, _ := m.Used(); now != 0 {
		t.Errorf("%d bytes are held after the release", now)
	}
}

func TestReadAll(t *testing.T) {
	for _, size := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, 100_000} {
		for _, announced := range []int64{-1, 0, 1, int64(size)} {
			in := bytes.Repeat([]byte("x"), size)
			got, err := ReadAll(bytes.NewReader(in), announced, 100_000, nil)
			if err != nil || !bytes.Equal(got, in) {
				t.Errorf("%d bytes, %d announced: got %d, %v", size, announced, len(got), err)
			}
		}
	}
	if _, err := ReadAll(strings.NewReader("123456"), 6, 5, nil); !errors.Is(err, ErrTooLong) {
		t.Errorf("6 of 5 bytes: %v", err)
	}
	if _, err := ReadAll(bytes.NewReader(make([]byte, 1<<20)), 1<<20, 1<<20, NewMemory(1<<19).Claim("a")); !errors.Is(err, ErrBusy) {
		t.Errorf("1 MiB with half of it as bound: %v", err)
	}
}

// TestMemoryIsShared: however much one holder takes, there is some left for the next.
func TestMemoryIsShared(t *testing.T) {
	m := NewMemory(64 << 10)
	take := func(holder string) (n int) {
		for c := m.Claim(holder); c.Hold(1<<10) == nil; n++ {
		}
		return n
	}
	if first, second, third := take("a"), take("b"), take("c"); first != 48 || second != 12 || third != 3 {
		t.Errorf("three holders got %d, %d and %d of 64 parts", first, second, third)
	}
	if now, peak := m.Used(); now != 63<<10 || peak != now {
		t.Errorf("held: %d, at most %d", now, peak)
	}
	c := m.Claim("d")
	c.Release()
	if c.Hold(1) == nil {
		t.Error("a claim held something after its release")
	}
}

// TestLinesWithoutMemory: a line for which there is no memory is skipped, and its id can be found.
// TestWorkOnLargeMessages: no more than half of the processors work on large messages at once, and small ones wait for none of them.
func TestWorkOnLargeMessages(t *testing.T) {
	m := NewMemory(1 << 20)
	most := max(1, runtime.GOMAXPROCS(0)/2)
	var mu sync.Mutex
	now, peak := 0, 0
	started, leave := make(chan struct{}, 8*most), make(chan struct{})
	var group sync.WaitGroup
	for range 8 * most {
		group.Go(func() {
			m.Work(largeFrom+1, func() {
				mu.Lock()
				now++
				peak = max(peak, now)
				mu.Unlock()
				started <- struct{}{}
				<-leave
				mu.Lock()
				now--
				mu.Unlock()
			})
		})
	}
	for range most {
		<-started
	}
	done := false
	m.Work(largeFrom, func() { done = true })
	(*Memory)(nil).Work(1<<30, func() {})
	close(leave)
	group.Wait()
	if peak != most || !done {
		t.Errorf("%d at once, want %d; the small one ran: %v", peak, most, done)
	}
}

func TestLinesWithoutMemory(t *testing.T) {
	m := NewMemory(1 << 20)
	long := `{"id":7,"method":"x","params":"` + strings.Repeat("y", 2<<20) + `"}`
	l := NewLines(strings.NewReader(long+"\n{\"id\":8}\n"+long[:1<<18]+"\nend"), 0)
	l.Charge(m, "a")
	if _, _, err := l.Take(); !errors.Is(err, ErrBusy) {
		t.Fatalf("a line of 2 MiB with a bound of 1 MiB: %v", err)
	}
	head, tail := l.TooLong()
	if got := string(RequestID(head, tail)); got != "7" || !bytes.HasSuffix(tail, []byte(`y"}`+"\n")) {
		t.Errorf("id %q, tail %.20q", got, tail[max(0, len(tail)-20):])
	}
	if line, claim, err := l.Take(); string(line) != `{"id":8}` || err != nil {
		t.Errorf("the next line: %q %v", line, err)
	} else if claim.Release(); claim.held != 0 {
		t.Error("not released")
	}
	line, claim, err := l.Take()
	if err != nil || string(line) != long[:1<<18] {
		t.Fatal(len(line), err)
	}
	if now, _ := m.Used(); now < len(line) || now > 2*len(line) {
		t.Errorf("%d bytes are held for a line of %d", now, len(line))
	}
	if next, _, err := l.Take(); string(next) != "end" || err != nil || string(line) != long[:1<<18] {
		t.Errorf("the next line: %q %v", next, err)
	}
	claim.Release()
}

// TestLargeAnswersTakeTurns: of many large answers for one holder all come, one after the other, although there is memory for few; those
// for another holder do not wait.
func TestLargeAnswersTakeTurns(t *testing.T) {
	m := NewMemory(16 << 20)
	var group sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	for i := range 20 {
		group.Go(func() {
			c := m.Claim([]string{"a", "b"}[i%2])
			defer c.Release()
			if _, err := ReadAnswer(t.Context(), bytes.NewReader(make([]byte, 1<<20)), -1, 1<<20, c); err != nil {
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if now, _ := m.Used(); failed > 0 || now != 0 || len(m.large) != 0 {
		t.Errorf("%d failed, %d bytes are held", failed, now)
	}
	first := m.Claim("a")
	for _, c := range []*Claim{first, m.Claim("b")} {
		if err := c.Large(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	second := m.Claim("a")
	if err := second.Large(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a second one: %v", err)
	}
	first.Release()
	if err := second.Large(t.Context()); err != nil {
		t.Errorf("after the first: %v", err)
	}
}
