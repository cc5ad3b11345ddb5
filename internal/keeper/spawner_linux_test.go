package keeper

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// spawners are the two ways to start a process: through a keeper, and as a child of this process.
func spawners(t *testing.T, test func(t *testing.T, s Spawner)) {
	t.Helper()
	for name, argv := range map[string][]string{"keeper": {self(t), "play-keeper"}, "direct": nil} {
		t.Run(name, func(t *testing.T) {
			s := New(argv, os.Environ(), "", slog.New(slog.DiscardHandler))
			defer s.Close()
			test(t, s)
		})
	}
}

// sh starts a script of the shell. env is its whole environment.
func sh(t *testing.T, s Spawner, script string, env ...string) *Process {
	t.Helper()
	p, err := s.Spawn([]string{"/bin/sh", "-c", script}, env, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll([]*os.File{p.Stdin, p.Stdout, p.Stderr}) })
	return p
}

func TestSpawn(t *testing.T) {
	spawners(t, func(t *testing.T, s Spawner) {
		p := sh(t, s, `read line; echo "$line $A"; echo oops >&2; exit 3`, "A=b")
		if _, err := io.WriteString(p.Stdin, "hello\n"); err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(p.Stdout)
		fault, _ := io.ReadAll(p.Stderr)
		<-p.Exited
		if string(out) != "hello b\n" || string(fault) != "oops\n" || p.Status() != "exit status 3" || p.KeeperDied() {
			t.Errorf("out %q, stderr %q, %s", out, fault, p.Status())
		}
	})
}

func TestSpawnOfNothing(t *testing.T) {
	spawners(t, func(t *testing.T, s Spawner) {
		p, err := s.Spawn([]string{"/no/such/program", "--password=hunter2"}, nil, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "no such file") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v %v: want an error without the arguments", p, err)
		}
	})
}

// TestStop: a process that ends when its input is closed is not killed, and one that ignores SIGTERM is, together with its group.
func TestStop(t *testing.T) {
	spawners(t, func(t *testing.T, s Spawner) {
		polite := sh(t, s, "read line; exit 0")
		_ = polite.Stdin.Close()
		polite.Stop(time.Minute)
		if polite.Status() != "exit status 1" && polite.Status() != "exit status 0" { // by its own exit, not by a signal
			t.Errorf("the polite process ended by: %s", polite.Status())
		}
		stubborn := sh(t, s, `trap '' TERM; /bin/sh -c 'trap "" TERM; echo ready; while :; do /bin/sleep 1; done' & wait`)
		if line, err := bufio.NewReader(stubborn.Stdout).ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%q %v", line, err)
		}
		stubborn.Stop(100 * time.Millisecond)
		// Without a keeper an orphan may stay behind as a zombie: whoever adopted it has to reap it.
		if _, alone := s.(*direct); !alone && syscall.Kill(-stubborn.PID, 0) == nil {
			t.Error("the group outlives Stop")
		}
		if !strings.Contains(stubborn.Status(), "killed") {
			t.Errorf("the stubborn process ended by: %s", stubborn.Status())
		}
	})
}

// TestKeeperDies: whichever of the two processes of a keeper is killed, what they kept has ended, its status says why, and the next process
// gets a new keeper.
func TestKeeperDies(t *testing.T) {
	for _, which := range []string{"the keeper of the servers", "its guard"} {
		t.Run(which, func(t *testing.T) {
			s := New([]string{self(t), "play-keeper"}, os.Environ(), "", slog.New(slog.DiscardHandler))
			defer s.Close()
			p := sh(t, s, `trap 'echo ending' TERM; echo $PPID; while :; do read line; done`)
			var keeper int
			if _, err := fmt.Fscan(p.Stdout, &keeper); err != nil {
				t.Fatal(err)
			}
			if which == "its guard" {
				var ok bool
				if keeper, ok = parentOf(keeper); !ok || keeper == os.Getpid() {
					t.Fatal("the keeper has no guard")
				}
			}
			if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if which == "its guard" { // the next process is asked for while the keeper ends what it kept
				var line string
				if _, err := fmt.Fscan(p.Stdout, &line); err != nil || line != "ending" {
					t.Errorf("%q %v", line, err)
				}
			} else {
				<-p.Exited
			}
			next := sh(t, s, "exit 0")
			<-p.Exited
			if !p.KeeperDied() {
				t.Errorf("ended by %q, which does not name the keeper", p.Status())
			}
			<-next.Exited
			if next.Status() != "exit status 0" || next.KeeperDied() {
				t.Errorf("with a new keeper: %s", next.Status())
			}
		})
	}
}

// TestSpawnWhileItCloses: a process that is asked for while the keeper is closed is refused, and no other keeper begins for it.
func TestSpawnWhileItCloses(t *testing.T) {
	s := New([]string{self(t), "play-keeper"}, os.Environ(), "", slog.New(slog.DiscardHandler))
	p := sh(t, s, `trap 'echo ending' TERM; echo begun; while :; do read line; done`)
	var line string
	if _, err := fmt.Fscan(p.Stdout, &line); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	if _, err := fmt.Fscan(p.Stdout, &line); err != nil || line != "ending" {
		t.Errorf("%q %v", line, err)
	}
	if next, err := s.Spawn([]string{"/bin/sh", "-c", "exit 0"}, nil, t.TempDir()); err == nil {
		t.Error("a process was started while the keeper closes")
		closeAll([]*os.File{next.Stdin, next.Stdout, next.Stderr})
		s.Close()
	}
	<-closed
}
