package audit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/atomicfile"
)

// marked is how many records the checkpoint knows.
func marked(t *testing.T, o Options) int64 {
	t.Helper()
	key, err := loadKey(o.KeyDir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openCheckpoint(o.KeyDir, newSealer(key), false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.f.Close()
	h, _, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	return h.seq
}

func TestWhatIsSyncedAtOnce(t *testing.T) {
	for _, c := range []struct {
		r    Record
		sync string
		want int64
	}{
		{Record{Kind: Decided, Effect: "allow"}, "", 0},
		{Record{Kind: Decided, Effect: "allow"}, "interval", 0},
		{Record{Kind: Outcome, Outcome: "ok"}, "", 0},
		{Record{Kind: Decided, Effect: "allow"}, "call", 1},
		{Record{Kind: Decided, Effect: "deny"}, "", 1},
		{Record{Kind: Outcome, Outcome: "denied"}, "", 1},
		{Record{Kind: Decided, Effect: "allow", DecidedBy: "person"}, "", 1},
		{Record{Kind: Decided, Effect: "allow", DecidedBy: "model"}, "", 1},
		{Record{Kind: Operator, Note: "trust"}, "", 1},
	} {
		o := options(t)
		o.Sync = c.sync
		l := openLog(t, o)
		add(t, l, c.r)
		if got := marked(t, o); got != c.want {
			t.Errorf("%+v, sync %q: %d records synced, want %d", c.r, c.sync, got, c.want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got := marked(t, o); got != 1 {
			t.Errorf("after Close: %d records synced", got)
		}
	}
}

// TestKeep: what the options say of keeping records can be changed while the log is open.
func TestKeep(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	call := Record{Kind: Decided, Effect: "allow", Args: []byte(`{"ssn":"123"}`)}
	add(t, l, call)
	if got := marked(t, o); got != 0 {
		t.Fatalf("%d records synced, want none", got)
	}
	l.Keep([]string{"ssn"}, "call")
	add(t, l, call)
	if got := marked(t, o); got != 2 {
		t.Errorf("sync: call: %d records synced, want 2", got)
	}
	var args []string
	for line, err := range Read(t.Context(), o, Position{}, false) {
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, string(line.Args))
	}
	if want := []string{`{"ssn":"123"}`, `{"ssn":"[REDACTED]"}`}; !slices.Equal(args, want) {
		t.Errorf("recorded: %q, want %q", args, want)
	}
	if got := l.Secrets(); !got.Key("ssn") {
		t.Error("answers of servers are guarded by the words of before")
	}
}

func TestRunSyncs(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx, nil) }()
	add(t, l, decision("a"))
	deadline, tick := time.After(time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for marked(t, o) != 1 {
		select {
		case <-deadline:
			t.Fatal("not synced in a minute")
		case <-tick.C:
		}
	}
	add(t, l, decision("b"))
	cancel()
	if err := <-ran; err != nil || marked(t, o) != 2 {
		t.Errorf("when Run ends: %v, %d records synced", err, marked(t, o))
	}
}

func TestLockedLogRefuses(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	other, err := atomicfile.TryLock(o.Lock)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	err = l.Append(context.Background(), decision("a"))
	if !errors.Is(err, atomicfile.ErrLocked) || time.Since(start) < lockWait {
		t.Errorf("while another process holds the lock: %v after %v", err, time.Since(start))
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Append(ended, decision("b")); err != nil {
		t.Errorf("for a client that went away: %v", err)
	}
	wantOK(t, o, 2) // with a record about the one that was refused
}

func TestChangedAndClosed(t *testing.T) {
	l := openLog(t, options(t))
	ch := l.Changed()
	select {
	case <-ch:
		t.Error("changed before anything was appended")
	default:
	}
	add(t, l, decision("a"))
	select {
	case <-ch:
	default:
		t.Error("not changed after an append")
	}
	select {
	case <-l.Changed():
		t.Error("a new channel is closed at once")
	default:
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(context.Background(), decision("b")); !errors.Is(err, ErrClosed) {
		t.Errorf("append after Close: %v", err)
	}
}

func TestOpenRefusesBadOptions(t *testing.T) {
	good := options(t)
	for want, o := range map[string]Options{
		"must be set":    {Dir: good.Dir, Lock: good.Lock},
		"sync is":        {Dir: good.Dir, Lock: good.Lock, KeyDir: good.KeyDir, Sync: "sometimes"},
		"does not exist": {Dir: good.Dir, Lock: good.Dir + "/no/such/lock", KeyDir: good.KeyDir},
	} {
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

func TestNewID(t *testing.T) {
	a, b := NewID(), NewID()
	if len(a) != 26 || a == b || strings.ToLower(a) != a {
		t.Errorf("%q %q", a, b)
	}
}
