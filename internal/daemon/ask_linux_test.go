package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/op"
	"mycelium/internal/rpc"
)

func TestAsk(t *testing.T) {
	_, p := project(t)
	if _, _, err := asks(p, time.Minute, "echo", "{}"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody owns it yet: %v", err)
	}
	gone, release := make(chan struct{}), make(chan struct{})
	stop := serveHere(t, p, func(s *Server) {
		s.Methods["echo"] = func(_ context.Context, _ op.Caller, params []byte) (any, *rpc.Error) { return string(params), nil }
		s.Methods["refuse"] = func(context.Context, op.Caller, []byte) (any, *rpc.Error) {
			return nil, &rpc.Error{Code: -32050, Message: "not you"}
		}
		s.Methods["wait"] = func(ctx context.Context, _ op.Caller, _ []byte) (any, *rpc.Error) {
			select {
			case <-ctx.Done():
				close(gone)
			case <-release:
			}
			return "late", nil
		}
		s.Methods["panic"] = func(context.Context, op.Caller, []byte) (any, *rpc.Error) { panic("a bug") }
	})
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	large := `"` + strings.Repeat("x", 12<<20) + `"`
	if got, slow, err := asks(p, time.Minute, "echo", `{"a":"印"}`); err != nil || got != `"{\"a\":\"印\"}"` || slow {
		t.Errorf("%s %v %t", got, err, slow)
	}
	if got, _, err := asks(p, time.Minute, "echo", large); err != nil || len(got) != len(large)+4 {
		t.Errorf("a large one: %d bytes, %v", len(got), err)
	}
	var refused *rpc.Error
	if _, _, err := asks(p, time.Minute, "refuse", "{}"); !errors.As(err, &refused) || refused.Message != "not you" {
		t.Errorf("refused: %v", err)
	}
	if _, _, err := asks(p, time.Minute, "unheard-of", "{}"); !errors.As(err, &refused) || refused.Code != rpc.CodeMethodNotFound {
		t.Errorf("no such method: %v", err)
	}
	if _, _, err := asks(p, time.Minute, "panic", "{}"); !errors.As(err, &refused) || refused.Code != rpc.CodeInternal {
		t.Errorf("a panic: %v", err)
	}
	other := known(t, t.TempDir())
	other.Socket = p.Socket
	var stranger *StrangerError
	if _, _, err := asks(other, time.Minute, "echo", "{}"); !errors.As(err, &stranger) || stranger.PID != os.Getpid() ||
		stranger.Socket != p.Socket {
		t.Errorf("the daemon of another project: %v", err)
	}
	waits := make(chan struct{})
	late := make(chan error)
	go func() {
		raw, err := Ask(p, time.Minute, "wait", []byte("{}"), func() { close(waits) })
		if err == nil && string(raw) != `"late"` {
			err = errors.New(string(raw))
		}
		late <- err
	}()
	<-waits
	close(release)
	if err := <-late; err != nil {
		t.Errorf("a late one: %v", err)
	}
	select {
	case <-gone:
		t.Error("the call was taken for given up")
	default:
	}
}

// TestAskThoseWhoDoNotAnswer: owners that accept the connection and say nothing, that read the question and end, that end at once, or
// that answer something else. None keeps the caller from its deadline.
func TestAskThoseWhoDoNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*net.UnixConn, func() error)
		want error // nil: a *StrangerError
	}{
		"silent":         {func(_ *net.UnixConn, _ func() error) {}, ErrSilent},
		"takes and goes": {func(c *net.UnixConn, read func() error) { _ = read(); _ = c.Close() }, ErrLost},
		"only goes":      {func(c *net.UnixConn, _ func() error) { _ = c.Close() }, ErrNotRunning},
		"nonsense":       {func(c *net.UnixConn, read func() error) { _ = read(); _, _ = c.Write([]byte("yes\n")) }, nil},
		"chatter": {func(c *net.UnixConn, read func() error) {
			_ = read()
			_, _ = c.Write([]byte(`{"jsonrpc":"2.0","method":"wait"}` + "\n"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := project(t)
			if err := socketFolder(p.Socket); err != nil {
				t.Fatal(err)
			}
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			asked, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				conn, err := l.AcceptUnix()
				if err != nil {
					return
				}
				defer conn.Close()
				lines := rpc.NewLines(conn, maxMessage)
				if name == "only goes" { // the question is there, and is not read
					awaitInput(t, conn)
				}
				c.do(conn, func() error { _, err := lines.Next(); return err })
				<-asked
			}()
			_, _, err = asks(p, 100*time.Millisecond, "echo", "{}")
			close(asked)
			<-done
			var stranger *StrangerError
			if err == nil || c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &stranger) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// awaitInput waits until a connection has input, without reading it.
func awaitInput(t *testing.T, c *net.UnixConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Error(err)
		return
	}
	if err := raw.Read(func(fd uintptr) bool { return hasInput(int(fd)) }); err != nil {
		t.Error(err)
	}
}

func hasInput(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}
