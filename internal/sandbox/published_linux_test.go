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
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// server serves the folder at a port, on the addresses that a server may take.
const server = `import http.server, socket, sys
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with Server((sys.argv[1], int(sys.argv[2])), http.server.SimpleHTTPRequestHandler) as s:
    s.serve_forever()
`

// free is a port at which nobody listens now.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestServersArePublished: a server that a command starts is reached on the machine's loopback while the command runs, wherever it listens.
// Where the person's programs listen, and at ports that are closed to it, it is not, and the command is told.
func TestServersArePublished(t *testing.T) {
	profile, _ := Find("project")
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "::", "::1"} {
		t.Run(host, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "it.txt"), bytes.Repeat([]byte("spores\n"), 100_000), 0o600); err != nil {
				t.Fatal(err)
			}
			port, session := free(t), t.TempDir()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan error, 1)
			go func() {
				_, err := Run(ctx, self(t), &Command{Argv: []string{"python3", "-c", server, host, strconv.Itoa(port)}, Dir: dir, Project: dir,
					Profile: profile, Home: t.TempDir(), Scratch: t.TempDir(), Environ: []string{"PATH=/usr/bin:/bin"}, Serves: session})
				done <- err
			}()
			url := fmt.Sprintf("http://127.0.0.1:%d/it.txt", port)
			var text string
			for text == "" {
				if answer, err := http.Get(url); err == nil { //nolint:gosec,noctx // the server of the test
					data, _ := io.ReadAll(answer.Body)
					text = string(data)
					_ = answer.Body.Close()
				} else if ctx.Err() != nil {
					t.Fatal("it is never reached")
				}
			}
			if strings.Count(text, "spores\n") != 100_000 {
				t.Errorf("%d bytes come", len(text))
			}
			said := &bytes.Buffer{}
			client := "import sys, urllib.request; print(len(urllib.request.urlopen(sys.argv[1]).read()))"
			_, err := Run(t.Context(), self(t), &Command{Argv: []string{"python3", "-c", client, url}, Dir: dir, Project: dir, Profile: profile,
				Home: t.TempDir(), Scratch: t.TempDir(), Environ: []string{"PATH=/usr/bin:/bin"}, Serves: session, Out: said, Err: said})
			if err != nil || said.String() != "700000\n" {
				t.Errorf("another command of the session: %v\n%s", err, said)
			}
			kept, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)) // a browser keeps its connection
			if err != nil {
				t.Fatal(err)
			}
			defer kept.Close()
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if _, err := http.Get(url); err == nil { //nolint:gosec,noctx,bodyclose // likewise
				t.Error("it is reached after the command")
			}
			if left, err := os.ReadDir(session); err != nil || len(left) > 0 {
				t.Errorf("after the command the session has %v: %v", left, err)
			}
			if _, err := kept.Read(make([]byte, 1)); err == nil {
				t.Error("the connection is open after the command")
			}
		})
	}
}

// TestServersThatAreNotPublished: the port of another program stays its own, and so do ports that are closed to commands. The command is
// told, and reaches its own server all the same.
func TestServersThatAreNotPublished(t *testing.T) {
	profile, _ := Find("project")
	theirs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	taken, closed := theirs.Addr().(*net.TCPAddr).Port, free(t)
	for name, c := range map[string]struct {
		port int
		says string
	}{"taken": {taken, "address already in use"}, "closed": {closed, "it is the port of Mycelium"}} {
		dir := t.TempDir()
		r, says := io.Pipe()
		reader := bufio.NewScanner(r)
		ctx, stop := context.WithCancel(t.Context())
		script := `python3 -c "$1" 127.0.0.1 "$2" & until curl -sf "http://127.0.0.1:$2/" > got; do sleep 0.05; done; wait`
		done := make(chan error, 1)
		go func() {
			_, err := Run(ctx, self(t), &Command{Argv: []string{"bash", "-c", script, "sh", server, strconv.Itoa(c.port)}, Dir: dir, Project: dir,
				Profile: profile, Home: t.TempDir(), Scratch: t.TempDir(), Environ: []string{"PATH=/usr/bin:/bin"}, Serves: t.TempDir(), ClosedPorts: []int{closed}, Err: says})
			_ = says.Close()
			done <- err
		}()
		told := fmt.Sprintf("myc: the server at port %d is reached inside of the sandbox only: ", c.port)
		for reader.Scan() {
			if strings.HasPrefix(reader.Text(), told) && strings.Contains(reader.Text(), c.says) {
				told = ""
				break
			}
		}
		go func() { _, _ = io.Copy(io.Discard, r) }() // what the server says
		var got []byte
		for ctx.Err() == nil && !strings.Contains(string(got), "Directory listing") {
			got, _ = os.ReadFile(filepath.Join(dir, "got"))
		}
		stop()
		if err := <-done; err != nil || told != "" {
			t.Errorf("%s: it is not told %q: %v", name, told, err)
		}
	}
}

// TestServersAreFoundByCommandsThatRun: a command that started before the server finds it, and a port that a killed program left is nobody's,
// also where another program of the machine has it now.
func TestServersAreFoundByCommandsThatRun(t *testing.T) {
	profile, _ := Find("project")
	dir, session, port := t.TempDir(), t.TempDir(), free(t)
	theirs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	left := strconv.Itoa(theirs.Addr().(*net.TCPAddr).Port)
	if err := os.WriteFile(filepath.Join(session, left), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(out io.Writer, argv ...string) *Command {
		return &Command{Argv: argv, Dir: dir, Project: dir, Profile: profile, Home: t.TempDir(), Scratch: t.TempDir(),
			Environ: []string{"PATH=/usr/bin:/bin"}, Serves: session, Out: out}
	}
	said, says := io.Pipe()
	client := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), self(t), command(says, "bash", "-c", `echo begun; until curl -sf -o got "http://127.0.0.1:$1/"; do sleep 0.05; done; head -1 got
			curl -s -m 5 "http://127.0.0.1:$2/"; echo "code $?"`, "sh", strconv.Itoa(port), left))
		_ = says.Close()
		client <- err
	}()
	lines := bufio.NewScanner(said)
	if !lines.Scan() || lines.Text() != "begun" {
		t.Fatalf("the client says %q", lines.Text())
	}
	ctx, stop := context.WithCancel(t.Context())
	serving := make(chan error, 1)
	go func() {
		_, err := Run(ctx, self(t), command(nil, "python3", "-c", server, "127.0.0.1", strconv.Itoa(port)))
		serving <- err
	}()
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	stop()
	if err := errors.Join(<-client, <-serving); err != nil {
		t.Error(err)
	}
	if len(got) == 0 || !strings.Contains(got[0], "DOCTYPE") || got[len(got)-1] != "code 7" { // 7: nobody listens (curl(1))
		t.Errorf("the client says %q", got)
	}
}
