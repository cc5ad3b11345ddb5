package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// child plays another process that writes to the log, as mode says.
func child(mode string) {
	var o Options
	if err := json.Unmarshal([]byte(os.Getenv("AUDIT_OPTIONS")), &o); err != nil {
		panic(err)
	}
	l, err := Open(o)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	switch mode {
	case "write": // until it is killed
		for i := 0; ; i++ {
			if err := l.Append(ctx, decision(fmt.Sprint("k", i))); err != nil {
				panic(err)
			}
			if i == 50 {
				fmt.Println("writing")
			}
		}
	case "full": // until the file may not grow, then again once it may
		signal.Ignore(unix.SIGXFSZ)
		var was unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
			panic(err)
		}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 5000, Max: was.Max}); err != nil {
			panic(err)
		}
		n := 0
		for ; err == nil; n++ {
			err = l.Append(ctx, decision(fmt.Sprint("f", n)))
		}
		again := l.Append(ctx, decision("again"))
		st, _ := os.Stat(filepath.Join(o.Dir, "00000001.jsonl"))
		raw, _ := os.ReadFile(filepath.Join(o.Dir, "00000001.jsonl"))
		fmt.Println(n-1, errors.Is(err, syscall.EFBIG), errors.Is(again, syscall.EFBIG),
			st.Size() == int64(len(raw)) && strings.HasSuffix(string(raw), "}\n"))
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
			panic(err)
		}
		fmt.Println(l.Append(ctx, decision("after")), l.Close())
	}
}

func startChild(t *testing.T, mode string, o Options) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	o.Now = nil
	raw, err := json.Marshal(map[string]any{"Dir": o.Dir, "Lock": o.Lock, "KeyDir": o.KeyDir, "Rotate": o.Rotate, "Sync": o.Sync})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AUDIT_CHILD="+mode, "AUDIT_OPTIONS="+string(raw))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

func TestDiskFull(t *testing.T) {
	o := options(t)
	cmd, out := startChild(t, "full", o)
	var said []string
	for out.Scan() {
		said = append(said, out.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	var n int
	if len(said) != 2 {
		t.Fatalf("the child said %q", said)
	}
	if _, err := fmt.Sscan(said[0], &n); err != nil || n < 5 || said[0] != fmt.Sprint(n, " true true true") || said[1] != "<nil> <nil>" {
		t.Fatalf("the child said %q", said)
	}
	wantOK(t, o, n+2) // what was refused is not there but in words, and nothing was torn
}

func TestKilledInTheMiddle(t *testing.T) {
	o := options(t)
	o.Rotate = 20 << 10
	for range 5 {
		cmd, out := startChild(t, "write", o)
		if !out.Scan() {
			t.Fatal("the child wrote nothing")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		l := openLog(t, o)
		add(t, l, decision("survivor"))
		if r := verify(t, o); !r.OK {
			t.Fatalf("after kill -9: %+v", r.Broken)
		}
		l.Close()
	}
}

// TestTornLine cuts a line where a crash of the machine could have.
func TestTornLine(t *testing.T) {
	for _, keep := range []int{1, 100, 300} {
		o := options(t)
		l := openLog(t, o)
		add(t, l, decision("a"))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(o.Dir, "00000001.jsonl")
		whole, _ := os.ReadFile(path)
		torn := slices.Concat(whole, whole[:keep]) // the beginning of a second line
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		wantBroken(t, o, "00000001.jsonl", 2, "does not end")
		l = openLog(t, o)
		add(t, l, decision("b"))
		wantOK(t, o, 3)
		for line, err := range Read(context.Background(), o, Position{}, false) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Seq == 2 && (line.Kind != Repair || line.Cut == nil || line.Cut.Bytes != int64(keep) || len(line.Cut.SHA256) != 64 ||
				line.Lost != "") {
				t.Errorf("the repair: %+v", line)
			}
		}
	}
}

// TestCrashInRotation leaves the log in each state between the steps of a rotation.
func TestCrashInRotation(t *testing.T) {
	for _, state := range []string{"no next", "empty next", "torn next"} {
		o := written(t)
		third := filepath.Join(o.Dir, "00000003.jsonl")
		key, _ := loadKey(o.KeyDir)
		c, err := openCheckpoint(o.KeyDir, newSealer(key), false)
		if err != nil {
			t.Fatal(err)
		}
		first := lines(t, third)[0]
		at, _ := parseLinks(first[:len(first)-1])
		for range 2 { // both slots: as it was when the second segment was full
			if err := c.write(mark{head{at.seq - 1, at.prev}, "00000002.jsonl", -1}); err != nil {
				t.Fatal(err)
			}
		}
		c.boot = "before the crash"
		if err := c.wrote(mark{at.head, "00000003.jsonl", int64(len(first))}); err != nil {
			t.Fatal(err)
		}
		c.f.Close()
		switch state {
		case "no next":
			os.Remove(third)
		case "empty next":
			os.Truncate(third, 0)
		case "torn next":
			os.Truncate(third, 50)
		}
		l := openLog(t, o)
		add(t, l, decision("later"))
		if r := verify(t, o); !r.OK {
			t.Errorf("%s: %+v", state, r.Broken)
		}
		if line, err := decode(lines(t, third)[0]); err != nil || line.After != "00000002.jsonl" {
			t.Errorf("%s: the first line is %+v, %v", state, line, err)
		}
	}
}
