package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"mycelium/internal/hook"
)

// Every command pays for the initialisation of the packages that are linked in. The test counts what they allocate, because a
// count is the same on every machine; `go run ./bench -only start` times it. The limits are what the program of November 2026
// does (267 packages, 7,110 allocations, 1,011,000 bytes; Go 1.26), rounded up by less than a tenth.
const (
	initPackages    = 290
	initAllocations = 7_700
	initBytes       = 1_250_000 // golang.org/x/net/html, which reads the index of PyPI, has 113,000 of them
)

// program is the `myc` that a test starts: the program as users build it, or with RACE_PROGRAM=1 (`make soak`) this test binary, which has
// the race detector in it there. With it the program takes several times as long.
func program(t *testing.T) string {
	t.Helper()
	if os.Getenv("RACE_PROGRAM") != "" {
		return testBinary(t)
	}
	return builtProgram(t)
}

// testBinary is this test binary under the name of the command.
func testBinary(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("myc") // TestMain put it there
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// builtVar names the program that this test binary has built, for its copies without a network.
const builtVar = "MYC_E2E_BUILT"

// builtProgram is the program as `make build` makes it, built once for all tests that want it. It lies beside the folder in which
// testscript.Main puts the test binary under the name of the command, and is removed with that.
func builtProgram(t *testing.T) string {
	t.Helper()
	path, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildOnce = sync.OnceValues(func() (string, error) {
	if built := os.Getenv(builtVar); built != "" {
		return built, nil
	}
	played, err := exec.LookPath("myc")
	if err != nil {
		return "", err
	}
	path := filepath.Join(builtFolder(played), "myc")
	if err := goBuild(path, "mycelium/cmd/myc"); err != nil {
		return "", err
	}
	small := filepath.Join(filepath.Dir(path), hook.Small)
	return path, errors.Join(os.Link(filepath.Join(filepath.Dir(played), hook.Small), small), os.Setenv(builtVar, path))
})

// builtFolder is where programs are built, beside the folder of the test binary under the name of the command.
func builtFolder(played string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(played)), "built")
}

// hostileServer is the server that misbehaves as its argument says, built once for all tests that want it.
func hostileServer(t *testing.T) string {
	t.Helper()
	path, err := hostileOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var hostileOnce = sync.OnceValues(func() (string, error) {
	played, err := exec.LookPath("myc")
	if err != nil {
		return "", err
	}
	path := filepath.Join(builtFolder(played), "hostile")
	return path, goBuild(path, "mycelium/test/hostile")
})

// TestPackageInitialisationIsCheap builds the program as users do and adds up what `GODEBUG=inittrace=1` reports.
func TestPackageInitialisationIsCheap(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(builtProgram(t), "version")
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	traces := regexp.MustCompile(`(?m)^init \S+ .* (\d+) bytes, (\d+) allocs$`).FindAllStringSubmatch(string(out), -1)
	bytes, allocations := 0, 0
	for _, m := range traces {
		bytes += count(t, m[1])
		allocations += count(t, m[2])
	}
	t.Logf("package initialisation: %d packages, %d allocations, %d bytes", len(traces), allocations, bytes)
	if len(traces) < 20 {
		t.Fatalf("only %d packages in the traces: is the format another one?", len(traces))
	}
	if len(traces) > initPackages || allocations > initAllocations || bytes > initBytes {
		t.Errorf("the limits are %d packages, %d allocations, %d bytes:\n%s", initPackages, initAllocations, initBytes, out)
	}
}

func count(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
