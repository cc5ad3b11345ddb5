package main

import (
	"context"
	"os"
	"strings"

	"mycelium/cmd/myc/internal/root"
)

// faultVar makes the `myc` of the tests fail where no file and no input can make it fail; see faulty.
const faultVar = "MYC_TEST_FAULT"

// brokenPipe is a standard input that panics.
type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { panic("a bug on the way") }

// shellOfTests is the program before an agent's shell. It knows its folder by the name under which it was started, of which testscript
// leaves the last part.
func shellOfTests() {
	line, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		os.Exit(1)
	}
	os.Args[0], _, _ = strings.Cut(string(line), "\x00")
	os.Exit(mycOfTests())
}

// mycOfTests is the `myc` of the tests: the program, or the program with a bug in it.
func mycOfTests() int {
	if os.Getenv(faultVar) != "panic" {
		return run()
	}
	return root.Main(context.Background(), os.Args[1:], brokenPipe{}, os.Stdout, os.Stderr, os.Environ())
}
