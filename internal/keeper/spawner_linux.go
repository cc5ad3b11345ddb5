package keeper

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// New returns a spawner that starts processes through a keeper process. argv is the argument vector of the keeper, env its
// environment, and dir the folder of its note for [EndLeft]; empty: there is none. Without argv the processes are children of this one.
func New(argv, env []string, dir string, logger *slog.Logger) Spawner {
	if len(argv) == 0 {
		return &direct{}
	}
	return &client{argv: argv, env: env, dir: dir, logger: logger}
}

// client starts processes through a keeper process. The keeper is started at the first need, and started again if it dies.
type client struct {
	argv   []string
	env    []string
	dir    string // of the records; empty: they have no files
	logger *slog.Logger
	wg     sync.WaitGroup

	mu      sync.Mutex
	conn    *net.UnixConn // nil: no keeper runs
	id      string        // of that keeper
	last    int64         // id of the last request
	waiting map[int64]*spawnCall
	alive   map[int]*child // by the id of the first process
	closed  bool
}

// spawnCall is a spawn request that waits for its reply.
type spawnCall struct {
	proc *Process // PID and stopGroup are set by the reply
	done chan error
}

// child is a process whose group still exists.
type child struct {
	proc *Process
	gone chan struct{} // closed when nobody of the group is left
}

// spawnTimeout is how long the keeper may take to start a process. It only has to fork.
const spawnTimeout = 10 * time.Second

var errKeeperDied = errors.New("the keeper of the server processes ended")

// Spawn starts a program as a child of the keeper. A keeper that ends meanwhile has a successor, which is asked once; one that Close ends has
// none.
func (c *client) Spawn(argv, env []string, dir string) (*Process, error) {
	p, err := c.spawn(argv, env, dir)
	if !errors.Is(err, errKeeperDied) {
		return p, err
	}
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return nil, err
	}
	return c.spawn(argv, env, dir)
}

func (c *client) spawn(argv, env []string, dir string) (*Process, error) {
	ends, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer closeAll(ends.child[:])
	call := &spawnCall{
		proc: &Process{Stdin: ends.ours[0], Stdout: ends.ours[1], Stderr: ends.ours[2], Exited: make(chan struct{})},
		done: make(chan error, 1),
	}
	if err := c.send(request{Spawn: argv, Env: env, Dir: dir}, call, ends.child[:]); err != nil {
		closeAll(ends.ours[:])
		return nil, err
	}
	late := time.NewTimer(spawnTimeout)
	defer late.Stop()
	select {
	case err = <-call.done:
	case <-late.C:
		c.hangUp() // the keeper hangs; its end ends everything that it started
		err = <-call.done
	}
	if err != nil {
		closeAll(ends.ours[:])
		return nil, fmt.Errorf("start process: %w", err)
	}
	return call.proc, nil
}

// send sends a spawn request with its descriptors to the keeper, and starts a keeper if none runs.
func (c *client) send(r request, call *spawnCall, files []*os.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		if err := c.startKeeper(); err != nil {
			return fmt.Errorf("start the keeper process: %w", err)
		}
	}
	c.last++
	r.ID = c.last
	r.Mark = c.id + "." + rand.Text()
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("the command or its environment is not valid UTF-8: %w", err)
	}
	line = append(line, '\n')
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd()) // makes the child's end blocking, as programs expect
	}
	c.waiting[r.ID] = call
	n, _, err := c.conn.WriteMsgUnix(line, unix.UnixRights(fds...), nil)
	if err == nil && n < len(line) {
		_, err = c.conn.Write(line[n:])
	}
	if err != nil {
		c.logger.Debug("ask the keeper", "error", err) // it is ending, and receive answers the call when it has ended
	}
	return nil
}

// startKeeper starts a keeper process. The lock is held.
func (c *client) startKeeper() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "keeper"), os.NewFile(uintptr(pair[1]), "keeper")
	defer theirs.Close()
	netConn, err := net.FileConn(ours)
	_ = ours.Close()
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	note, err := newRecord(c.dir)
	if err != nil {
		_ = netConn.Close()
		return err
	}
	cmd, err := c.startIn(note, theirs)
	if err != nil {
		_ = netConn.Close()
		note.remove()
		return startError(err)
	}
	conn := netConn.(*net.UnixConn)
	c.conn, c.id, c.waiting, c.alive = conn, note.id, map[int64]*spawnCall{}, map[int]*child{}
	c.wg.Go(func() {
		c.receive(conn)
		children := c.keeperDied(conn)
		_ = conn.Close()
		err := cmd.Wait()
		c.logger.Debug("keeper ended", "error", err)
		if err == nil || note.end(c.logger) { // a keeper that ended by itself leaves nothing behind
			note.remove()
		}
		for _, p := range children {
			close(p.gone)
		}
	})
	return nil
}

// startIn starts a keeper process in its cgroup, or without one where the system does not let it.
func (c *client) startIn(note *record, socket *os.File) (*exec.Cmd, error) {
	command := func() *exec.Cmd {
		cmd := exec.Command(c.argv[0], c.argv[1:]...)
		cmd.Env, cmd.Dir, cmd.ExtraFiles = c.env, "/", []*os.File{socket}
		if note.file != nil {
			cmd.ExtraFiles = append(cmd.ExtraFiles, note.file) // its lock lasts as long as the keeper does
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // out of the reach of a terminal's ^C
		return cmd
	}
	if note.cgroup != "" {
		if dir, err := os.Open(note.cgroup); err == nil {
			defer func() { _ = dir.Close() }()
			cmd := command()
			cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
			if cmd.Start() == nil {
				return cmd, nil
			}
		}
		note.removeCgroup()
	}
	cmd := command()
	return cmd, cmd.Start()
}

// receive handles the keeper's replies until the keeper is gone.
func (c *client) receive(conn *net.UnixConn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadBytes('\n')
		var r reply
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			return
		}
		c.handle(r)
	}
}

func (c *client) handle(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.waiting[r.ID]; r.ID != 0 && call != nil {
		delete(c.waiting, r.ID)
		if r.Error != "" {
			call.done <- errors.New(r.Error)
			return
		}
		p := &child{proc: call.proc, gone: make(chan struct{})}
		call.proc.PID = r.PID
		call.proc.stopGroup = func(grace time.Duration) { c.stop(p, grace) }
		c.alive[r.PID] = p
		call.done <- nil
		return
	}
	p := c.alive[r.PID]
	switch {
	case p == nil:
	case r.Gone:
		delete(c.alive, r.PID)
		close(p.gone)
	default:
		p.proc.exit(r.Exit, false)
	}
}

// keeperDied ends what a dead keeper has left behind in the groups that it kept, and returns these. Its children die with it by their
// parent-death signal; the rest of their groups is killed here.
func (c *client) keeperDied(conn *net.UnixConn) (children []*child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != conn {
		return nil
	}
	c.conn = nil
	for _, call := range c.waiting {
		call.done <- errKeeperDied
	}
	for pid, p := range c.alive {
		_ = unix.Kill(-pid, unix.SIGKILL)
		select {
		case <-p.proc.Exited:
		default:
			p.proc.exit("killed: "+errKeeperDied.Error(), true)
		}
		children = append(children, p)
	}
	c.waiting, c.alive = nil, nil
	return children
}

// stop asks the keeper to end a group, and waits until nobody of it is left.
func (c *client) stop(p *child, grace time.Duration) {
	c.mu.Lock()
	if c.conn != nil {
		line, err := json.Marshal(request{Stop: p.proc.PID, Grace: grace.Milliseconds()})
		if err == nil {
			_, _ = c.conn.Write(append(line, '\n')) // receive notices when the keeper is gone
		}
	}
	c.mu.Unlock()
	<-p.gone
}

// hangUp closes our half of the keeper's socket. The keeper then ends everything and itself.
func (c *client) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.CloseWrite()
	}
}

// Close ends the keeper and waits for it.
func (c *client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.hangUp()
	c.wg.Wait()
}
