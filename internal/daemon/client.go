package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/rpc"
)

// maxMessage bounds one message, in bytes. A method may set a lower bound for its requests.
const maxMessage = 64 << 20

// maxHello is how long Dial waits for the owner's greeting, which takes milliseconds unless the owner is frozen.
const maxHello = 10 * time.Second

// Client talks to an owner. It makes one call at a time; for concurrent calls, dial several clients.
type Client struct {
	mu    sync.Mutex
	conn  *net.UnixConn
	lines *rpc.Lines
	last  int64
	gone  error // why the connection cannot be used any more
}

// Dial attaches to a running owner. The error is ErrNotRunning if there is none. Dial returns once the owner has answered: an owner that
// is about to end may still let clients connect, but does not answer them.
func Dial(ctx context.Context, p Paths) (*Client, error) {
	conn, err := connect(ctx, p)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, lines: rpc.NewLines(conn, maxMessage)}
	var h hello
	greet, cancel := context.WithTimeout(ctx, maxHello)
	err = c.Call(greet, helloMethod, nil, &h)
	cancel()
	if ended(err) {
		err = ErrNotRunning
	}
	if err == nil && !sameFile(h.Lock, p.Lock) {
		err = fmt.Errorf("%w: %s names the socket of another project", ErrNotRunning, p.Lock)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("attach to the daemon: %w", err)
	}
	return c, nil
}

// connect connects to the owner's socket, and checks that the process which listens there is this user's.
func connect(ctx context.Context, p Paths) (*net.UnixConn, error) {
	var err error
	for _, path := range sockets(p) {
		var conn net.Conn
		if conn, err = (&net.Dialer{}).DialContext(ctx, "unix", path); err != nil {
			continue
		}
		c, ok := conn.(*net.UnixConn)
		if !ok { // cannot happen: the network is "unix"
			_ = conn.Close()
			return nil, errors.New("attach to the daemon: not a Unix socket")
		}
		who, perr := peer(c)
		if perr == nil && own(who) {
			return c, nil
		}
		_ = c.Close()
		err = fmt.Errorf("the socket %s belongs to another user", path)
		if perr != nil {
			err = perr
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		err = ErrNotRunning
	}
	return nil, fmt.Errorf("attach to the daemon: %w", err)
}

// sameFile reports whether two paths name one file. The lock file, which names the owner's socket, may have come with a cloned
// repository: the owner that answers there must hold this same file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// sockets returns the paths where the owner may listen: the one that follows from our environment, then the one in the lock file.
func sockets(p Paths) []string {
	var n note
	raw, err := os.ReadFile(p.Lock)
	if err == nil && json.Unmarshal(raw, &n) == nil && filepath.IsAbs(n.Socket) && len(n.Socket) <= maxSocketPath && n.Socket != p.Socket {
		return []string{p.Socket, n.Socket}
	}
	return []string{p.Socket}
}

// ended reports whether an error means that the other side is gone.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// Call calls a method and decodes the result into out, a pointer or nil. The error is an *rpc.Error if the owner refuses. If ctx ends
// before the answer, Call closes the connection, and the owner cancels the call.
func (c *Client) Call(ctx context.Context, method string, params, out any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.call(ctx, method, params, out)
}

func (c *Client) call(ctx context.Context, method string, params, out any) error {
	if c.gone != nil {
		return c.gone
	}
	var raw []byte
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return fmt.Errorf("call %s: write the params as JSON: %w", method, err)
		}
	}
	if len(raw) > maxMessage/2 { // checked here, because the owner cannot read the id of a message that is too long
		return fmt.Errorf("call %s: %w", method, rpc.ErrTooLong)
	}
	c.last++
	id := strconv.FormatInt(c.last, 10)
	m, err := c.exchange(ctx, rpc.Message{ID: []byte(id), Method: method, Params: raw})
	if err != nil {
		c.gone = fmt.Errorf("call %s: %w", method, err)
		_ = c.conn.Close()
		return c.gone
	}
	if m.Error != nil {
		return fmt.Errorf("call %s: %w", method, rpc.ErrorOf(m.Error))
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, out); err != nil {
		return fmt.Errorf("call %s: read the answer: %w", method, err)
	}
	return nil
}

// exchange sends a request and reads its answer.
func (c *Client) exchange(ctx context.Context, req rpc.Message) (rpc.Message, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := c.conn.Write(append(req.Append(nil), '\n')); err != nil {
		return rpc.Message{}, errors.Join(ctx.Err(), err)
	}
	for {
		line, err := c.lines.Next()
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return rpc.Message{}, err
		}
		m, bad := rpc.Parse(append([]byte(nil), line...))
		if bad != nil {
			return rpc.Message{}, fmt.Errorf("the daemon sent an invalid message: %w", bad)
		}
		if m.IsResponse() && string(m.ID) == string(req.ID) {
			if !stop() { // ctx has just ended, and the deadline may be set by now
				return rpc.Message{}, ctx.Err()
			}
			return m, nil
		}
	}
}

// Stream opens a stream and returns its connection, which the caller must close. The client cannot be used any more.
func (c *Client) Stream(ctx context.Context, method string, params, out any) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.call(ctx, method, params, out); err != nil {
		return nil, err
	}
	c.gone = fmt.Errorf("the connection was handed over to stream %s", method)
	return &streamConn{Conn: c.conn, r: c.lines.Rest()}, nil
}

// Close closes the connection, unless it belongs to a stream.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone != nil {
		return nil
	}
	c.gone = net.ErrClosed
	return c.conn.Close()
}
