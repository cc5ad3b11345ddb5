package audit

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// cut takes the last n lines of a segment away.
func cut(t testing.TB, path string, n int) {
	t.Helper()
	ls := lines(t, path)
	size := 0
	for _, l := range ls[:len(ls)-n] {
		size += len(l)
	}
	if err := os.Truncate(path, int64(size)); err != nil {
		t.Fatal(err)
	}
}

// damages are what can happen to the files of a log with three segments, each with a part of what is said of it.
var damages = map[string]struct {
	do  func(t testing.TB, o Options)
	why string
}{
	"last record cut":      {func(t testing.TB, o Options) { cut(t, third(o), 1) }, "it ends at record 11, and 12 had been written"},
	"last record torn":     {func(t testing.TB, o Options) { size(t, third(o), -20) }, "it ends at record 11"},
	"segment emptied":      {func(t testing.TB, o Options) { must(t, os.Truncate(third(o), 0)) }, "it ends at record 10"},
	"segment removed":      {func(t testing.TB, o Options) { must(t, os.Remove(third(o))) }, "it ends at record 10"},
	"all segments removed": {func(t testing.TB, o Options) { must(t, os.RemoveAll(o.Dir)) }, "it ends at record 0"},
	"folder moved away":    {func(t testing.TB, o Options) { must(t, os.Rename(o.Dir, o.Dir+".moved")) }, "it ends at record 0"},
	"last record edited":   {func(t testing.TB, o Options) { edit(t, third(o)) }, "was changed, or sealed with another key"},
	"garbage at the end":   {func(t testing.TB, o Options) { put(t, third(o), append(lines(t, third(o)), []byte("x"))...) }, "was changed"},
	"another log": {func(t testing.TB, o Options) {
		other := written(t)
		must(t, os.RemoveAll(o.Dir))
		must(t, os.Rename(other.Dir, o.Dir))
	}, "sealed with another key"},
	"a segment too many": {func(t testing.TB, o Options) {
		must(t, os.WriteFile(filepath.Join(o.Dir, "00000099.jsonl"), nil, 0o600))
	}, "segment 00000004.jsonl is missing before 00000099.jsonl"},
	"checkpoint removed": {func(t testing.TB, o Options) { must(t, os.Remove(filepath.Join(o.KeyDir, checkpointFile))) }, "the checkpoint"},
	"checkpoint changed": {func(t testing.TB, o Options) {
		must(t, os.WriteFile(filepath.Join(o.KeyDir, checkpointFile), []byte("x"), 0o600))
	}, "the checkpoint"},
	"older segment removed": {func(t testing.TB, o Options) { must(t, os.Remove(filepath.Join(o.Dir, "00000002.jsonl"))) }, "segment 00000002.jsonl is missing"},
	"older record edited":   {func(t testing.TB, o Options) { edit(t, filepath.Join(o.Dir, "00000002.jsonl")) }, "in 00000002.jsonl: its seal does not fit"},
	"records swapped": {func(t testing.TB, o Options) {
		second := filepath.Join(o.Dir, "00000002.jsonl")
		ls := lines(t, second)
		ls[1], ls[2] = ls[2], ls[1]
		put(t, second, ls...)
	}, "in 00000002.jsonl: record"},
	"segment is a link": {func(t testing.TB, o Options) {
		must(t, os.Rename(third(o), third(o)+".elsewhere"))
		must(t, os.Symlink(third(o)+".elsewhere", third(o)))
	}, "segment 00000003.jsonl is a link"},
	"folder is a link": {func(t testing.TB, o Options) {
		must(t, os.Rename(o.Dir, o.Dir+".elsewhere"))
		must(t, os.Symlink(o.Dir+".elsewhere", o.Dir))
	}, "its folder is a link"},
	"key removed":  {func(t testing.TB, o Options) { must(t, os.Remove(filepath.Join(o.KeyDir, KeyFile))) }, "is missing"},
	"key replaced": {func(t testing.TB, o Options) { put32(t, filepath.Join(o.KeyDir, KeyFile)) }, "the checkpoint"},
}

func third(o Options) string { return filepath.Join(o.Dir, "00000003.jsonl") }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func size(t testing.TB, path string, more int64) {
	t.Helper()
	st, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, st.Size()+more))
}

func put32(t testing.TB, path string) {
	t.Helper()
	must(t, os.WriteFile(path, bytes.Repeat([]byte("k"), 32), 0o600))
}

// wantRefused appends a record that must not be taken.
func wantRefused(t testing.TB, l *Log, why string) {
	t.Helper()
	err := l.Append(t.Context(), decision("refused"))
	if d, ok := errors.AsType[*DamageError](err); !ok || !strings.Contains(d.Why, why) || d.Hint() == "" {
		t.Errorf("append: %v, want damage: %s", err, why)
	}
	if err := l.Problem(); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("problem: %v, want %s", err, why)
	}
}

// files are the contents of the log's folder.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, n := range names {
		raw, err := os.ReadFile(filepath.Join(dir, n.Name()))
		must(t, err)
		out[n.Name()] = string(raw)
	}
	return out
}

// TestDamage: after damage no process takes a record, and nothing is changed, until a person begins a new chain that names it. The damage
// is then accepted, and no other is.
func TestDamage(t *testing.T) {
	for name, c := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := written(t)
			c.do(t, o)
			before := files(t, o.Dir)
			if err := Problem(o); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("problem: %v, want %s", err, c.why)
			}
			for range 2 {
				l := openLog(t, o)
				wantRefused(t, l, c.why)
				must(t, l.Close())
			}
			if r := verify(t, o); r.OK {
				t.Errorf("verify: %+v", r)
			}
			if after := files(t, o.Dir); !maps.Equal(before, after) {
				t.Error("the log was changed")
			}
			l := openLog(t, o)
			if strings.HasSuffix(name, "is a link") {
				if err := l.BeginAgain("someone", "it was a test"); err == nil {
					t.Error("a chain began where a link leads elsewhere")
				}
				return
			}
			must(t, l.BeginAgain("someone", "it was a test"))
			for range 12 { // through a rotation
				add(t, l, decision("later"))
			}
			must(t, l.Close())
			wantAccepted(t, o, c.why)
			for file, text := range before {
				if raw, _ := os.ReadFile(filepath.Join(o.Dir, file)); string(raw) != text {
					t.Errorf("%s was changed", file)
				}
			}
			m := openLog(t, o)
			add(t, m, decision("a new process"))
			if err := m.BeginAgain("someone", "once more"); !errors.Is(err, ErrIntact) {
				t.Errorf("again: %v", err)
			}
			if err := Problem(o); err != nil {
				t.Errorf("problem: %v", err)
			}
		})
	}
}

// wantAccepted wants that a log verifies, with one break that was accepted; and that another break before or behind it is found.
func wantAccepted(t *testing.T, o Options, why string) {
	t.Helper()
	r := verify(t, o)
	if !r.OK || len(r.Accepted) != 1 || r.Accepted[0].Because != "it was a test" || r.Accepted[0].Time.IsZero() ||
		!strings.Contains(r.Accepted[0].Why, why) {
		t.Fatalf("verify: %+v %+v; want one accepted break: %s", r, r.Broken, why)
	}
	names, err := segments(o.Dir)
	must(t, err)
	for _, name := range names {
		path := filepath.Join(o.Dir, name)
		good, err := os.ReadFile(path)
		must(t, err)
		line, _, _ := bytes.Cut(good, []byte("\n"))
		at, ok := parseLinks(line)
		key, err := loadKey(o.KeyDir)
		must(t, err)
		if !ok || !newSealer(key).genuine(at) {
			continue // it is part of the damage
		}
		must(t, os.WriteFile(path, bytes.Replace(good, []byte(`"time":"20`), []byte(`"time":"21`), 1), 0o600))
		if r := verify(t, o); r.OK {
			t.Errorf("another break, in %s: %+v", name, r)
		}
		must(t, os.WriteFile(path, good, 0o600))
	}
}

// TestDamageWhileOpen: a log that is open notices by itself, and goes on if the files are restored.
func TestDamageWhileOpen(t *testing.T) {
	for name, c := range damages {
		if name == "older record edited" || name == "records swapped" { // TestOldDamage
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := written(t)
			l := openLog(t, o)
			must(t, l.Look())
			dirs := []string{o.Dir, o.KeyDir}
			var good []map[string]string
			for _, dir := range dirs {
				good = append(good, files(t, dir))
			}
			c.do(t, o)
			var damage *DamageError
			if err := l.Look(); !errors.As(err, &damage) {
				t.Errorf("look: %v", err)
			}
			wantRefused(t, l, "")
			for i, dir := range dirs {
				must(t, os.RemoveAll(dir))
				must(t, os.Mkdir(dir, 0o700))
				for name, text := range good[i] {
					must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
				}
			}
			must(t, l.Look())
			add(t, l, decision("it goes on"))
			r := verify(t, o)
			if !r.OK {
				t.Errorf("verify: %+v", r.Broken)
			}
			at, err := Back(o, 2)
			must(t, err)
			for line, err := range Read(t.Context(), o, at, false) {
				must(t, err)
				if line.Kind != Repair || !strings.Contains(line.Note, "1 record was refused") {
					t.Errorf("the record about it: %+v", line)
				}
				break
			}
		})
	}
}

// TestMemoryIsTheTruth: a file that was cut and a checkpoint that was put back to what it was then do not fool the process that wrote, and
// what it knows is kept for the next.
func TestMemoryIsTheTruth(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	add(t, l, decision("a"))
	old := files(t, o.KeyDir)
	add(t, l, decision("b"))
	cut(t, filepath.Join(o.Dir, "00000001.jsonl"), 1)
	must(t, os.WriteFile(filepath.Join(o.KeyDir, checkpointFile), []byte(old[checkpointFile]), 0o600))
	wantRefused(t, l, "2 had been written")
	killed(l)
	wantRefused(t, openLog(t, o), "2 had been written")
	wantBroken(t, o, "00000001.jsonl", 2, "2 had been synced")
}

// TestRunTells: who looks after the log is told of damage and of its end.
func TestRunTells(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	add(t, l, decision("a"))
	told := run(t, l)
	must(t, os.Rename(o.Dir, o.Dir+".moved"))
	if err := <-told; err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("told: %v", err)
	}
	must(t, os.Rename(o.Dir+".moved", o.Dir))
	if err := <-told; err != nil {
		t.Errorf("told: %v", err)
	}
}

// long is a log of several segments that is longer than what a start checks, closed.
func long(t *testing.T) Options {
	o := options(t)
	o.Rotate = 128 << 10
	l := openLog(t, o)
	r := decision("long")
	r.Error = strings.Repeat("x", maxText)
	for range 2*tailBytes/maxText + 9 {
		add(t, l, r)
	}
	must(t, l.Close())
	return o
}

// run runs a log until the test ends. It returns the channel on which the log tells its problems.
func run(t *testing.T, l *Log) <-chan error {
	ctx, cancel := context.WithCancel(context.Background())
	told, ran := make(chan error, 9), make(chan error, 1)
	go func() { ran <- l.Run(ctx, func(problem error) { told <- problem }) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ran)
	})
	return told
}

// TestOldDamage: a line that was edited long after it was written stops the log too, soon after a start and soon after the edit, until it is
// restored or a person begins again.
func TestOldDamage(t *testing.T) {
	for _, name := range []string{"edited before the start", "edited while open", "swapped while open", "segment put back"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := long(t)
			second := filepath.Join(o.Dir, "00000002.jsonl")
			good, err := os.ReadFile(second)
			must(t, err)
			if name == "edited before the start" {
				edit(t, second)
			}
			l := openLog(t, o)
			add(t, l, decision("no start reads the whole log"))
			told := run(t, l)
			switch name {
			case "edited while open":
				settled(t, l)
				edit(t, second)
			case "swapped while open":
				settled(t, l)
				ls := lines(t, second)
				ls[3], ls[4] = ls[4], ls[3]
				put(t, second, ls...)
			case "segment put back": // after it was edited elsewhere
				settled(t, l)
				must(t, os.Rename(second, second+".elsewhere"))
				edit(t, second+".elsewhere")
				must(t, os.Rename(second+".elsewhere", second))
			}
			err = <-told
			for away := "00000002.jsonl is missing"; name == "segment put back" && (err == nil || strings.Contains(err.Error(), away)); {
				err = <-told // the log may look while the segment is elsewhere, and once more after that
			}
			if err == nil || !strings.Contains(err.Error(), "in 00000002.jsonl") {
				t.Fatalf("told: %v", err)
			}
			wantRefused(t, l, "in 00000002.jsonl")
			wantRefused(t, l, "in 00000002.jsonl")
			must(t, os.WriteFile(second, good, 0o600))
			if err := <-told; err != nil {
				t.Fatalf("told after the file was restored: %v", err)
			}
			add(t, l, decision("it goes on"))
			edit(t, second)
			if err := <-told; err == nil {
				t.Fatal("told nothing")
			}
			must(t, l.BeginAgain("someone", "it was a test"))
			if err := <-told; err != nil {
				t.Fatalf("told: %v", err)
			}
			add(t, l, decision("it goes on"))
			if r := verify(t, o); !r.OK || len(r.Accepted) != 1 {
				t.Errorf("verify: %+v %+v", r, r.Broken)
			}
		})
	}
}

// settled waits until the whole log was checked once.
func settled(t *testing.T, l *Log) {
	t.Helper()
	for {
		l.write.Lock()
		done := l.whole.seen != nil
		l.write.Unlock()
		if done {
			return
		}
		runtime.Gosched()
	}
}

// TestForeignWriteIsChecked: an edit of a line in the current segment shows although its size stays, and although this process goes on
// writing behind it.
func TestForeignWriteIsChecked(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	for range 200 {
		add(t, l, decision("a"))
	}
	told := run(t, l)
	settled(t, l)
	path := filepath.Join(o.Dir, "00000001.jsonl")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("x"), 300)
	must(t, err)
	for l.Problem() == nil {
		_ = l.Append(t.Context(), decision("b"))
	}
	if err := <-told; err == nil || !strings.Contains(err.Error(), "in 00000001.jsonl") {
		t.Errorf("told: %v", err)
	}
}

// TestReadersPassDamage: behind damage that was accepted, every line that is one is still read.
func TestReadersPassDamage(t *testing.T) {
	o := written(t)
	second := filepath.Join(o.Dir, "00000002.jsonl")
	ls := lines(t, second)
	put(t, second, ls[0], []byte("no line"), ls[1])
	l := openLog(t, o)
	must(t, l.BeginAgain("someone", "it was a test"))
	add(t, l, decision("later"))
	var seqs []int64
	for line, err := range Read(t.Context(), o, Position{}, false) {
		must(t, err)
		seqs = append(seqs, line.Seq)
	}
	if want := []int64{1, 2, 3, 4, 5, 6, 11, 12, 13, 14}; !slices.Equal(seqs, want) {
		t.Errorf("read %v, want %v", seqs, want)
	}
}

// TestBack: the last lines are found from the end, over segments, however many there are.
func TestBack(t *testing.T) {
	o := written(t)
	put(t, third(o), append(lines(t, third(o)), []byte("x"))...)
	size(t, third(o), -1) // a line that is being written is none
	for n, want := range map[int]int64{0: 13, 1: 12, 2: 11, 3: 10, 8: 5, 12: 1, 99: 1} {
		at, err := Back(o, n)
		must(t, err)
		first := int64(13)
		for line, err := range Read(t.Context(), o, at, false) {
			must(t, err)
			first = line.Seq
			break
		}
		if first != want {
			t.Errorf("before the last %d lines comes record %d, want %d", n, first, want)
		}
	}
	if at, err := Back(options(t), 5); err != nil || at != (Position{}) {
		t.Errorf("without a log: %v, %v", at, err)
	}
}

// TestVerifyACopy: a copy is verified without a lock, and without the key as far as that goes; nothing is written beside it.
func TestVerifyACopy(t *testing.T) {
	o := written(t)
	dir := t.TempDir()
	c := Options{Dir: filepath.Join(dir, "log"), KeyDir: filepath.Join(dir, "keys"), Lock: filepath.Join(dir, "lock")}
	must(t, os.CopyFS(c.Dir, os.DirFS(o.Dir)))
	must(t, os.CopyFS(c.KeyDir, os.DirFS(o.KeyDir)))
	for _, f := range []string{KeyFile, checkpointFile} {
		must(t, os.Chmod(filepath.Join(c.KeyDir, f), 0o400))
	}
	wantOK(t, c, 12)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("beside the copy: %v, %v", left, err)
	}
	first := filepath.Join(c.Dir, "00000001.jsonl")
	raw, err := os.ReadFile(first)
	must(t, err)
	must(t, os.WriteFile(first, bytes.Replace(raw, []byte("guest"), []byte("admin"), 1), 0o600))
	wantBroken(t, c, "00000001.jsonl", 1, "its seal does not fit")
	c.KeyDir = ""
	if r := verify(t, c); !r.OK || len(r.Unproved) != 2 || r.Records != 12 {
		t.Errorf("without the key an edited line does not show: %+v", r)
	}
	ls := lines(t, filepath.Join(c.Dir, "00000002.jsonl"))
	put(t, filepath.Join(c.Dir, "00000002.jsonl"), ls[0], ls[2])
	wantBroken(t, c, "00000002.jsonl", 2, "missing or moved")
}

// TestOrderOfACopy: of a log that is being written, a copy is good if the key's folder is copied before the segments, as docs/state.md says;
// the other order gives a log whose end is missing.
func TestOrderOfACopy(t *testing.T) {
	for _, keysFirst := range []bool{true, false} {
		o := options(t)
		l := openLog(t, o)
		add(t, l, decision("before"))
		c := options(t)
		folders := [][2]string{{o.KeyDir, c.KeyDir}, {o.Dir, c.Dir}}
		if !keysFirst {
			slices.Reverse(folders)
		}
		for _, f := range folders {
			must(t, os.CopyFS(f[1], os.DirFS(f[0])))
			must(t, os.Chmod(f[1], 0o700))
			add(t, l, decision("meanwhile"))
		}
		must(t, os.Chmod(filepath.Join(c.KeyDir, KeyFile), 0o600))
		if keysFirst {
			add(t, openLog(t, c), decision("later"))
			wantOK(t, c, 3)
		} else if err := Problem(c); err == nil || !strings.Contains(err.Error(), "it ends at record 1, and 2 had been written") {
			t.Errorf("segments first: %v", err)
		}
	}
}

// TestFreshRecordIsCut: what was written a moment ago and is not synced yet cannot be taken out without a word, by whatever means, and
// whoever writes next.
func TestFreshRecordIsCut(t *testing.T) {
	for who, next := range map[string]func(o Options, l *Log) *Log{
		"the same writer":                    func(_ Options, l *Log) *Log { return l },
		"another process":                    func(o Options, _ *Log) *Log { return openLog(t, o) },
		"another process, the first is gone": func(o Options, l *Log) *Log { killed(l); return openLog(t, o) },
	} {
		t.Run(who, func(t *testing.T) {
			o := options(t)
			l := openLog(t, o)
			add(t, l, decision("a"), decision("b"))
			cut(t, filepath.Join(o.Dir, "00000001.jsonl"), 1)
			if err := next(o, l).Append(t.Context(), decision("c")); err == nil {
				t.Error("the next record was taken")
			}
			if r := verify(t, o); r.OK {
				t.Errorf("verify: %+v", r)
			}
		})
	}
}

// killed is the end of a process by kill -9, as far as the log can tell: nothing is synced.
func killed(l *Log) {
	l.closed = true
	l.shut()
}
