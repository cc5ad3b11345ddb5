package daemon

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mycelium/internal/op"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/state"
)

// The test binary plays the daemon: MYC_TEST_PLAY says which one.
func TestMain(m *testing.M) {
	switch play := os.Getenv("MYC_TEST_PLAY"); play {
	case "":
		goleak.VerifyTestMain(m)
	case "daemon":
		if err := playDaemon(os.Getenv("MYC_TEST_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, "daemon:", err)
			os.Exit(1)
		}
	case "broken":
		fmt.Fprintln(os.Stderr, "mycelium.yaml:3: unknown key 設定")
		os.Exit(4)
	case "attach":
		if err := playAttach(os.Getenv("MYC_TEST_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, "attach:", err)
			os.Exit(1)
		}
	case "dial":
		if err := playDial(os.Getenv("MYC_TEST_DIR")); err != nil {
			fmt.Println("dial:", err)
		}
	case "between":
		if err := playBetween(os.Getenv("MYC_TEST_SOCKET"), os.Getenv("MYC_TEST_TO")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "shout":
		playShout(os.Getenv("MYC_TEST_SOCKET"))
	}
}

// playShout writes to a socket without checking its owner.
func playShout(socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"method":"pid"}`)
	line, _ := bufio.NewReader(conn).ReadString('\n')
	fmt.Printf("connected, answered %q\n", line)
}

func playDaemon(dir string) error {
	p := pathsOf(dir)
	o, err := Own(context.Background(), p, Claim{Kind: Automatic})
	if err != nil {
		return err
	}
	defer o.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	idle, _ := time.ParseDuration(os.Getenv("MYC_TEST_IDLE"))
	s := testServer(cancel)
	s.Idle = idle
	s.Methods["rotate"] = func(context.Context, op.Caller, []byte) (any, *rpc.Error) {
		fmt.Println("to stdout", strings.Repeat("長", 1000))
		if err := rotate(p.Log, 1000); err != nil {
			return nil, &rpc.Error{Code: rpc.CodeInternal, Message: err.Error()}
		}
		fmt.Println("new stdout")
		fmt.Fprintln(os.Stderr, "new stderr")
		return nil, nil
	}
	return o.Serve(ctx, s)
}

// testServer answers what the tests ask.
func testServer(stop func()) Server {
	return Server{
		Methods: map[string]func(context.Context, op.Caller, []byte) (any, *rpc.Error){
			"pid":    func(context.Context, op.Caller, []byte) (any, *rpc.Error) { return os.Getpid(), nil },
			"caller": func(_ context.Context, c op.Caller, _ []byte) (any, *rpc.Error) { return c, nil },
			"echo": func(_ context.Context, _ op.Caller, p []byte) (any, *rpc.Error) {
				s := rawjson.TextAt(p, "text")
				return s, nil
			},
			"stop": func(context.Context, op.Caller, []byte) (any, *rpc.Error) { stop(); return nil, nil },
			"refuse": func(context.Context, op.Caller, []byte) (any, *rpc.Error) {
				return nil, &rpc.Error{Code: -32602, Message: "no"}
			},
			"panic": func(context.Context, op.Caller, []byte) (any, *rpc.Error) { panic("a bug") },
			"chan":  func(context.Context, op.Caller, []byte) (any, *rpc.Error) { return make(chan int), nil },
			"wait": func(ctx context.Context, _ op.Caller, _ []byte) (any, *rpc.Error) {
				<-ctx.Done()
				return nil, &rpc.Error{Code: -32603, Message: "cancelled"}
			},
			"env": func(_ context.Context, _ op.Caller, p []byte) (any, *rpc.Error) {
				s := rawjson.TextAt(p, "name")
				return os.Getenv(s), nil
			},
		},
		Streams: map[string]Stream{"mcp": echoStream,
			"no": func(context.Context, op.Caller, []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
				return nil, nil, &rpc.Error{Code: -32001, Message: "not you"}
			}},
	}
}

// echoStream answers every request with its method and this process's id. It never answers "hang", and answers "ask" with a question.
func echoStream(context.Context, op.Caller, []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
	return map[string]bool{"granted": true}, func(_ context.Context, conn net.Conn) error {
		lines := rpc.NewLines(conn, 0)
		for {
			line, err := lines.Next()
			if err != nil {
				return err
			}
			m, bad := rpc.Parse(line)
			if bad != nil {
				return bad
			}
			var out rpc.Message
			switch {
			case m.Method == "die":
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case m.Method == "hang":
				out = rpc.Message{Method: "notifications/hanging", Params: []byte(`{}`)}
			case m.Method == "ask":
				out = rpc.Message{ID: []byte("1"), Method: "roots/list"}
			case m.IsRequest():
				out = rpc.Message{ID: m.ID, Result: fmt.Appendf(nil, `{"method":%q,"pid":%d}`, m.Method, os.Getpid())}
			case m.Method != "":
				out = rpc.Message{Method: "seen/" + m.Method}
			default:
				out = rpc.Message{Method: "seen/answer"}
			}
			if _, err := conn.Write(append(out.Append(nil), '\n')); err != nil {
				return err
			}
		}
	}, nil
}

func playAttach(dir string) error {
	p := pathsOf(dir)
	c, err := Attach(context.Background(), p, []string{os.Args[0]}, append(os.Environ(), "MYC_TEST_PLAY=daemon"))
	if err != nil {
		return err
	}
	defer c.Close()
	var pid int
	if err := c.Call(context.Background(), "pid", nil, &pid); err != nil {
		return err
	}
	fmt.Println(pid)
	return nil
}

func playDial(dir string) error {
	p := pathsOf(dir)
	p.Socket = os.Getenv("MYC_TEST_SOCKET")
	c, err := Dial(context.Background(), p)
	if err != nil {
		return err
	}
	fmt.Println("let in")
	return c.Close()
}

// pathsOf are the paths of a project whose state lies beside its files.
func pathsOf(dir string) Paths {
	return PathsOf(state.Root(filepath.Join(dir, "state")).Of(dir), os.Getenv("XDG_RUNTIME_DIR"))
}

// known makes the key of a project in a folder.
func known(t testing.TB, dir string) Paths {
	t.Helper()
	p := pathsOf(dir)
	if err := os.MkdirAll(filepath.Dir(p.Key), 0o700); err != nil {
		t.Fatal(err)
	}
	k := sha256.Sum256([]byte(dir))
	if err := os.WriteFile(p.Key, k[:], 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// project makes a project folder and a runtime folder, both short.
func project(t *testing.T) (string, Paths) {
	t.Helper()
	run, err := os.MkdirTemp("/tmp", "mycrun")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	t.Setenv("XDG_RUNTIME_DIR", run)
	dir := t.TempDir()
	return dir, known(t, dir)
}

// play starts this binary as something.
func play(t *testing.T, dir, what string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "MYC_TEST_PLAY="+what, "MYC_TEST_DIR="+dir), env...)
	return cmd
}

// attach attaches with a daemon that this binary plays, and ends that daemon with the test.
func attach(t *testing.T, dir string, p Paths, env ...string) (*Client, int) {
	t.Helper()
	c, err := Attach(t.Context(), p, []string{os.Args[0]}, append(append(os.Environ(), "MYC_TEST_PLAY=daemon", "MYC_TEST_DIR="+dir), env...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var pid int
	if err := c.Call(t.Context(), "pid", nil, &pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(pid) })
	return c, pid
}

// kill ends a process for good and returns when it is gone.
func kill(pid int) {
	fd, err := pidfd(pid)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	waitFD(fd)
}
