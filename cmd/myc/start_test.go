package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// Every command pays for the initialisation of the packages that are linked in. The test counts what they allocate, because a
// count is the same on every machine; `go run ./bench -only start` times it. The limits are what the program of November 2026
// does (232 packages, 6,440 allocations, 946,112 bytes; Go 1.26), rounded up by less than a tenth.
const (
	initPackages    = 240
	initAllocations = 7_000
	initBytes       = 1_000_000
)

// TestPackageInitialisationIsCheap builds the program as users do and adds up what `GODEBUG=inittrace=1` reports.
func TestPackageInitialisationIsCheap(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "myc")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, "version")
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
