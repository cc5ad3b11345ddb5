package keeper

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// The keeper's socket carries JSON lines. A spawn request brings the child's three streams as descriptors.

// request is what the pool asks of the keeper.
type request struct {
	ID    int64    `json:"id,omitzero"`
	Spawn []string `json:"spawn,omitzero"` // argument vector, an absolute program first
	Env   []string `json:"env,omitzero"`
	Dir   string   `json:"dir,omitzero"`
	Stop  int      `json:"stop,omitzero"`  // the group of this process is to end
	Grace int64    `json:"grace,omitzero"` // milliseconds from SIGTERM to SIGKILL
}

// reply is what the keeper tells: the answer to a spawn (ID set), the exit of a process, or that its whole group is gone.
type reply struct {
	ID    int64  `json:"id,omitzero"`
	PID   int    `json:"pid,omitzero"`
	Error string `json:"error,omitzero"`
	Exit  string `json:"exit,omitzero"` // how the process ended
	Gone  bool   `json:"gone,omitzero"` // nobody of its group is left
}

// graceOfOrphans is how long servers have to end after SIGTERM when their owner is gone. Nobody waits for their answers any more.
const graceOfOrphans = time.Second

// sweepEvery is how often the keeper looks for processes to end while it ends some; every end of a process makes it look besides.
const sweepEvery = 20 * time.Millisecond

// socketFD is where the keeper finds its socket; its standard input is the alternative.
const socketFD = 3

// Run is the body of the keeper process: it spawns servers on request of the daemon, owns their process groups, and ends
// all of them, grandchildren too, when the daemon's end of its socket closes. It never returns before they are gone.
func Run() error {
	conn, err := openSocket()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keeper: become a sub-reaper: %w", err)
	}
	// The owner decides when we end. The signals are caught, not ignored: what is ignored stays ignored in the children.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	defer signal.Stop(caught)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	// A child's parent-death signal follows the thread that made it: this one lives as long as the keeper.
	runtime.LockOSThread()
	k := &keeper{conn: conn, groups: map[int]*group{}}
	requests := make(chan spawnRequest)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.receive(requests)
	}()
	k.serve(requests, children)
	<-done
	return nil
}

// openSocket opens the socket that the keeper was given, and keeps it from its children.
func openSocket() (*net.UnixConn, error) {
	for _, fd := range []int{socketFD, 0} {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
			continue
		}
		f := os.NewFile(uintptr(fd), "keeper")
		c, err := net.FileConn(f) // a copy that is closed on exec
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("keeper: open its socket: %w", err)
		}
		if u, ok := c.(*net.UnixConn); ok {
			return u, nil
		}
		_ = c.Close()
	}
	return nil, errors.New("keeper: no socket on descriptor 3 or 0 (this command is started by the daemon, not by people)")
}

// keeper is the state of the keeper process. One goroutine owns it.
type keeper struct {
	conn   *net.UnixConn
	groups map[int]*group   // by the id of the first process
	found  map[string][]int // processes by the mark of their server, at the last look
	looked time.Time
}

// group is a server and what it started, as long as somebody of it is left.
type group struct {
	mark     string    // what its processes have in their environment
	led      bool      // its first process still runs, or is not reaped yet
	stopping bool      // it is to end
	told     bool      // … and was told so
	warned   []int     // who left it and was told so
	empty    time.Time // when nobody was left in it; zero: somebody is
	kill     time.Time // when SIGKILL is due; good while stopping
}

// spawnRequest is a request with the descriptors that came with it.
type spawnRequest struct {
	request
	fds []int
}

// receive reads requests until the owner is gone.
func (k *keeper) receive(out chan<- spawnRequest) {
	defer close(out)
	in := newFDReader(k.conn)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r spawnRequest
		if json.Unmarshal(line, &r.request) != nil {
			break // not our owner
		}
		if r.Spawn != nil {
			if r.fds = in.take(3); r.fds == nil {
				break
			}
		}
		out <- r
	}
	in.close()
}

// serve does what is asked until the owner is gone, and then ends everything.
func (k *keeper) serve(requests <-chan spawnRequest, children <-chan os.Signal) {
	tick := time.NewTicker(sweepEvery)
	tick.Stop()
	for {
		select {
		case r, ok := <-requests:
			if !ok {
				k.endAll(children)
				return
			}
			if r.Spawn != nil {
				k.spawn(r)
			} else if r.Stop > 0 {
				k.stop(r.Stop, time.Duration(r.Grace)*time.Millisecond)
			}
		case <-children:
			k.reap()
		case <-tick.C:
		}
		if k.sweep() {
			tick.Reset(sweepEvery)
		} else {
			tick.Stop()
		}
	}
}

// spawn starts a process in a group of its own.
func (k *keeper) spawn(r spawnRequest) {
	mark := newMark()
	pid, err := syscall.ForkExec(r.Spawn[0], r.Spawn, &syscall.ProcAttr{
		Dir: r.Dir, Env: append([]string{MarkVar + "=" + mark}, r.Env...), Files: []uintptr{uintptr(r.fds[0]), uintptr(r.fds[1]), uintptr(r.fds[2])},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}, // should somebody kill the keeper
	})
	for _, fd := range r.fds {
		_ = unix.Close(fd) // it was only passed on
	}
	if err != nil {
		k.tell(reply{ID: r.ID, Error: err.Error()})
		return
	}
	k.groups[pid] = &group{led: true, mark: mark}
	k.tell(reply{ID: r.ID, PID: pid})
}

// tell sends a reply. An owner that is gone is found by the reader.
func (k *keeper) tell(r reply) {
	b, err := json.Marshal(r)
	if err == nil {
		_, _ = k.conn.Write(append(b, '\n'))
	}
}

// stop has a group ended: the next sweep tells it.
func (k *keeper) stop(pid int, grace time.Duration) {
	if g := k.groups[pid]; g != nil {
		g.stopping, g.kill = true, time.Now().Add(grace)
	}
}

// reap takes every child that has ended, also those that were adopted; true if no child is left.
func (k *keeper) reap() bool {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return errors.Is(err, unix.ECHILD)
		}
		if g := k.groups[pid]; g != nil {
			g.led = false
			k.tell(reply{PID: pid, Exit: exitText(status)})
		}
	}
}

func exitText(s unix.WaitStatus) string {
	if s.Signaled() {
		return "signal: " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}

// sweep tells the groups that are to end, kills those whose grace is over, and forgets those of which nobody is left; true while some wait for
// their end. A group whose server ended by itself waits for the order to end: somebody of it may have left it.
func (k *keeper) sweep() bool {
	k.look()
	waiting := false
	for pid, g := range k.groups {
		switch {
		case !g.stopping:
			continue
		case !g.empty.IsZero() && !k.looked.Before(g.empty) && len(k.found[g.mark]) == 0:
			delete(k.groups, pid)
			k.tell(reply{PID: pid, Gone: true})
			continue
		case time.Now().After(g.kill):
			_ = unix.Kill(-pid, unix.SIGKILL)
			g.signal(pid, k.found[g.mark], unix.SIGKILL)
		}
		waiting = true
	}
	return waiting
}

// endAll ends every descendant, also one that left its group: whose parents die becomes our child, so that nobody is left when we have
// no children.
func (k *keeper) endAll(children <-chan os.Signal) {
	for pid := range k.groups {
		_ = unix.Kill(-pid, unix.SIGTERM)
	}
	signalAll(unix.SIGTERM)
	kill := time.Now().Add(graceOfOrphans)
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for !k.reap() {
		if time.Now().After(kill) {
			for pid := range k.groups {
				_ = unix.Kill(-pid, unix.SIGKILL)
			}
			signalAll(unix.SIGKILL)
		}
		select {
		case <-children:
		case <-tick.C:
		}
	}
}

// signalAll sends a signal to every descendant.
func signalAll(sig unix.Signal) {
	for _, pid := range Descendants(os.Getpid()) {
		_ = unix.Kill(pid, sig)
	}
}

// fdReader reads a socket and keeps the descriptors that come with its bytes.
type fdReader struct {
	conn *net.UnixConn
	oob  []byte
	fds  []int
}

func newFDReader(c *net.UnixConn) *fdReader {
	return &fdReader{conn: c, oob: make([]byte, unix.CmsgSpace(4*3))}
}

func (r *fdReader) Read(p []byte) (int, error) {
	n, oobn, _, _, err := r.conn.ReadMsgUnix(p, r.oob)
	if oobn > 0 {
		messages, perr := unix.ParseSocketControlMessage(r.oob[:oobn])
		if perr != nil {
			return n, perr
		}
		for i := range messages {
			fds, perr := unix.ParseUnixRights(&messages[i])
			if perr != nil {
				return n, perr
			}
			for _, fd := range fds {
				unix.CloseOnExec(fd)
			}
			r.fds = append(r.fds, fds...)
		}
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

// take returns the next n descriptors; nil if there are fewer.
func (r *fdReader) take(n int) []int {
	if len(r.fds) < n {
		return nil
	}
	fds := r.fds[:n:n]
	r.fds = r.fds[n:]
	return fds
}

func (r *fdReader) close() {
	for _, fd := range r.fds {
		_ = unix.Close(fd)
	}
}
