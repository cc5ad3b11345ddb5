package keeper

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary plays the keeper too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "play-keeper" {
		if err := Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "play-owner" {
		playOwner()
	}
	goleak.VerifyTestMain(m)
}

// playOwner starts a server with a grandchild that has left everything by which it could be known: its group, its session and its
// environment. It prints the ids of the server's parent and of the grandchild, and waits.
func playOwner() {
	exe, err := os.Executable()
	if err == nil {
		var p *Process
		s := New([]string{exe, "play-keeper"}, os.Environ(), "", slog.New(slog.DiscardHandler))
		p, err = s.Spawn([]string{"/bin/sh", "-c", `env -i setsid sh -c 'trap "" TERM HUP; echo $0 $$; exec sleep 600' $PPID & wait`},
			[]string{"PATH=" + os.Getenv("PATH")}, "/")
		if err == nil {
			_, err = io.Copy(os.Stdout, p.Stdout)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

// self is the path of the test binary.
func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}
