package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
)

// sandboxExec is a program with the arguments of sandbox-exec(1) that keeps the profile it got and runs the command, without any rules. What it
// does in the place of rules is take the canary away.
const sandboxExec = `#!/bin/sh
[ "$1" = -f ] || exit 64
cp "$2" "RECORD" && shift 2 && rm "$4" && exec "$@"
`

// seatbeltCommand is a command of Seatbelt on a project, with such a program. The profile that it gets is in the file record afterwards.
func seatbeltCommand(t *testing.T, program string, argv ...string) (c *Command, record string) {
	t.Helper()
	c = projectCommand(t, argv...)
	c.Profile.Backend = jail.Seatbelt
	dir := t.TempDir()
	record, c.seatbelt = filepath.Join(dir, "profile.sb"), filepath.Join(dir, "sandbox-exec")
	if err := os.WriteFile(c.seatbelt, []byte(strings.ReplaceAll(program, "RECORD", record)), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return c, record
}

// profileOf reads the profile that sandbox-exec got.
func profileOf(t *testing.T, record string) []sbRule {
	t.Helper()
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	return rulesOf(t, string(text))
}

// onMac is a path of this machine as the profile names it.
func onMac(path string) string {
	if below(path, "/tmp") || below(path, "/var") {
		return "/private" + path
	}
	return path
}

// TestSeatbeltRuns: a command of Seatbelt has the profile of its view, its streams, its exit code, its limits, and private folders that go
// with it.
func TestSeatbeltRuns(t *testing.T) {
	t.Parallel()
	c, record := seatbeltCommand(t, sandboxExec, "sh", "-c", `echo "$HOME $TMPDIR $XDG_CACHE_HOME $MYCELIUM_CANARY"; ulimit -n
echo x > "$TMPDIR/x" && cat "$TMPDIR/x" - && ls -A "$HOME"; echo err >&2; ls /proc/self/fd | wc -l; exit 7`)
	c.Profile.Files = 123
	inherited, err := os.Open(filepath.Join(c.Project, ".claude"))
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	if _, err := unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0); err != nil { // as one that came from the parent of this process
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c.In, c.Out, c.Err = strings.NewReader("in\n"), &out, &errs
	r, err := Run(t.Context(), self(t), c)
	if err != nil || r.ExitCode != 7 || errs.String() != "err\n" {
		t.Fatalf("%+v %v\n%s%s", r, err, out.String(), errs.String())
	}
	lines := strings.Split(out.String(), "\n")
	places := strings.Fields(lines[0])
	if len(places) != 3 || !below(places[0], c.Scratch) || !below(places[1], c.Scratch) || places[2] != c.Caches {
		t.Errorf("the places are %q", places)
	}
	if want := []string{"123", "x", "in", ".cache", "4", ""}; !slices.Equal(lines[1:], want) {
		t.Errorf("the command says %q, want %q", lines[1:], want)
	}
	if left, err := os.ReadDir(c.Scratch); err != nil || len(left) > 0 {
		t.Errorf("there is left %v, %v", left, err)
	}
	rules := profileOf(t, record)
	for path, want := range map[string]struct{ read, write bool }{
		"a/new":                           {true, true},
		".claude/settings.json":           {true, false},
		".CLAUDE/settings.json":           {true, false},
		"a/b/c/mycelium.yaml":             {true, false},
		"a/.gemini/settings.json":         {true, false}, // a name that is not there
		"a/.env.production":               {false, false},
		"../outside/secret":               {},
		"../home/.ssh/id":                 {},
		"../scratch/other":                {},
		"../quarantine/x":                 {},
		"../cache/x":                      {true, true},
		"../" + filepath.Base(c.Scratch):  {},
		"../project-of-another/mycelium":  {},
		"../home/.config/mycelium/x.yaml": {},
	} {
		at := onMac(filepath.Join(c.Project, path))
		read, _ := allowed(rules, "file-read-data", at)
		write, _ := allowed(rules, "file-write-create", at)
		if read != want.read || write != want.write {
			t.Errorf("%s: read %v, write %v, want %+v", path, read, write, want)
		}
	}
	if _, both := allowed(rules, "file-write-create", onMac(filepath.Join(places[1], "x"))); !both {
		t.Error("the command does not write its own folder for temporary files")
	}
	for _, dir := range []string{".claude", "a", "a/b", "a/b/c", "."} {
		if either, _ := allowed(rules, "file-write-unlink", onMac(filepath.Join(c.Project, dir))); either {
			t.Errorf("%s can be renamed, and takes a file that governs away", dir)
		}
	}
}

// TestSeatbeltPutsAway: a file of a command that would govern is in the quarantine after it, as with every back end, and git's configuration
// stays.
func TestSeatbeltPutsAway(t *testing.T) {
	t.Parallel()
	c, record := seatbeltCommand(t, sandboxExec, "sh", "-c", `mkdir -p sub/.gemini && echo '{}' > sub/.gemini/settings.json; echo y > kept`)
	repository := filepath.Join(c.Project, ".git")
	for _, name := range []string{"objects", "refs", "hooks"} {
		if err := os.MkdirAll(filepath.Join(repository, name), 0o755); err != nil { //nolint:gosec // a repository
			t.Fatal(err)
		}
	}
	for _, name := range []string{"HEAD", "config"} {
		if err := os.WriteFile(filepath.Join(repository, name), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Run(t.Context(), self(t), c)
	if err != nil || r.ExitCode != 0 {
		t.Fatal(r, err)
	}
	if want := []string{filepath.Join(c.Project, "sub/.gemini/settings.json")}; !slices.Equal(r.Left.Quarantined, want) {
		t.Errorf("in quarantine are %q, want %q", r.Left.Quarantined, want)
	}
	if _, err := os.Stat(filepath.Join(c.Project, "kept")); err != nil {
		t.Error(err)
	}
	rules := profileOf(t, record)
	for path, want := range map[string]bool{".git/config": false, ".git/hooks/pre-commit": false, ".git/index": true, ".git/config.lock": true} {
		if got, _ := allowed(rules, "file-write-create", onMac(filepath.Join(c.Project, path))); got != want {
			t.Errorf("%s is written: %v", path, got)
		}
	}
}

// TestSeatbeltFollowsLinks: a file that is hidden by a path through a link is closed where it lies, and a part that must be there and lies behind a link
// refuses.
func TestSeatbeltFollowsLinks(t *testing.T) {
	t.Parallel()
	c, record := seatbeltCommand(t, sandboxExec, "true")
	if err := os.Symlink("a", filepath.Join(c.Project, "link")); err != nil {
		t.Fatal(err)
	}
	c.Hide = []string{filepath.Join(c.Project, "link/b/c")}
	if _, err := Run(t.Context(), self(t), c); err != nil {
		t.Fatal(err)
	}
	rules := profileOf(t, record)
	for path, want := range map[string]bool{"a/b/c/x": false, "link/b/c/x": false, "a/b/x": true} {
		if got, _ := allowed(rules, "file-read-data", onMac(filepath.Join(c.Project, path))); got != want {
			t.Errorf("%s is read: %v", path, got)
		}
	}
	c.Hide, c.Protect = nil, []string{filepath.Join(c.Project, "link/b/c/mycelium.yaml")}
	if _, err := Run(t.Context(), self(t), c); err == nil || !strings.Contains(err.Error(), "a link leads to it") {
		t.Errorf("a protected file behind a link: %v", err)
	}
}

// TestSeatbeltRefuses: where the rules are not in force, or cannot hold a part of the profile of the sandbox, nothing of the command runs.
func TestSeatbeltRefuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		program string
		change  func(*Command)
		want    string
		mend    string
	}{
		"rules that close nothing":    {program: strings.ReplaceAll(sandboxExec, ` && rm "$4"`, ""), want: "the profile is not in force"},
		"a profile that is refused":   {program: "#!/bin/sh\necho 'sandbox-exec: unbound variable: file-link' >&2\nexit 65\n", want: "unbound variable: file-link"},
		"a program that says nothing": {program: "#!/bin/sh\nexit 71\n", want: "it ended before the command: exit status 71"},
		"no program":                  {program: "", want: "start the program in the back end seatbelt"},
		"a limit of memory":           {program: sandboxExec, change: func(c *Command) { c.Profile.Memory = 1 << 30 }, want: "macOS holds no program to such a limit", mend: "memory: 0"},
		"a mask": {program: sandboxExec, change: func(c *Command) {
			c.Masks = []proxy.Mask{{Name: "TOKEN", Value: "secret-value-1234", Hosts: []string{"example.com"}}}
		}, want: "the back end seatbelt has no masks"},
		"no Mac": {program: sandboxExec, change: func(c *Command) { c.seatbelt = "" }, want: "it is a program of macOS, and this is linux",
			mend: "use the back end own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := seatbeltCommand(t, row.program, "touch", "ran")
			if row.change != nil {
				row.change(c)
			}
			_, err := Run(t.Context(), self(t), c)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v, want %q", err, row.want)
			}
			var stage *jail.StageError
			if row.mend != "" && (!errors.As(err, &stage) || !strings.Contains(cause.Mend(stage), row.mend)) {
				t.Errorf("%v has no %q", err, row.mend)
			}
			if _, err := os.Lstat(filepath.Join(c.Project, "ran")); err == nil {
				t.Error("the command ran")
			}
			if left, err := os.ReadDir(c.Scratch); err != nil || len(left) > 0 {
				t.Errorf("there is left %v, %v", left, err)
			}
		})
	}
	c, _ := seatbeltCommand(t, sandboxExec, "no-such-program")
	var start *jail.StartError
	if _, err := Run(t.Context(), self(t), c); !errors.As(err, &start) {
		t.Errorf("of a program that is not there it says %v", err)
	}
}

// TestSeatbeltEnds: with the context, the command ends, and so do the processes of its session.
func TestSeatbeltEnds(t *testing.T) {
	t.Parallel()
	c, _ := seatbeltCommand(t, sandboxExec, "sh", "-c", `sleep infinity & echo $!; exec sleep infinity`)
	said, w := io.Pipe()
	c.Out = w
	ctx, cancel := context.WithCancelCause(t.Context())
	type ended struct {
		r   *Result
		err error
	}
	done := make(chan ended, 1)
	go func() {
		r, err := Run(ctx, self(t), c)
		done <- ended{r, err}
	}()
	pid, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cancel(context.DeadlineExceeded)
	if e := <-done; e.err != nil || e.r.ExitCode != killed || !e.r.TimedOut {
		t.Errorf("%+v %v", e.r, e.err)
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(pid), "stat"))
	if err == nil && !bytes.Contains(stat, []byte(") Z ")) {
		t.Errorf("the command left %s", stat)
	}
}

// TestSeatbeltLeaves: a process that left the session of the command does not keep the run from its end.
func TestSeatbeltLeaves(t *testing.T) {
	t.Parallel()
	c, _ := seatbeltCommand(t, sandboxExec, "sh", "-c", `setsid sh -c 'echo $$; exec sleep infinity' & read -r end`)
	said, w := io.Pipe()
	in, end := io.Pipe()
	c.In, c.Out = in, w
	done := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), self(t), c)
		done <- err
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	_ = end.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("docs/sandbox.md says that such a process lives on: %v", err)
	}
}

// TestSeatbeltProxy: a command with hosts reaches the proxy at a port that its profile names, and the proxy refuses the others.
func TestSeatbeltProxy(t *testing.T) {
	t.Parallel()
	c, record := seatbeltCommand(t, sandboxExec, "sh", "-c", `echo "$http_proxy"; read -r end`)
	c.Hosts, c.outside = []string{"allowed.example"}, everywhere()
	said, w := io.Pipe()
	in, end := io.Pipe()
	c.In, c.Out = in, w
	type ended struct {
		r   *Result
		err error
	}
	done := make(chan ended, 1)
	go func() {
		r, err := Run(t.Context(), self(t), c)
		done <- ended{r, err}
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	way, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(way), DisableKeepAlives: true}}
	answer, err := client.Get("http://refused.example/") //nolint:noctx // the proxy answers
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	_ = end.Close()
	e := <-done
	if e.err != nil || answer.StatusCode != http.StatusForbidden || len(e.r.Left.Refused) != 1 {
		t.Errorf("%d, %+v %v", answer.StatusCode, e.r, e.err)
	}
	_, port, err := net.SplitHostPort(way.Host)
	text, readErr := os.ReadFile(record)
	if want := fmt.Sprintf("(allow network-outbound (remote ip \"localhost:%s\"))", port); errors.Join(err, readErr) != nil || !bytes.Contains(text, []byte(want)) {
		t.Errorf("the profile has no %s: %v %v", want, err, readErr)
	}
}

// TestSeatbeltProbe: a probe of the back end says that nobody has tried it on a Mac.
func TestSeatbeltProbe(t *testing.T) {
	t.Parallel()
	found := Probe(t.Context(), self(t), jail.Seatbelt)
	failed, bad := found.Failed()
	if found.Holds || !bad || failed.Layer != jail.Rules || len(found.Layers) != 1 || !strings.Contains(found.Untried, "not tried on a Mac") {
		t.Errorf("%+v", found)
	}
	if other := Probe(t.Context(), self(t), jail.Own); other.Untried != "" {
		t.Error(other.Untried)
	}
}
