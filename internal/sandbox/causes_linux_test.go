//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
)

// probed is what a program that was started where a link is missing says of the sandbox.
type probed struct {
	Found   *Capabilities
	Refused jail.Layer // the layer that a command was refused for; empty: it was not
	Ran     bool
}

// probeMain says what holds here, and tries to run a command.
func probeMain() int {
	self := jail.Self{Argv: []string{os.Args[0], jail.ChildName}}
	profile, _ := Find("standard")
	var said strings.Builder
	c := &Command{Argv: []string{"echo", "ran"}, Dir: "/", Profile: profile, Environ: []string{"PATH=/usr/bin:/bin"}, Out: &said}
	out := probed{Found: Probe(context.Background(), self, jail.Own)}
	_, err := Run(context.Background(), self, c)
	var stage *jail.StageError
	if errors.As(err, &stage) {
		out.Refused = stage.Layer
	}
	out.Ran = said.Len() > 0
	data, err := json.Marshal(out)
	if err != nil {
		return 1
	}
	fmt.Println(string(data))
	return 0
}

// filteredMain puts a filter of system calls in force, which answers ERRNO to each of the NUMBERs, with BITS only where the first argument
// has one of these bits, and becomes another program:
// filtered ERRNO NUMBER[/BITS][,NUMBER...] PROGRAM [ARGUMENT]...
func filteredMain(args []string) int {
	errno, _ := strconv.Atoi(args[0])
	f := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for number := range strings.SplitSeq(args[1], ",") {
		number, bits, ok := strings.Cut(number, "/")
		nr, _ := strconv.Atoi(number)
		mask, _ := strconv.Atoi(bits)
		if !ok {
			f = append(f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)},
				unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
			continue
		}
		f = append(f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 4, K: uint32(nr)},
			unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // the low half of the first argument (linux/seccomp.h)
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: uint32(mask)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
			unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS})
	}
	f = append(f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 1
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return 1
	}
	fmt.Fprintln(os.Stderr, syscall.Exec(args[2], args[2:], os.Environ()))
	return 1
}

// dockerRefuses are the calls that the filter of Docker refuses to a container without CAP_SYS_ADMIN, as far as the sandbox makes them
// (moby, profiles/seccomp/default.json): clone with a flag for a namespace, and what mounts.
func dockerRefuses() string {
	const namespaces = 0x7e020000 // the flags that the profile names, 2114060288
	out := fmt.Sprintf("%d/%d", unix.SYS_CLONE, namespaces)
	for _, nr := range []int{unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE,
		unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_SETHOSTNAME} {
		out += fmt.Sprintf(",%d", nr)
	}
	return out
}

// TestCauses: where a link of the chain is missing, its layer is named with the cause and what mends it, and nothing runs.
func TestCauses(t *testing.T) {
	program := self(t).Argv[0]
	filter := func(errno syscall.Errno, numbers string) []string {
		return []string{program, "filtered", strconv.Itoa(int(errno)), numbers, program, "probe"}
	}
	number := strconv.Itoa
	// prepared runs the probe in namespaces in which a line of shell changed something.
	prepared := func(line string) []string {
		return []string{"unshare", "-Urm", "sh", "-c", line + ` && exec "$0" probe`, program}
	}
	for name, tc := range map[string]struct {
		argv        []string
		layer       jail.Layer
		cause, mend string
	}{
		"no user namespaces": {
			prepared("echo 0 > /proc/sys/user/max_user_namespaces"), jail.User, "no space left on device", "sysctl user.max_user_namespaces"},
		"no network namespaces": {
			prepared("echo 0 > /proc/sys/user/max_net_namespaces"), jail.User, "no space left on device", "sysctl user.max_net_namespaces"},
		"Docker's filter": {filter(unix.EPERM, dockerRefuses()), jail.User, "operation not permitted", "a filter of system calls"},
		"Docker's filter, with namespaces": { // as with rights of its own to make them, but not to mount
			filter(unix.EPERM, number(unix.SYS_MOUNT)+","+number(unix.SYS_OPEN_TREE)),
			jail.Mount, "operation not permitted", "a filter of system calls"},
		"Docker's covered /proc": {prepared("mount --bind /dev/null /proc/keys"), jail.PID, "operation not permitted", "systempaths=unconfined"},
		"a filter without mount": {filter(unix.EPERM, number(unix.SYS_MOUNT)), jail.Mount, "operation not permitted", "a filter of system calls"},
		"a filter without pivot_root": {filter(unix.EPERM, number(unix.SYS_PIVOT_ROOT)), jail.Mount, "operation not permitted",
			"a filter of system calls"},
		"no Landlock": {filter(unix.ENOSYS, number(unix.SYS_LANDLOCK_CREATE_RULESET)), jail.Landlock, "function not implemented", "Linux 6.2"},
		"Landlock is switched off": {filter(unix.EOPNOTSUPP, number(unix.SYS_LANDLOCK_CREATE_RULESET)), jail.Landlock,
			"operation not supported", "lsm=landlock"},
		"no filters": {filter(unix.EINVAL, number(unix.SYS_SECCOMP)), jail.Seccomp, "invalid argument", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, err := exec.CommandContext(t.Context(), tc.argv[0], tc.argv[1:]...).Output()
			var got probed
			if err != nil || json.Unmarshal(said, &got) != nil {
				t.Fatalf("%v: %q", err, said)
			}
			failed, bad := got.Found.Failed()
			if got.Found.Holds || !bad || failed.Layer != tc.layer || failed.Cause != tc.cause || failed.Doing == "" ||
				!strings.Contains(failed.Mend, tc.mend) {
				t.Errorf("%+v", got.Found)
			}
			if got.Ran || got.Refused != tc.layer {
				t.Errorf("a command was refused for %q; it ran: %t", got.Refused, got.Ran)
			}
		})
	}
	if got := cause.AppArmor("/opt/my programs/myc"); !strings.Contains(got, `"/opt/my programs/{myc,myc-hook}" flags=(unconfined)`) {
		t.Error(got)
	}
}
