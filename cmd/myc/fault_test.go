package main

import (
	"context"
	"os"

	"mycelium/cmd/myc/internal/root"
)

// faultVar makes the `myc` of the tests fail where no file and no input can make it fail; see faulty.
const faultVar = "MYC_TEST_FAULT"

// brokenPipe is a standard input that panics.
type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { panic("a bug on the way") }

// mycOfTests is the `myc` of the tests: the program, or the program with a bug in it.
func mycOfTests() int {
	if os.Getenv(faultVar) != "panic" {
		return run()
	}
	return root.Main(context.Background(), os.Args[1:], brokenPipe{}, os.Stdout, os.Stderr, os.Environ())
}
