package keeper

import (
	"fmt"
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
	goleak.VerifyTestMain(m)
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
