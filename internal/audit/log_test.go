package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("AUDIT_CHILD"); mode != "" {
		child(mode)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func options(t testing.TB) Options {
	dir := t.TempDir()
	return Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "home", "keys")}
}

func openLog(t testing.TB, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func add(t testing.TB, l *Log, recs ...Record) {
	t.Helper()
	for _, r := range recs {
		if err := l.Append(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
}

var day = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func decision(id string) Record {
	return Record{ID: id, Kind: Decided, Principal: "p1", Role: "guest", Tool: "files__read_file", Server: "files",
		Args: []byte(`{"path":"a.txt"}`), Effect: "allow", Rule: "fallback"}
}

func verify(t testing.TB, o Options) Report {
	t.Helper()
	r, err := Verify(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantOK(t testing.TB, o Options, records int) {
	t.Helper()
	if r := verify(t, o); !r.OK || r.Records != records {
		t.Errorf("verify: %+v %+v; want %d records", r, r.Broken, records)
	}
}

func wantBroken(t testing.TB, o Options, segment string, line int, why string) {
	t.Helper()
	r := verify(t, o)
	if r.OK || r.Broken == nil || r.Broken.Segment != segment || r.Broken.Line != line || !strings.Contains(r.Broken.Why, why) {
		t.Errorf("verify: %+v %+v; want %s line %d: %s", r, r.Broken, segment, line, why)
	}
}

func TestAppendAndVerify(t *testing.T) {
	o := options(t)
	wantOK(t, o, 0)
	l := openLog(t, o)
	for i := range 10 {
		add(t, l, decision(fmt.Sprint("c", i)), Record{ID: fmt.Sprint("c", i), Kind: Outcome, Outcome: "ok", Duration: 1500 * time.Microsecond})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantOK(t, o, 20)
	l = openLog(t, o)
	add(t, l, decision("again"))
	wantOK(t, o, 21)
	raw, _ := os.ReadFile(filepath.Join(o.Dir, "00000001.jsonl"))
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	line, err := decode(first)
	if err != nil || line.Seq != 1 || line.Prev != origin || line.ID != "c0" || string(line.Args) != `{"path":"a.txt"}` ||
		line.Kind != Decided {
		t.Errorf("first line: %+v, %v", line, err)
	}
	for _, f := range []string{filepath.Join(o.Dir, "00000001.jsonl"), filepath.Join(o.KeyDir, KeyFile),
		filepath.Join(o.KeyDir, checkpointFile)} {
		if st, err := os.Stat(f); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, st, err)
		}
	}
}

func TestRotation(t *testing.T) {
	o := options(t)
	o.Rotate = 2000
	a, b := openLog(t, o), openLog(t, o) // two processes, as far as the log can tell
	for i := range 50 {
		add(t, a, decision(fmt.Sprint("a", i)))
		add(t, b, decision(fmt.Sprint("b", i)))
	}
	names, _ := segments(o.Dir)
	if len(names) < 5 {
		t.Fatalf("segments: %v", names)
	}
	for _, n := range names {
		if st, _ := os.Stat(filepath.Join(o.Dir, n)); st.Size() > 3000 {
			t.Errorf("%s has %d bytes", n, st.Size())
		}
	}
	wantOK(t, o, 100+2*(len(names)-1))
}

func TestManyAppenders(t *testing.T) {
	o := options(t)
	o.Rotate = 100 << 10
	ctx, cancel := context.WithCancel(context.Background())
	var runs, wg sync.WaitGroup
	for range 2 {
		l := openLog(t, o)
		runs.Go(func() {
			if err := l.Run(ctx, nil); err != nil {
				t.Error(err)
			}
		})
		for g := range 8 {
			wg.Go(func() {
				for i := range 50 {
					if err := l.Append(ctx, decision(fmt.Sprint(g, "-", i))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	cancel()
	runs.Wait()
	names, _ := segments(o.Dir)
	wantOK(t, o, 800+2*(len(names)-1))
}

func BenchmarkAppend(b *testing.B) {
	l := openLog(b, options(b))
	r := decision("0123456789abcdef")
	for b.Loop() {
		if err := l.Append(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend16(b *testing.B) {
	l := openLog(b, options(b))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = l.Run(ctx, nil) })
	b.SetParallelism(8)
	b.RunParallel(func(p *testing.PB) {
		r := decision("0123456789abcdef")
		for p.Next() {
			if err := l.Append(ctx, r); err != nil {
				b.Error(err)
			}
		}
	})
	cancel()
	wg.Wait()
}

func BenchmarkDenial(b *testing.B) {
	l := openLog(b, options(b))
	r := decision("0123456789abcdef")
	r.Effect = "deny"
	for b.Loop() {
		if err := l.Append(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}
