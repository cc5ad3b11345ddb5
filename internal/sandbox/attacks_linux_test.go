package sandbox

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/jail"
)

// bait is what lies outside for the attacks.
type bait struct {
	Project string // writable in the sandbox
	Outside string // a folder beside it, with the file "secret"
	TCP     int    // a listener of the machine's loopback
	UDP     int
	Socket  string // a path socket in Outside
	Name    string // an abstract socket
	Victim  int    // a process of the same user
	FD      int    // a descriptor that the parent left open, on Outside
	Home    string // of the user
	Daemon  string // a socket in the folder for run-time files, as our daemon has it
	Core    string // what /proc/sys/kernel/core_pattern says
}

// attack is one way out. try returns nil if it got out, and why not otherwise.
type attack struct {
	name string
	try  func(b *bait) error
}

var errHeld = errors.New("held")

// attacks is the table of escapes. Each row tries one thing that code in the sandbox must not be able to do.
var attacks = []attack{
	{"read a file outside", func(b *bait) error { return reads(filepath.Join(b.Outside, "secret")) }},
	{"read it through /proc/1/root", func(b *bait) error { return reads("/proc/1/root" + filepath.Join(b.Outside, "secret")) }},
	{"read it through the root of a process of the machine", func(b *bait) error {
		return reads(fmt.Sprintf("/proc/%d/root%s", b.Victim, filepath.Join(b.Outside, "secret")))
	}},
	{"read it through a symbolic link", func(b *bait) error {
		link := filepath.Join(b.Project, "link")
		_ = os.Remove(link)
		if err := os.Symlink(filepath.Join(b.Outside, "secret"), link); err != nil {
			return err
		}
		return reads(link)
	}},
	{"read it through an inherited descriptor", func(b *bait) error { return reads(fmt.Sprintf("/proc/self/fd/%d/secret", b.FD)) }},
	{"read it by its handle", func(b *bait) error {
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, b.Project, 0)
		if err != nil {
			return err
		}
		dir, err := unix.Open(b.Project, unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
		return err
	}},
	{"write a file outside", func(b *bait) error { return writes(filepath.Join(b.Outside, "new")) }},
	{"write through a symbolic link", func(b *bait) error {
		link := filepath.Join(b.Project, "out")
		_ = os.Remove(link)
		if err := os.Symlink(b.Outside, link); err != nil {
			return err
		}
		return writes(filepath.Join(link, "new"))
	}},
	{"write the programs of the machine", func(*bait) error { return writes("/usr/bin/myc-attack") }},
	{"write /etc", func(*bait) error { return writes("/etc/myc-attack") }},
	{"read the password hashes", func(*bait) error {
		data, err := os.ReadFile("/etc/shadow")
		if err == nil && len(data) == 0 {
			return errHeld
		}
		return err
	}},

	{"write a protected file", func(b *bait) error { return writes(filepath.Join(b.Project, ".claude/settings.json")) }},
	{"empty a protected file", func(b *bait) error {
		return os.Truncate(filepath.Join(b.Project, ".claude/settings.json"), 0)
	}},
	{"remove a protected file", func(b *bait) error { return os.Remove(filepath.Join(b.Project, ".claude/settings.json")) }},
	{"put a file in the place of a protected one", func(b *bait) error {
		mine := filepath.Join(b.Project, "mine")
		if err := os.WriteFile(mine, nil, 0o600); err != nil {
			return err
		}
		return os.Rename(mine, filepath.Join(b.Project, ".claude/settings.json"))
	}},
	{"put a new folder in the place of a protected file's", func(b *bait) error {
		if err := os.Rename(filepath.Join(b.Project, ".claude"), filepath.Join(b.Project, "c2")); err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(b.Project, ".claude"), 0o755); err != nil {
			return err
		}
		return writes(filepath.Join(b.Project, ".claude/settings.json"))
	}},
	{"exchange a protected file's folder for another", func(b *bait) error {
		other := filepath.Join(b.Project, "other")
		if err := os.MkdirAll(other, 0o755); err != nil {
			return err
		}
		return unix.Renameat2(unix.AT_FDCWD, filepath.Join(b.Project, ".claude"), unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
	}},
	{"rename a folder further above", func(b *bait) error {
		return os.Rename(filepath.Join(b.Project, "a"), filepath.Join(b.Project, "a2"))
	}},
	{"remove a folder above", func(b *bait) error { return os.RemoveAll(filepath.Join(b.Project, "a", "b")) }},
	{"rename the project", func(b *bait) error { return os.Rename(b.Project, b.Project+"2") }},
	{"link a protected file elsewhere and write that", func(b *bait) error {
		link := filepath.Join(b.Project, "hard")
		_ = os.Remove(link)
		if err := os.Link(filepath.Join(b.Project, ".claude/settings.json"), link); err != nil {
			return err
		}
		return writes(link)
	}},
	{"link a file outside into the project and write that", func(b *bait) error {
		link := filepath.Join(b.Project, "hard2")
		_ = os.Remove(link)
		if err := os.Link(filepath.Join(b.Outside, "secret"), link); err != nil {
			return err
		}
		return writes(link)
	}},
	{"move a protected file to another mount", func(b *bait) error {
		return os.Rename(filepath.Join(b.Project, ".claude/settings.json"), "/tmp/settings.json")
	}},
	{"get a descriptor of a protected file for writing over a socket", sendsWritable},
	{"execute a program in memory with more rights", func(*bait) error { return execMemory() }},
	{"dump core to a program of the machine", func(b *bait) error { return dumps(b.Core) }},
	{"write a start-up file of the shell", func(b *bait) error {
		name := filepath.Join(b.Home, ".bashrc")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0) // the one of the person; a new one in the empty home is gone with it
		if err != nil {
			return err
		}
		return f.Close()
	}},
	{"connect to D-Bus", func(*bait) error { return dials("/run/dbus/system_bus_socket") }},
	{"connect to docker", func(*bait) error { return dials("/run/docker.sock") }},
	{"connect to tmux", func(*bait) error { return dials(fmt.Sprintf("/tmp/tmux-%d/default", os.Getuid())) }},
	{"connect to our daemon", func(b *bait) error { return dials(b.Daemon) }},
	{"start processes without end", func(*bait) error { return forkBomb() }},
	{"fill the memory of /tmp", func(*bait) error { return fills("/tmp/full") }},

	{"take the mount away", func(b *bait) error {
		return unix.Unmount(filepath.Join(b.Project, ".claude/settings.json"), unix.MNT_DETACH)
	}},
	{"mount it writable again", func(b *bait) error {
		return unix.MountSetattr(unix.AT_FDCWD, filepath.Join(b.Project, ".claude/settings.json"), 0,
			&unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}},

	{"connect to the machine's loopback", func(b *bait) error {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(b.TCP), 2*time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err
	}},
	{"send UDP to the machine", func(b *bait) error {
		c, err := net.Dial("udp", "127.0.0.1:"+strconv.Itoa(b.UDP))
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(2 * time.Second))
		if _, err := c.Write([]byte("ping")); err != nil {
			return err
		}
		_, err = io.ReadFull(c, make([]byte, 4))
		return err
	}},
	{"leave the machine", func(*bait) error {
		c, err := net.DialTimeout("udp", "192.0.2.1:53", time.Second) // a route is enough
		if err == nil {
			_ = c.Close()
		}
		return err
	}},
	{"connect to a path socket outside", func(b *bait) error { return dials(b.Socket) }},
	{"connect to an abstract socket", func(b *bait) error { return dials("@" + b.Name) }},
	{"through the proxy: a host that is not allowed", func(*bait) error {
		return asks("GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n")
	}},
	{"through the proxy: an allowed host in the header only", func(*bait) error {
		return asks("GET http://other.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n")
	}},
	{"through the proxy: a port that is not allowed", func(*bait) error { return tunnels("allowed.example:22", "SSH-2.0-x\r\n") }},
	{"through the proxy: data in the name of a host", func(*bait) error {
		return asks("GET http://bait.other.example/ HTTP/1.1\r\nHost: x\r\n\r\n")
	}},
	{"through the proxy: a name of SOCKS with NUL", func(*bait) error {
		for _, name := range []string{"allowed.example\x00.other.example", "other.example\x00allowed.example",
			"other.example\x00.allowed.example"} {
			if asks("\x05\x01\x00\x05\x01\x00\x03"+string(rune(len(name)))+name+"\x00\x50GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n") == nil {
				return nil
			}
		}
		return errHeld
	}},
	{"through the proxy: an address in any form", func(b *bait) error {
		for _, host := range []string{"127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]",
			"[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "0.0.0.0", "localhost", "93.184.215.14"} {
			if asks("GET http://"+host+":"+strconv.Itoa(b.TCP)+"/ HTTP/1.1\r\nHost: x\r\n\r\n") == nil ||
				asks("GET http://"+host+"/ HTTP/1.1\r\nHost: x\r\n\r\n") == nil {
				return nil
			}
		}
		return errHeld
	}},
	{"through the proxy: a name in another script", func(*bait) error {
		for _, host := range []string{"allowed。example", "ａllowed.example", "other。allowed.example",
			"xn--llowed-example-kva.other.example"} {
			if asks("GET http://"+host+"/ HTTP/1.1\r\nHost: x\r\n\r\n") == nil {
				return nil
			}
		}
		return errHeld
	}},
	{"through the proxy: a redirect", func(*bait) error {
		if asks("GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n") != nil {
			return errors.New("the allowed host does not answer")
		}
		return asks("GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nConnection: keep-alive\r\n\r\n",
			"GET http://other.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n")
	}},
	{"through the proxy: a name that leads into the machine", func(*bait) error {
		if tunnels("rebind.example:443", "x") == nil {
			return nil
		}
		return asks("GET http://rebind.example/ HTTP/1.1\r\nHost: rebind.example\r\n\r\n")
	}},
	{"through the proxy: TLS with another name", func(*bait) error {
		c, err := net.DialTimeout("tcp", jail.ListenAddr, 2*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := opens(c, "allowed.example:443"); err != nil {
			return err
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		err = tls.Client(c, &tls.Config{ServerName: "other.example", InsecureSkipVerify: true}).Handshake() //nolint:gosec // whoever it is
		if strings.Contains(err.Error(), "first record does not look like") {
			return nil // the host answered
		}
		return err
	}},
	{"past the proxy", func(b *bait) error {
		// What --noproxy of curl does.
		_, err := (&http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}).Get("http://127.0.0.1:" + strconv.Itoa(b.TCP))
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return err
		}
		return nil
	}},
	{"open a socket to the hypervisor", func(*bait) error {
		fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}},
	{"read packets", func(*bait) error { _, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); return err }},

	{"see a process of the machine", func(b *bait) error {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", b.Victim))
		if err == nil && !bytes.Contains(line, []byte("victim")) {
			return errHeld // another process of that number
		}
		return err
	}},
	{"end a process of the machine", func(b *bait) error {
		if bytes.Contains(must(os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", b.Victim))), []byte("victim")) {
			return unix.Kill(b.Victim, unix.SIGCONT)
		}
		return errHeld
	}},
	{"trace the first process of the sandbox", func(*bait) error { return unix.PtraceSeize(1) }},
	{"read the memory of the first process", func(*bait) error {
		f, err := os.Open("/proc/1/mem")
		if err == nil {
			_ = f.Close()
		}
		return err
	}},
	{"copy from another process's memory", func(*bait) error {
		var b [1]byte
		local := []unix.Iovec{{Base: &b[0], Len: 1}}
		_, err := unix.ProcessVMReadv(os.Getppid(), local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&b[0])), Len: 1}}, 0)
		if errors.Is(err, unix.EFAULT) {
			return nil // it was let through
		}
		return err
	}},

	{"make a user namespace", func(*bait) error { return starts(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}) }},
	{"make one by unshare", func(*bait) error { return unix.Unshare(unix.CLONE_NEWNS) }},
	{"mount", func(*bait) error { return unix.Mount("x", "/tmp", "tmpfs", 0, "") }},
	{"change the root", func(*bait) error { return unix.Chroot("/tmp") }},
	{"enter the namespace of the first process", func(*bait) error {
		fd, err := unix.Open("/proc/1/ns/mnt", unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return unix.Setns(fd, unix.CLONE_NEWNS)
	}},
	{"load a program into the kernel", func(*bait) error {
		attr := make([]byte, 120)
		_, _, errno := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr[0])), uintptr(len(attr)))
		return errnoOr(errno, unix.EINVAL)
	}},
	{"use io_uring", func(*bait) error {
		params := make([]byte, 120)
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0)
		return errnoOr(errno, 0)
	}},
	{"use the keyring", func(*bait) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err }},
	{"type into the terminal", func(*bait) error {
		c := byte('x')
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
		return errnoOr(errno, unix.ENOTTY) // the filter answers before the terminal does
	}},
	{"make a device", func(b *bait) error {
		return unix.Mknod(filepath.Join(b.Project, "disk"), unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0))) //nolint:gosec // a device number
	}},
	{"make a setuid program", func(b *bait) error {
		path := filepath.Join(b.Project, "suid")
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			return err
		}
		return unix.Chmod(path, 0o4755)
	}},
	{"become root by a setuid program", func(*bait) error {
		out, err := exec.Command("sudo", "-n", "id", "-u").CombinedOutput()
		if err == nil && strings.TrimSpace(string(out)) == "0" {
			return nil
		}
		return errHeld
	}},
	{"set who gets core dumps", func(b *bait) error { return os.WriteFile("/proc/sys/kernel/core_pattern", []byte(b.Core), 0o600) }},
	{"lower the limit of core dumps", func(*bait) error {
		return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 0, Max: 0})
	}},
	{"use the system request key", func(*bait) error {
		f, err := os.OpenFile("/proc/sysrq-trigger", os.O_WRONLY, 0)
		if err == nil {
			_ = f.Close()
		}
		return err
	}},
	{"set the clock", func(*bait) error {
		var now unix.Timeval
		_ = unix.Gettimeofday(&now)
		return unix.Settimeofday(&now)
	}},
	{"have a capability", func(*bait) error {
		status, err := os.ReadFile("/proc/self/status")
		if err == nil && strings.Contains(string(status), "CapEff:\t0000000000000000") {
			return errHeld
		}
		return err
	}},
	{"see a secret of the caller's environment", func(*bait) error {
		for _, v := range os.Environ() {
			if strings.Contains(v, "bait-secret") {
				return nil
			}
		}
		return errHeld
	}},
}

// reads reports whether a file can be read.
func reads(path string) error {
	data, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(data, []byte("bait")) {
		return fmt.Errorf("%w: it has other content", errHeld)
	}
	return err
}

// writes reports whether a file can be written.
func writes(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("attack")
	return errors.Join(err, f.Close())
}

func dials(name string) error {
	c, err := net.Dial("unix", name)
	if err == nil {
		_ = c.Close()
	}
	return err
}

// asks sends requests to the proxy, one after the answer to the other. It returns nil if the last answer is from outside.
func asks(requests ...string) error {
	c, err := net.DialTimeout("tcp", jail.ListenAddr, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	return sends(c, requests...)
}

func sends(c net.Conn, requests ...string) error {
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	buf, got := make([]byte, 4096), ""
	for _, r := range requests {
		if _, err := io.WriteString(c, r); err != nil {
			return err
		}
		for got = ""; !strings.Contains(got, "reached") && !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 5"); {
			n, err := c.Read(buf)
			if err != nil {
				return err
			}
			got += string(buf[:n])
		}
	}
	if strings.Contains(got, "reached") {
		return nil
	}
	return errHeld
}

// opens opens a tunnel.
func opens(c net.Conn, to string) error {
	if _, err := io.WriteString(c, "CONNECT "+to+" HTTP/1.1\r\nHost: "+to+"\r\n\r\n"); err != nil {
		return err
	}
	const done = "HTTP/1.1 200 Connection established\r\n\r\n"
	head := make([]byte, len(done))
	if _, err := io.ReadFull(c, head); err != nil || string(head) != done {
		return errHeld
	}
	return nil
}

// tunnels sends a text through a tunnel.
func tunnels(to, send string) error {
	c, err := net.DialTimeout("tcp", jail.ListenAddr, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := opens(c, to); err != nil {
		return err
	}
	return sends(c, send)
}

func starts(a *syscall.SysProcAttr) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = a
	return cmd.Run()
}

// errnoOr is the error of a system call that is let through with harmless ends.
func errnoOr(errno, harmless syscall.Errno) error {
	if errno == 0 || errno == harmless {
		return nil
	}
	return errno
}

func must(data []byte, _ error) []byte { return data }

// attackMain tries one row: it prints why it failed, or nothing if it got out.
func attackMain(args []string) int {
	var b bait
	if err := json.Unmarshal([]byte(args[1]), &b); err != nil {
		return 2
	}
	for _, a := range attacks {
		if a.name != args[0] {
			continue
		}
		if err := a.try(&b); err != nil {
			fmt.Print(err)
		}
		return 0
	}
	return 2
}

// attacksMain tries every row, each in a process of its own, and prints the verdicts as JSON.
func attacksMain(args []string) int {
	out := map[string]string{}
	for _, a := range attacks {
		cmd := exec.Command("/proc/self/exe", "attack", a.name, args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // a program that looks for data races waits a second at its end otherwise
		said, err := cmd.CombinedOutput()
		if err != nil {
			said = append(said, "; ended: "+err.Error()...)
		}
		out[a.name] = string(said)
	}
	data, err := json.Marshal(out)
	if err != nil {
		return 2
	}
	_, _ = os.Stdout.Write(data)
	return 0
}
