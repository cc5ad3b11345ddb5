package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// sendsWritable lets another process of the sandbox open a protected file and send its descriptor.
func sendsWritable(b *bait) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", "send", filepath.Join(b.Project, ".claude/settings.json"))
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(pair[1]), "socket")} //nolint:gosec // a descriptor
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", errHeld, out)
	}
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), oob, 0)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) == 0 {
		return errors.Join(errHeld, err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	_, err = unix.Write(fds[0], []byte("attack"))
	return err
}

// sendMain is the other process.
func sendMain(args []string) int {
	fd, err := unix.Open(args[0], unix.O_WRONLY, 0)
	if err != nil {
		fmt.Print(err)
		return 1
	}
	if err := unix.Sendmsg(3, []byte("x"), unix.UnixRights(fd), nil, 0); err != nil {
		return 1
	}
	return 0
}

// execMemory executes a program that has no path. It must have no more rights than its caller: no capability, and no way to new ones.
func execMemory() error {
	fd, err := unix.MemfdCreate("program", 0)
	if err != nil {
		return err
	}
	data, err := os.ReadFile("/usr/bin/cat")
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, data); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, 0o4755); err == nil {
		return nil // it is a setuid program now
	}
	_ = unix.Fchmod(fd, 0o755)
	out, err := exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd), "/proc/self/status").Output()
	if err != nil {
		return err
	}
	if strings.Contains(string(out), "CapEff:\t0000000000000000") && strings.Contains(string(out), "NoNewPrivs:\t1") {
		return errHeld
	}
	return nil
}

// dumps ends a process as a fault does. The kernel says whether it made a dump.
func dumps(pattern string) error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 0, Max: 1 << 20}); err == nil {
		return nil // it may choose whether the machine's program for dumps starts
	}
	cmd := exec.Command("sh", "-c", "kill -SEGV $$")
	cmd.Dir = "/tmp"
	_ = cmd.Run()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.CoreDump() {
		return nil
	}
	return fmt.Errorf("%w: no dump for %q", errHeld, pattern)
}

// forkBomb starts more processes than the profile allows, and must be stopped by its limit: 4,096, or that of the numbers of processes.
func forkBomb() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err != nil {
		return err
	}
	const most = 4096 + 64 // the profile's, and the threads of the first process
	if limit.Max > most {
		return nil
	}
	if os.Getuid() != 0 {
		return fmt.Errorf("%w: %d processes", errHeld, limit.Max)
	}
	// The kernel does not hold root to that limit, so the numbers of processes end.
	data, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err == nil && len(strings.TrimSpace(string(data))) <= len("4096") {
		return errHeld
	}
	return err
}

// fills writes until it is refused. The folder lies in memory and has an end: a quarter of the machine's memory. Nothing is written: a
// file of all that size is enough to ask for.
func fills(path string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		return err
	}
	if st.Type == unix.TMPFS_MAGIC && st.Blocks > 0 {
		var info unix.Sysinfo_t
		if err := unix.Sysinfo(&info); err != nil {
			return err
		}
		if size, all := st.Blocks*uint64(st.Bsize), info.Totalram*uint64(info.Unit); size <= all/2 { //nolint:gosec // sizes
			return errHeld
		}
	}
	return nil
}
