package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFullDisk: while the log cannot grow nothing runs and no session is made, on any surface; when there is room again the same clients go
// on, and the log verifies. The limit is that of the daemon's files, as setrlimit(2) has it, which fails like a full disk.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newBadWorld(t)
	w.serve()
	token, _ := w.mint("--role", "developer")
	talks := map[string]badTalk{
		"stdio": w.lineTalk(false, "--role", "developer"), "stdio 2026": w.lineTalk(true, "--role", "developer"),
		"http": w.httpTalk(token, false), "http 2026": w.httpTalk(token, true),
	}
	for surface, talk := range talks {
		if err := talk.still(); err != nil {
			t.Fatalf("%s: %v", surface, err)
		}
	}
	sessions := w.sessions()
	segments, err := filepath.Glob(filepath.Join(w.state().Folder(), "audit", "*.jsonl"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	st, err := os.Stat(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	var old unix.Rlimit
	full := unix.Rlimit{Cur: uint64(st.Size()), Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(w.pid, unix.RLIMIT_FSIZE, nil, &old); err != nil {
		t.Fatal(err)
	}
	full.Max = old.Max
	if err := unix.Prlimit(w.pid, unix.RLIMIT_FSIZE, &full, nil); err != nil {
		t.Fatal(err)
	}
	const refused = "This call cannot be recorded, so it does not run."
	for surface, talk := range talks {
		meta := ""
		if strings.HasSuffix(surface, "2026") {
			meta = badMeta + ","
		}
		answer := talk.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta +
			`"name":"files__write_file","arguments":{"path":"pwned.txt","content":"x"}}}`)
		if !strings.Contains(answer, refused) {
			t.Errorf("%s: %s", surface, answer)
		}
	}
	if o := w.run("", "call", "files__write_file", "--role", "developer", "--args", `{"path":"pwned.txt","content":"x"}`); o.code == 0 {
		t.Errorf("myc call: %+v", o)
	}
	if o := w.run("", "session", "new", "--role", "developer"); o.code != 1 || strings.Contains(o.out, "myc_") {
		t.Errorf("myc session new: %+v", o)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "pwned.txt")); !os.IsNotExist(err) {
		t.Errorf("the call ran: %v", err)
	}
	if err := unix.Prlimit(w.pid, unix.RLIMIT_FSIZE, &old, nil); err != nil {
		t.Fatal(err)
	}
	for surface, talk := range talks {
		if err := talk.still(); err != nil {
			t.Errorf("there is room again, %s: %v", surface, err)
		}
	}
	if now := w.sessions(); now != sessions {
		t.Errorf("%s sessions before and %s after", sessions, now)
	}
	w.intact()
}
