package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// guestArgument makes this program the one that works; the first process only waits for it and for the orphans.
const guestArgument = "guest"

// console is the first serial line, which QEMU writes to its standard output.
const console = "/dev/ttyS0"

// guestMain is the first process of the guest. When it has ended the machine is switched off.
func guestMain() {
	err := mounts()
	if err == nil {
		err = start()
	}
	if err != nil {
		fmt.Println("second-kernel:", err) // to the kernel's console
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// start starts the program that works, on the console, and waits until it has ended.
func start() error {
	tty, err := os.OpenFile(console, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	// The small machine's own limit (fork(2)) would stop processes without end before the sandbox does, and every test with them.
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}); err != nil {
		return fmt.Errorf("take away the limit of processes: %w", err)
	}
	fd := tty.Fd()
	pid, err := syscall.ForkExec("/init", []string{"/init", guestArgument},
		&syscall.ProcAttr{Env: environ("/root"), Files: []uintptr{fd, fd, fd}})
	for got := 0; err == nil && got != pid; {
		got, err = syscall.Wait4(-1, nil, 0, nil)
	}
	return err
}

// environ is the environment of a user.
func environ(home string) []string {
	return []string{"PATH=/usr/bin:/usr/sbin", "HOME=" + home, "TMPDIR=/tmp", "LANG=C.UTF-8"}
}

// mounts mounts what every machine has, and makes the root one that can be left: the first file system of a kernel cannot
// (pivot_root(2)).
func mounts() error {
	if err := unix.Mount("/", "/real", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount the root on itself: %w", err)
	}
	err := errors.Join(unix.Chdir("/real"), unix.Mount(".", "/", "", unix.MS_MOVE, ""), unix.Chroot("."), unix.Chdir("/"))
	for _, m := range [][3]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp", "mode=1777"},
		{"tmpfs", "/var/tmp", "mode=1777"}, {"tmpfs", "/run", "mode=0755"}, {"securityfs", "/sys/kernel/security"}} {
		if mountErr := unix.Mount(m[0], m[1], m[0], unix.MS_NOSUID, m[2]); mountErr != nil {
			err = errors.Join(err, fmt.Errorf("mount %s: %w", m[1], mountErr))
		}
	}
	return errors.Join(err, up(), module("/vsock.ko"), os.MkdirAll("/home/nobody", 0o750), os.Chown("/home/nobody", ordinary, ordinary))
}

// up brings up the loopback.
func up() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// module loads a module of the kernel.
func module(path string) error {
	data, err := os.ReadFile(path)
	if err == nil {
		err = unix.InitModule(data, "")
	}
	if err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

// ordinary is the id of the ordinary user, as in the tests.
const ordinary = 65534

// as runs a program as a user, and returns what it says on both streams. An exit code other than 0 is an *exec.ExitError; every other error
// means that the program did not run.
func as(user, name string, args ...string) (out, errs []byte, err error) {
	cmd := exec.Command(name, args...) //nolint:gosec // ours
	cmd.Dir, cmd.Env = "/root", environ("/root")
	if user != "root" {
		cmd.Dir, cmd.Env = "/home/nobody", environ("/home/nobody")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	return out, stderr.Bytes(), err
}

// work does everything, and prints the one result.
func work() int {
	m := &machine{Release: read("/proc/sys/kernel/osrelease")}
	if _, err := os.Stat(restrict); err == nil {
		write(m, restrict, "0") // on in some kernels from their start; appArmor tries it
	}
	words := read("/proc/cmdline")
	look(m, state(words))
	steps := []func(*machine){without, appArmor, attack}
	if strings.Contains(words, onlyLook) || !m.Verdicts[0].Holds && !m.Verdicts[1].Holds {
		steps = nil
	}
	if steps != nil && strings.Contains(words, noAttacks) {
		steps = steps[:2]
	}
	m.ABI = m.Verdicts[0].ABI
	for _, step := range steps {
		step(m)
		say(m) // for the console's file, if the next step does not end
	}
	m.Done = true
	say(m)
	return 0
}

// say prints the result. The last one counts.
func say(m *machine) {
	data, err := json.Marshal(m)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("\n%s%s\n", mark, data)
}

// state names the state of a machine by its kernel's command line.
func state(words string) string {
	for _, w := range strings.Fields(words) {
		if strings.HasPrefix(w, "lsm=") {
			return "`" + w + "` on the kernel's command line"
		}
	}
	return ""
}

func read(path string) string {
	data, _ := os.ReadFile(path)
	return strings.TrimSpace(string(data))
}

// look asks capabilities as each user, and tries to run a command.
func look(m *machine, state string) {
	const numbers = "/proc/sys/kernel/pid_max" // of the whole machine, until Linux 6.14
	before := read(numbers)
	out, errs := make([]verdict, len(users())), make([]error, len(users()))
	var all sync.WaitGroup
	for i, user := range users() {
		all.Go(func() { out[i], errs[i] = ask(user) })
	}
	all.Wait()
	if now := read(numbers); now != before {
		fail(m, fmt.Errorf("the sandbox changed %s of the machine from %s to %s", numbers, before, now))
	}
	for i, v := range out {
		v.State, v.Release = state, m.Release
		m.Verdicts = append(m.Verdicts, v)
		if errs[i] != nil {
			fail(m, fmt.Errorf("%s, %q: %w", v.User, state, errs[i]))
		}
	}
}

// fail notes what makes the whole result worth nothing.
func fail(m *machine, err error) {
	m.Failed = true
	m.Tests += err.Error() + "\n"
}

// ask asks as one user. An answer that does not come is an error, not a verdict.
func ask(user string) (verdict, error) {
	v := verdict{User: user}
	out, errs, err := as(user, "/usr/bin/myc", "sandbox", "capabilities", "--json")
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return v, fmt.Errorf("capabilities: %w", err)
	}
	var c struct {
		Holds  bool `json:"holds"`
		ABI    int  `json:"landlockABI"`
		Layers []struct {
			Layer string `json:"layer"`
			Cause string `json:"cause"`
			Doing string `json:"doing"`
			Mend  string `json:"mend"`
		} `json:"layers"`
	}
	if err := json.Unmarshal(out, &c); err != nil {
		return v, fmt.Errorf("capabilities: %w: %s%s", err, out, errs)
	}
	v.Holds, v.ABI = c.Holds, c.ABI
	for _, l := range c.Layers {
		if l.Cause != "" {
			v.Layer, v.Doing, v.Cause, v.Mend = l.Layer, l.Doing, l.Cause, l.Mend
			break
		}
	}
	out, errs, err = as(user, "/usr/bin/myc", "sandbox", "exec", "--", "echo", "ran")
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return v, fmt.Errorf("exec: %w", err)
	}
	v.Ran = err == nil && strings.TrimSpace(string(out)) == "ran"
	v.Said = string(errs)
	return v, nil
}

// attack runs the table of escapes with all layers, and without each.
func attack(m *machine) {
	const found = "/tmp/found.json"
	out, errs, err := as("root", "/usr/bin/sandbox.test", "-test.run=^TestLayers$", "-test.timeout=0", "-test.v",
		"-test.parallel=2", "-found="+found)
	m.Tests = string(out) + string(errs)
	data, readErr := os.ReadFile(found)
	if readErr == nil {
		readErr = json.Unmarshal(data, &m.Opened)
	}
	if err = errors.Join(err, readErr); err != nil {
		fail(m, err)
	}
}

// without takes away, one after the other, what the machine gives a link of the chain.
func without(m *machine) {
	for _, name := range []string{"user", "net"} {
		file := "/proc/sys/user/max_" + name + "_namespaces"
		before := read(file)
		write(m, file, "0")
		look(m, "`user.max_"+name+"_namespaces=0`")
		write(m, file, before)
	}
}

// write changes a setting; a failure is a failure of the guest.
func write(m *machine, file, value string) {
	if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
		fail(m, err)
	}
}

// restrict is the setting by which AppArmor refuses user namespaces to programs without a profile.
const restrict = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// refusing is a profile that refuses user namespaces to one program, as some machines have it for browsers and the like.
const refusing = `abi <abi/4.0>,
include <tunables/global>
profile refusing /usr/bin/myc {
  file,
  capability,
  network,
  mount,
  umount,
  pivot_root,
  signal,
  ptrace,
  unix,
  dbus,
  audit deny userns,
}
`

// appArmor lets AppArmor refuse user namespaces, and then loads the profile that myc prints.
func appArmor(m *machine) {
	state := "AppArmor: `kernel.apparmor_restrict_unprivileged_userns=1`"
	refuses := filepath.Join("/tmp", "refusing")
	if _, err := os.Stat(restrict); err == nil {
		write(m, restrict, "1")
	} else {
		state = "AppArmor: a profile for myc that denies `userns`"
		write(m, refuses, refusing)
		parse(m, refuses, "-r")
	}
	look(m, state)
	if _, err := os.Stat(refuses); err == nil {
		parse(m, refuses, "-R")
	}
	profile, errs, err := as("root", "/usr/bin/myc", "sandbox", "capabilities", "--apparmor")
	if err != nil {
		fail(m, fmt.Errorf("myc sandbox capabilities --apparmor: %w: %s", err, errs))
	}
	write(m, "/etc/apparmor.d/myc", string(profile))
	parse(m, "/etc/apparmor.d/myc", "-r")
	look(m, state+", with the profile of `myc sandbox capabilities --apparmor`")
	if _, err := os.Stat(restrict); err == nil {
		write(m, restrict, "0")
	}
}

// parse gives a profile to the parser of AppArmor.
func parse(m *machine, file, how string) {
	out, errs, err := as("root", "apparmor_parser", how, file)
	if err != nil {
		fail(m, fmt.Errorf("apparmor_parser: %w: %s%s", err, out, errs))
	}
}
