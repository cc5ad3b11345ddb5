package sandbox

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
)

var (
	update = flag.Bool("update", false, "write docs/proofs/escapes.md")
	// found is for other kernels than that of the page (scripts/second-kernel).
	found = flag.String("found", "", "TestLayers also tries all layers, writes to this file as JSON what got out, and compares with no page")
)

// job is what the driver does, as the user that it runs as.
type job struct {
	Bait    bait
	Home    string
	Without []jail.Layer
	Small   string // the child
	Backend jail.Backend
}

// driveMain runs the attacks in a sandbox without some layers. It reads a job and prints the verdicts.
func driveMain() int {
	var j job
	data, err := io.ReadAll(os.Stdin)
	if err != nil || json.Unmarshal(data, &j) != nil {
		return 2
	}
	// A descriptor that the parent forgot to close.
	fd, err := syscall.Open(j.Bait.Outside, syscall.O_RDONLY, 0)
	if err != nil {
		return 2
	}
	j.Bait.FD = fd
	args, err := json.Marshal(j.Bait)
	if err != nil {
		return 2
	}
	self, _ := os.Executable()
	profile, _ := Find("project")
	c := &Command{
		Argv: []string{self, "attacks", string(args)}, Dir: j.Bait.Project, Project: j.Bait.Project, Profile: profile, Home: j.Home,
		Read:    []string{self},
		Protect: []string{filepath.Join(j.Bait.Project, ".claude/settings.json"), filepath.Join(j.Bait.Project, "a/b/c/mycelium.yaml")},
		Environ: append(os.Environ(), "ANTHROPIC_API_KEY=bait-secret", "AWS_SECRET_ACCESS_KEY=bait-secret", "GITHUB_TOKEN=bait-secret"),
		Hosts:   []string{"allowed.example", "rebind.example"},
		Masks:   []proxy.Mask{{Name: "MASKED", Value: "bait-secret-masked", Hosts: []string{"masked.example"}}},
		outside: everywhere(),
		Out:     os.Stdout, Err: os.Stderr,
	}
	way, err := c.wayOut(context.Background())
	if err != nil {
		return 2
	}
	w, err := c.prepare(context.Background())
	if err != nil {
		return 2
	}
	spec, err := c.spec(w, way)
	if err != nil {
		return 2
	}
	spec.Without, spec.Backend = j.Without, j.Backend
	if spec.Program, err = program(j.Backend); err != nil {
		return 2
	}
	child := jail.Self{Argv: []string{self, jail.ChildName}, Small: j.Small}
	run, err := jail.Start(context.Background(), child, spec, jail.Streams{Out: c.Out, Err: c.Err})
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		return 1
	}
	end := serve(way, run.Listener)
	code, _, err := run.Wait()
	end()
	if err != nil {
		return 1
	}
	return code
}

// everywhere is an internet that has every name, and at every address somebody who answers "reached" to whatever comes, and sends
// elsewhere.
func everywhere() proxy.Outside {
	return proxy.Outside{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			if name == "rebind.example" {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				if _, err := theirs.Read(make([]byte, 64<<10)); err == nil {
					_, _ = theirs.Write([]byte("HTTP/1.1 302 Found\r\nLocation: http://other.example/\r\nContent-Length: 7\r\n\r\nreached"))
				}
			}()
			return ours, nil
		},
	}
}

// ordinary is the account of the ordinary user, if this is root: nobody (Debian's base-passwd).
const ordinary = 65534

// users are those as whom the attacks are tried.
func users() map[string]int {
	if os.Getuid() != 0 {
		return map[string]int{"an ordinary user": os.Getuid()}
	}
	return map[string]int{"root": 0, "an ordinary user": ordinary}
}

// TestEscapes tries every way out that is known, as root and as an ordinary user. With all layers none may succeed.
func TestEscapes(t *testing.T) {
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, backend := range []jail.Backend{jail.Own, jail.Bubblewrap, jail.Container} {
				for attack, why := range try(t, uid, backend, nil) {
					if why == "" {
						t.Errorf("escaped with back end %q: %s", backend, attack)
					}
				}
			}
		})
	}
}

// try runs the attacks as a user in a sandbox without some layers.
func try(t *testing.T, uid int, backend jail.Backend, without []jail.Layer) map[string]string {
	t.Helper()
	dir := open(t, uid)
	self := copyOfSelf(t, dir)
	child := ""
	if *found == "" { // another kernel's machine has no compiler
		child = small(t)
	}
	in, err := json.Marshal(job{Bait: *lay(t, dir, uid), Home: filepath.Join(dir, "home"), Without: without, Small: child,
		Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "drive")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home")}
	cmd.Stdin = bytes.NewReader(in)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), NoSetGroups: false} //nolint:gosec // an id
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	verdicts := map[string]string{}
	if err := json.Unmarshal(out.Bytes(), &verdicts); err != nil || len(verdicts) != len(attacks) {
		t.Fatalf("%v: %s", err, out.String())
	}
	return verdicts
}

// open makes a folder that a user may enter and write.
func open(t *testing.T, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"project/.claude", "project/a/b/c", "outside", "home"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"project/.claude/settings.json", "project/a/b/c/mycelium.yaml", "outside/secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("bait"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || uid == os.Getuid() {
			return err
		}
		return os.Chown(path, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// copyOfSelf copies what plays the test binary to where every user may execute it.
func copyOfSelf(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "attacker")
	// Another process writes it: a child that is started meanwhile would have our descriptor open, and nobody could execute the file.
	copying := exec.CommandContext(t.Context(), "sh", "-c", `cat "$0" > "$1"`, actor(t), path)
	if out, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("copy this program: %v: %s", err, out)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// lay lays the bait.
func lay(t *testing.T, dir string, uid int) *bait {
	t.Helper()
	b := &bait{Project: filepath.Join(dir, "project"), Outside: filepath.Join(dir, "outside"),
		Home: filepath.Join(dir, "home"), Daemon: filepath.Join(dir, "run", "mycelium.sock"),
		Socket: filepath.Join(dir, "outside", "socket"), Name: "mycelium-bait-" + filepath.Base(dir)}
	tcp := listen(t, "tcp", "127.0.0.1:0")
	b.TCP = tcp.Addr().(*net.TCPAddr).Port
	listen(t, "unix", b.Socket)
	listen(t, "unix", "@"+b.Name)
	if err := os.Mkdir(filepath.Dir(b.Daemon), 0o755); err != nil {
		t.Fatal(err)
	}
	listen(t, "unix", b.Daemon)
	if err := errors.Join(os.Chmod(b.Daemon, 0o777), os.WriteFile(filepath.Join(b.Home, ".bashrc"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(b.Home, ".bashrc"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(b.Socket, 0o777); err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	go func() {
		buf := make([]byte, 16)
		for {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo(buf[:n], from)
		}
	}()
	b.UDP = udp.LocalAddr().(*net.UDPAddr).Port
	b.Core = strings.TrimSpace(string(must(os.ReadFile("/proc/sys/kernel/core_pattern"))))
	victim := exec.Command("sleep", "infinity")
	victim.Args[0] = "victim"
	victim.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if uid != os.Getuid() {
		victim.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)} //nolint:gosec // an id
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
	b.Victim = victim.Process.Pid
	return b
}

// listen accepts every connection.
func listen(t *testing.T, network, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l
}

// tablePage is what TestLayers writes with -update, and compares with.
const tablePage = "../../docs/proofs/escapes.md"

// nothing is left out: what gets out then is held by no layer of this kernel.
const nothing jail.Layer = "nothing"

// TestLayers takes each layer away in turn, and compares what gets out then with the page. Where nothing more gets out without a layer,
// others hold the same.
func TestLayers(t *testing.T) {
	opened := map[string]map[string][]string{} // by attack and user: the layers without which it gets out
	var mu sync.Mutex
	layers := jail.Layers()
	if *found != "" {
		layers = append(layers, nothing)
	}
	t.Run("without", func(t *testing.T) {
		for name, uid := range users() {
			for _, layer := range layers {
				if layer == jail.User && uid != 0 {
					continue // an ordinary user has no namespace without a user namespace: the sandbox refuses
				}
				t.Run(string(layer)+" as "+name, func(t *testing.T) {
					t.Parallel()
					without := []jail.Layer{layer}
					if layer == nothing {
						without = nil
					}
					verdicts := try(t, uid, jail.Own, without)
					mu.Lock()
					defer mu.Unlock()
					note(opened, name, layer, verdicts)
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	if *found != "" {
		data, err := json.Marshal(opened)
		if err == nil {
			err = os.WriteFile(*found, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var rows []string
	for _, a := range attacks {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", a.name, words(opened[a.name]["root"]), words(opened[a.name]["an ordinary user"])))
	}
	page, err := os.ReadFile(tablePage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), "\n| What is tried")
	want := head + "\n| What is tried | Gets out, as root, without | As an ordinary user, without |\n| --- | --- | --- |\n" +
		strings.Join(rows, "\n") + "\n"
	if _, others, ok := strings.Cut(rest, "\n\n"); ok { // what scripts/second-kernel wrote
		want += "\n" + others
	}
	if *update {
		if err := os.WriteFile(tablePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() != 0 {
		return // the page needs both users
	}
	if string(page) != want && !*update {
		t.Errorf("%s is not what was found; -update writes it\n%s", tablePage, strings.Join(rows, "\n"))
	}
}

// note adds what got out without a layer; the layers stand in their order.
func note(opened map[string]map[string][]string, user string, layer jail.Layer, verdicts map[string]string) {
	for attack, why := range verdicts {
		if why != "" {
			continue
		}
		if opened[attack] == nil {
			opened[attack] = map[string][]string{}
		}
		list := slices.Concat(opened[attack][user], []string{string(layer)})
		slices.SortFunc(list, func(a, b string) int {
			return slices.Index(jail.Layers(), jail.Layer(a)) - slices.Index(jail.Layers(), jail.Layer(b))
		})
		opened[attack][user] = list
	}
}

func words(layers []string) string {
	if len(layers) == 0 {
		return "–"
	}
	return strings.Join(layers, ", ")
}
