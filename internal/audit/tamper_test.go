package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// written is a log of three segments, closed.
func written(t testing.TB) Options {
	o := options(t)
	o.Rotate = 1500
	l := openLog(t, o)
	for i := range 8 {
		add(t, l, decision(fmt.Sprint("c", i)))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names, _ := segments(o.Dir)
	if len(names) != 3 {
		t.Fatalf("segments: %v", names)
	}
	if r := verify(t, o); !r.OK || r.Records != 12 || r.Segments != 3 {
		t.Fatalf("before anything: %+v %+v", r, r.Broken)
	}
	return o
}

func lines(t testing.TB, path string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
}

func put(t testing.TB, path string, ls ...[]byte) {
	t.Helper()
	var b []byte
	for _, l := range ls {
		b = append(append(b, bytes.TrimSuffix(l, []byte("\n"))...), '\n')
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// resealed computes a whole segment anew with a key, as somebody would who wants to hide an edit.
func resealed(t testing.TB, ls [][]byte, key []byte, prev string) [][]byte {
	t.Helper()
	s := newSealer(key)
	var out [][]byte
	for _, l := range ls {
		at, ok := parseLinks(bytes.TrimSuffix(l, []byte("\n")))
		if !ok {
			t.Fatalf("line %s", l)
		}
		body := bytes.SplitN(at.unsealed, []byte(`",`), 2)[1]
		line := s.appendLine(nil, at.seq, prev, bytes.Replace(body, []byte("guest"), []byte("admin"), 1))
		prev = macOf(line)
		out = append(out, line)
	}
	return out
}

func TestVerifyFinds(t *testing.T) {
	const one, two, three = "00000001.jsonl", "00000002.jsonl", "00000003.jsonl"
	for name, c := range map[string]struct {
		do      func(t *testing.T, o Options)
		segment string
		line    int
		why     string
	}{
		"an edited word": {func(t *testing.T, o Options) {
			p := filepath.Join(o.Dir, two)
			ls := lines(t, p)
			ls[2] = bytes.Replace(ls[2], []byte("guest"), []byte("admin"), 1)
			put(t, p, ls...)
		}, two, 3, "does not fit"},
		"an edited number": {func(t *testing.T, o Options) {
			p := filepath.Join(o.Dir, one)
			ls := lines(t, p)
			ls[1] = bytes.Replace(ls[1], []byte(`"seq":2`), []byte(`"seq":9`), 1)
			put(t, p, ls...)
		}, one, 2, "does not fit"},
		"a line that is no line": {func(t *testing.T, o Options) {
			p := filepath.Join(o.Dir, one)
			put(t, p, append(lines(t, p)[:2:2], []byte("hello\n"))...)
		}, one, 3, "not a line that the log writes"},
		"a removed line": {func(t *testing.T, o Options) {
			p := filepath.Join(o.Dir, one)
			ls := lines(t, p)
			put(t, p, append(ls[:1:1], ls[2:]...)...)
		}, one, 2, "record 2 is missing"},
		"lines in another order": {func(t *testing.T, o Options) {
			p := filepath.Join(o.Dir, one)
			ls := lines(t, p)
			put(t, p, append([][]byte{ls[1], ls[0]}, ls[2:]...)...)
		}, one, 1, "missing or moved"},
		"a line twice": {func(t *testing.T, o Options) {
			p := filepath.Join(o.Dir, one)
			ls := lines(t, p)
			put(t, p, append([][]byte{ls[0], ls[0]}, ls[1:]...)...)
		}, one, 2, "moved or repeated"},
		"a cut tail": {func(t *testing.T, o Options) {
			p := filepath.Join(o.Dir, three)
			ls := lines(t, p)
			put(t, p, ls[:len(ls)-1]...)
		}, three, 2, "its end was cut off"},
		"a cut last newline": {func(_ *testing.T, o Options) {
			p := filepath.Join(o.Dir, three)
			st, _ := os.Stat(p)
			os.Truncate(p, st.Size()-1)
		}, three, 2, "does not end"},
		"a missing first segment":  {func(_ *testing.T, o Options) { os.Remove(filepath.Join(o.Dir, one)) }, one, 1, "segment is missing"},
		"a missing middle segment": {func(_ *testing.T, o Options) { os.Remove(filepath.Join(o.Dir, two)) }, two, 1, "segment is missing"},
		"a missing last segment":   {func(_ *testing.T, o Options) { os.Remove(filepath.Join(o.Dir, three)) }, three, 1, "segment is missing"},
		"all segments gone":        {func(_ *testing.T, o Options) { os.RemoveAll(o.Dir) }, one, 1, "12 had been synced"},
		"a log computed anew without the key": {func(t *testing.T, o Options) {
			prev := origin
			for _, n := range []string{one, two, three} {
				p := filepath.Join(o.Dir, n)
				ls := resealed(t, lines(t, p), bytes.Repeat([]byte("x"), 32), prev)
				prev = macOf(ls[len(ls)-1])
				put(t, p, ls...)
			}
		}, one, 1, "another key"},
		"an end computed anew with the key": {func(t *testing.T, o Options) { // restored from a copy, and continued
			key, err := loadKey(o.KeyDir)
			if err != nil {
				t.Fatal(err)
			}
			p := filepath.Join(o.Dir, three)
			first := lines(t, p)[0]
			at, _ := parseLinks(bytes.TrimSuffix(first, []byte("\n")))
			put(t, p, resealed(t, lines(t, p), key, at.prev)...)
		}, three, 2, "the end of the log was replaced"},
		"a replaced key": {func(_ *testing.T, o Options) {
			os.WriteFile(filepath.Join(o.KeyDir, KeyFile), bytes.Repeat([]byte("k"), 32), 0o600)
		}, one, 1, "another key"},
		"a replaced key with its checkpoint": {func(t *testing.T, o Options) {
			os.RemoveAll(o.KeyDir)
			if _, err := createKey(o.KeyDir); err != nil {
				t.Fatal(err)
			}
		}, one, 1, "another key"},
		"a missing key": {func(_ *testing.T, o Options) { os.Remove(filepath.Join(o.KeyDir, KeyFile)) }, one, 1,
			"key of the log is missing"},
		"a missing checkpoint": {func(_ *testing.T, o Options) { os.Remove(filepath.Join(o.KeyDir, checkpointFile)) }, three, 1, "checkpoint"},
		"a checkpoint ahead": {func(t *testing.T, o Options) {
			key, _ := loadKey(o.KeyDir)
			c, err := openCheckpoint(o.KeyDir, newSealer(key), false)
			if err != nil {
				t.Fatal(err)
			}
			defer c.f.Close()
			if err := c.write(mark{head{99, origin}, three, 0}); err != nil {
				t.Fatal(err)
			}
		}, three, 3, "99 had been synced"},
	} {
		t.Run(name, func(t *testing.T) {
			o := written(t)
			c.do(t, o)
			wantBroken(t, o, c.segment, c.line, c.why)
		})
	}
}

// TestFailuresDoNotForkTheChain: after an append that failed, the next one starts from what is on the disk.
func TestFailuresDoNotForkTheChain(t *testing.T) {
	ctx := context.Background()
	o := options(t)
	l := openLog(t, o)
	add(t, l, decision("a"))
	path := filepath.Join(o.Dir, "00000001.jsonl")
	good, _ := os.ReadFile(path)
	put(t, path, good, []byte("garbage"))
	for range 2 {
		if err := l.Append(ctx, decision("b")); err == nil || !strings.Contains(err.Error(), "was changed") {
			t.Errorf("after a line that is not ours: %v", err)
		}
	}
	put(t, path, good)
	add(t, l, decision("c"))
	wantOK(t, o, 3) // with a record about the time between

	o = options(t)
	o.Rotate = 1500
	l = openLog(t, o)
	next := filepath.Join(o.Dir, "00000002.jsonl")
	add(t, l, decision("a"))
	if err := os.Mkdir(next, 0o700); err != nil { // no file can be made there
		t.Fatal(err)
	}
	failed := 0
	for range 20 {
		if l.Append(ctx, decision("b")) != nil {
			failed++
		}
	}
	if failed < 10 {
		t.Fatalf("%d of 20 failed", failed)
	}
	if err := os.Remove(next); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		add(t, l, decision("c"))
	}
	if r := verify(t, o); !r.OK {
		t.Errorf("verify: %+v", r.Broken)
	}
}

func TestOpenRefusesKeysThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		do  func(o Options)
		why string
	}{
		"short key": {func(o Options) { os.WriteFile(filepath.Join(o.KeyDir, KeyFile), []byte("x"), 0o600) }, "has 1 bytes"},
		"open key":  {func(o Options) { os.Chmod(filepath.Join(o.KeyDir, KeyFile), 0o644) }, "0600"},
	} {
		t.Run(name, func(t *testing.T) {
			o := written(t)
			c.do(o)
			l, err := Open(o)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("open: %v, want %q", err, c.why)
			}
		})
	}
}

func edit(t testing.TB, path string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-200] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAnyFlippedByteIsFound is the law that the chain exists for.
func TestAnyFlippedByteIsFound(t *testing.T) {
	o := written(t)
	names, _ := segments(o.Dir)
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(o.Dir, rapid.SampledFrom(names).Draw(rt, "segment"))
		good, err := os.ReadFile(path)
		if err != nil {
			rt.Fatal(err)
		}
		bad := bytes.Clone(good)
		i := rapid.IntRange(0, len(bad)-1).Draw(rt, "byte")
		bad[i] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			rt.Fatal(err)
		}
		r, err := Verify(o)
		if e := os.WriteFile(path, good, 0o600); e != nil {
			rt.Fatal(e)
		}
		if err != nil || r.OK || r.Broken == nil || r.Broken.Segment != filepath.Base(path) ||
			r.Broken.Line != 1+bytes.Count(good[:i], []byte("\n")) {
			rt.Errorf("byte %d of %s: %+v %+v, %v", i, path, r, r.Broken, err)
		}
	})
}
