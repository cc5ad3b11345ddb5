package sandbox

import (
	"os"
	"os/exec"
	"slices"
	"strings"
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
	if err := withoutMixedCgroups(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	code := m.Run()
	removeBuilt()
	os.Exit(code)
}

// withoutMixedCgroups starts the tests again, in mounts of their own, where the machine has version 2 of cgroups with controllers beside
// version 1, as crun does not run there. It needs root.
func withoutMixedCgroups() error {
	const second = "/sys/fs/cgroup/unified"
	controllers, err := os.ReadFile(second + "/cgroup.controllers")
	if err != nil || strings.TrimSpace(string(controllers)) == "" || os.Getuid() != 0 {
		return nil //nolint:nilerr // the machine has one version
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(unshare, slices.Concat([]string{"unshare", "--mount", "sh", "-c", `umount -l "$0" && exec "$@"`, second, self},
		os.Args[1:]), os.Environ())
}

// exit ends the process at once. With the race detector, os.Exit waits a second for reports; these programs have one thread of their own.
func exit(code int) { _, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(code), 0, 0) } //nolint:gosec // 0 to 255
