package sandbox

import (
	"os"
	"syscall"
	"testing"

	"mycelium/internal/sandbox/jail"
)

// TestMain lets the test binary play the child of the sandbox, and the programs that try to escape from it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case jail.ChildName:
			exit(jail.Main())
		case "filtered":
			exit(filteredMain(os.Args[2:]))
		case "probe":
			exit(probeMain())
		case "attack":
			exit(attackMain(os.Args[2:]))
		case "attacks":
			exit(attacksMain(os.Args[2:]))
		case "run-endless":
			exit(runEndless(os.Args[2:]))
		case "dial":
			exit(dialMain(os.Args[2:]))
		case "run":
			exit(runMain(os.Args[2]))
		case "send":
			exit(sendMain(os.Args[2:]))
		case "chains":
			exit(chainsMain())
		case "drive":
			exit(driveMain())
		}
	}
	code := m.Run()
	removeSmall()
	os.Exit(code)
}

// exit ends the process at once. With the race detector, os.Exit waits a second for reports; these programs have one thread of their own.
func exit(code int) { _, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(code), 0, 0) } //nolint:gosec // 0 to 255
