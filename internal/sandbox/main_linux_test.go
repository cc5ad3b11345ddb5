package sandbox

import (
	"os"
	"testing"

	"mycelium/internal/sandbox/jail"
)

// TestMain lets the test binary play the child of the sandbox, and the programs that try to escape from it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "sandbox-child":
			os.Exit(jail.Main())
		case "attack":
			os.Exit(attackMain(os.Args[2:]))
		case "attacks":
			os.Exit(attacksMain(os.Args[2:]))
		case "run-endless":
			os.Exit(runEndless(os.Args[2:]))
		case "send":
			os.Exit(sendMain(os.Args[2:]))
		case "chains":
			os.Exit(chainsMain())
		case "drive":
			os.Exit(driveMain())
		}
	}
	os.Exit(m.Run())
}
