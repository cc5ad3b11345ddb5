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

	"mycelium/internal/op"
	"mycelium/internal/rawjson"
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
	owner int // the process at the other end
	lines *rpc.Lines
	last  int64
	gone  error // why the connection cannot be used any more
	// Told, if set, is called with each notification that comes while a call waits for its answer. It must not call the client.
	Told func(method string, params []byte)
}

// Dial attaches to a running owner, and both prove to each other that they know the project's key. The error is ErrNotRunning if there is
// no owner, and a *StrangerError if what answers does not prove that it is the owner. Dial returns once the owner has answered: an owner
// that is about to end may still let clients connect, but does not answer them.
func Dial(ctx context.Context, p Paths) (*Client, error) {
	conn, who, err := connect(ctx, p)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, owner: who.PID, lines: rpc.NewLines(conn, maxMessage)}
	greet, cancel := context.WithTimeout(ctx, maxHello)
	err = c.greet(greet, p, who.PID)
	cancel()
	if ended(err) {
		err = ErrNotRunning
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("attach to the daemon: %w", err)
	}
	return c, nil
}

// Owner is the process id of the owner.
func (c *Client) Owner() int { return c.owner }

// greet exchanges proofs with the owner, which the kernel reports as this process.
func (c *Client) greet(ctx context.Context, p Paths, pid int) error {
	nonce, err := newNonce()
	if err != nil {
		return err
	}
	socket := c.conn.RemoteAddr().String()
	k, err := readKey(p.Key)
	if err != nil {
		return stranger(socket, pid, err.Error())
	}
	var h hello
	if err := c.Call(ctx, helloMethod, greeting{nonce}, &h); ended(err) || ctx.Err() != nil {
		return err
	} else if err != nil {
		return stranger(socket, pid, "it does not answer a greeting: "+err.Error())
	}
	owner, own := processes(pid, os.Getpid())
	if !same(h.Proof, k.prove(daemonRole, nil, nonce, h.Nonce, owner, own)) {
		return stranger(socket, pid, "it does not prove that it knows the key of this project's state")
	}
	proof := rawjson.Object(rawjson.Field{Name: "proof", Value: rawjson.Quote(k.prove(clientRole, nil, nonce, h.Nonce, owner, own))})
	_, err = c.conn.Write(append(rpc.Message{Method: proveMethod, Params: proof}.Append(nil), '\n'))
	return err
}

// connect connects to the owner's socket, and returns the process that listens there, which must be this user's.
func connect(ctx context.Context, p Paths) (*net.UnixConn, op.Caller, error) {
	var err error
	for _, path := range sockets(p) {
		var conn net.Conn
		if conn, err = (&net.Dialer{}).DialContext(ctx, "unix", path); err != nil {
			continue
		}
		c, ok := conn.(*net.UnixConn)
		if !ok { // cannot happen: the network is "unix"
			_ = conn.Close()
			return nil, op.Caller{}, errors.New("attach to the daemon: not a Unix socket")
		}
		who, perr := peer(c)
		if perr == nil && own(who) {
			return c, who, nil
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
	return nil, op.Caller{}, fmt.Errorf("attach to the daemon: %w", err)
}

// sockets returns the paths where the owner may listen: the one in the lock file, then the one where an owner in this environment would
// listen. The order makes clients of every environment look in the same place first.
func sockets(p Paths) []string {
	raw, err := os.ReadFile(p.Lock)
	path := rawjson.TextAt(raw, "socket")
	if err != nil || !filepath.IsAbs(path) || len(path) > maxSocketPath || path == p.Socket {
		return []string{p.Socket}
	}
	return []string{path, p.Socket}
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
		if c.Told != nil && m.Method != "" && !m.IsRequest() {
			c.Told(m.Method, m.Params)
		}
	}
}

// Wait returns when the owner is gone, with nil, or when ctx ends. It discards the messages of the owner. The client cannot be used any
// more.
func (c *Client) Wait(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })()
		for c.gone == nil {
			_, c.gone = c.lines.Next()
		}
		_ = c.conn.Close()
	}
	return ctx.Err()
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
