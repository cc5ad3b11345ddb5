package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"
)

// desktop is the program of a desktop that shows notices, by the Desktop Notifications Specification 1.2. It keeps what it would show.
type desktop struct{ shown chan string }

// Notify is the method that shows a notice.
func (d desktop) Notify(
	app string, _ uint32, _, summary, body string, _ []string, _ map[string]dbus.Variant, _ int32,
) (uint32, *dbus.Error) {
	d.shown <- app + ": " + summary + ": " + body
	return 1, nil
}

// GetServerInformation says which program it is.
func (d desktop) GetServerInformation() (name, vendor, version, spec string, _ *dbus.Error) {
	return "test", "mycelium", "1", "1.2", nil
}

// GetCapabilities says what it can show.
func (d desktop) GetCapabilities() ([]string, *dbus.Error) { return []string{"body"}, nil }

// startDesktop starts a D-Bus session with a desktop, and returns its address and the notices that arrive.
func startDesktop(t *testing.T, folder string) (address string, shown <-chan string) {
	t.Helper()
	bus := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address=1", "--address=unix:path="+filepath.Join(folder, "bus"))
	bus.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := bus.StdoutPipe()
	if err == nil {
		err = bus.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = bus.Process.Kill()
		_ = bus.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(line)
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	const name = "org.freedesktop.Notifications"
	d := desktop{make(chan string, 16)}
	if err := conn.Export(d, "/org/freedesktop/Notifications", name); err != nil {
		t.Fatal(err)
	}
	if got, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("%v %v", got, err)
	}
	return address, d.shown
}

// TestDesktopNotice: where a desktop is, a call that waits is shown there without a key in the files, without its arguments. Somebody can
// be reached, so a script's call waits. Where the files say desktop: false, it is denied at once.
func TestDesktopNotice(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"dbus-daemon", "notify-send"} {
		_, err := exec.LookPath(program)
		needed(t, err, program)
	}
	p := newProject(t, world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest]}\npolicy: {fallback: {mcp: ask}}\napproval: {deadline: 100s}\n",
	}))
	address, shown := startDesktop(t, p.home)
	p.env = append(p.env, "DBUS_SESSION_BUS_ADDRESS="+address, "DISPLAY=:7")
	p.must("trust", "--yes") // the state keeps the person's environment
	list := []string{"call", "files__list_directory", "--args", `{"path":"skills"}`}
	if _, stderr, err := p.run(list...); err == nil || !strings.Contains(stderr, "nobody can be reached now") {
		t.Errorf("without a daemon, which shows notices: %v %s", err, stderr)
	}
	p.must("serve", "--background", "--addr", "127.0.0.1:0")
	ended := make(chan string, 1)
	go func() {
		stdout, stderr, _ := p.run(list...)
		ended <- stdout + stderr
	}()
	text := <-shown
	if !strings.HasPrefix(text, "Mycelium: ") || !strings.Contains(text, "waits for approval: files__list_directory: ") ||
		strings.Contains(text, "skills") {
		t.Errorf("the desktop shows %q", text)
	}
	p.must("approvals", "approve", p.waiting(1, 1)[0].ID)
	if got := <-ended; !strings.Contains(got, "looking") {
		t.Errorf("the call ended with %s", got)
	}
	p.write("mycelium.yaml", p.read("mycelium.yaml")[:len(p.read("mycelium.yaml"))-2]+", notify: {desktop: false}}\n")
	p.must("trust", "--yes")
	p.must("skill", "reload") // the daemon has read it
	if _, stderr, err := p.run(list...); err == nil || !strings.Contains(stderr, "nobody can be reached now") {
		t.Errorf("without a desktop: %v %s", err, stderr)
	}
}
