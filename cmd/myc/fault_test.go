package main

import (
	"context"
	"os"
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
	a := &app{in: brokenPipe{}, out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	code, _ := a.quickHook(context.Background(), os.Args[1:])
	return code
}
