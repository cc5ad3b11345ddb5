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
	"slices"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// The keeper's socket carries JSON lines. A spawn request brings the child's three streams as descriptors.

// request is a request of the owner to the keeper.
type request struct {
	ID    int64    `json:"id,omitzero"`
	Spawn []string `json:"spawn,omitzero"` // argument vector, an absolute program first
	Env   []string `json:"env,omitzero"`
	Dir   string   `json:"dir,omitzero"`
	Mark  string   `json:"mark,omitzero"`  // value of MarkVar: the id of the keeper, a dot, and what no other child of it has
	Stop  int      `json:"stop,omitzero"`  // end the group of this process
	Grace int64    `json:"grace,omitzero"` // milliseconds from SIGTERM to SIGKILL
}

// reply is a message of the keeper: the answer to a spawn request (ID is set), the exit of a process, or the end of its whole group.
type reply struct {
	ID    int64  `json:"id,omitzero"`
	PID   int    `json:"pid,omitzero"`
	Error string `json:"error,omitzero"`
	Exit  string `json:"exit,omitzero"` // how the process ended
	Gone  bool   `json:"gone,omitzero"` // no process of its group is left
}

// orphanGrace is how long servers have to end after SIGTERM when the owner is gone. Nobody waits for their answers then.
const orphanGrace = time.Second

// sweepEvery is how often the keeper checks the groups that are to end. It also checks them whenever a process exits.
const sweepEvery = 20 * time.Millisecond

// socketFD is the descriptor of the keeper's socket. Standard input is the alternative. recordFD is that of its note on disk, which only
// has to stay open.
const (
	socketFD = 3
	recordFD = 4
)

// Run is the body of the keeper process. It starts servers at the request of its owner, and ends all of them, grandchildren too, when
// the owner's end of the socket closes. It returns when they are gone.
func Run() error {
	guarded := os.Getenv(guardedVar) != ""
	if !guarded && slices.ContainsFunc(socketFDs[:], func(fd int) bool { return isKind(fd, unix.S_IFSOCK) }) {
		if started, err := guard(); started {
			return err
		}
	}
	conn, err := openSocket()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	unix.CloseOnExec(recordFD) // a child that outlives the keeper must not hold the lock
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keeper: become a sub-reaper: %w", err)
	}
	// The owner decides when the keeper ends. The signals are caught and not ignored, because children inherit ignored signals.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	defer signal.Stop(caught)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	// A child gets its parent-death signal when the thread that started it ends. This thread lives as long as the keeper.
	runtime.LockOSThread()
	k := &keeper{conn: conn, groups: map[int]*group{}}
	if guarded {
		whenGuardEnds(func() { _ = conn.CloseRead() }) // the same as the end of the owner
	}
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

// socketFDs are the descriptors on which the socket can be.
var socketFDs = [...]int{socketFD, 0}

// isKind reports whether a descriptor is open and of a type of file (unix.S_IFSOCK, unix.S_IFREG).
func isKind(fd int, kind uint32) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == kind
}

// openSocket opens the socket that the keeper was started with. Children do not inherit it.
func openSocket() (*net.UnixConn, error) {
	for _, fd := range socketFDs {
		if !isKind(fd, unix.S_IFSOCK) {
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
	conn    *net.UnixConn
	groups  map[int]*group   // by the id of the first process
	strays  map[string][]int // processes that may have left their group, by mark, at the last scan
	scanned time.Time
	ending  bool // by endAll
}

// group is a server and the processes that it started, as long as one of them is left.
type group struct {
	mark         string    // in the environment of its processes
	leaderAlive  bool      // its first process runs, or is not reaped yet
	stopping     bool      // the owner asked for its end
	termSent     bool      // SIGTERM was sent
	straysTermed []int     // processes outside of the group that got SIGTERM
	empty        time.Time // when the last process of the group ended; zero: one is left
	kill         time.Time // when SIGKILL is due; good while stopping
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
			break // this is not our owner
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

// serve handles requests until the owner is gone, and then ends everything.
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
	pid, err := syscall.ForkExec(r.Spawn[0], r.Spawn, &syscall.ProcAttr{
		Dir: r.Dir, Env: append([]string{MarkVar + "=" + r.Mark}, r.Env...),
		Files: []uintptr{uintptr(r.fds[0]), uintptr(r.fds[1]), uintptr(r.fds[2])},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}, // in case somebody kills the keeper
	})
	for _, fd := range r.fds {
		_ = unix.Close(fd) // the child has its own copy
	}
	if err != nil {
		k.send(reply{ID: r.ID, Error: err.Error()})
		return
	}
	k.groups[pid] = &group{leaderAlive: true, mark: r.Mark}
	k.send(reply{ID: r.ID, PID: pid})
}

// send sends a reply. The reader notices when the owner is gone.
func (k *keeper) send(r reply) {
	b, err := json.Marshal(r)
	if err == nil {
		_, _ = k.conn.Write(append(b, '\n'))
	}
}

// stop marks a group for its end. The next sweep sends the signal.
func (k *keeper) stop(pid int, grace time.Duration) {
	if g := k.groups[pid]; g != nil {
		g.stopping, g.kill = true, time.Now().Add(grace)
	}
}

// reap waits for every child that has exited, adopted children too. It reports whether no child is left.
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
			g.leaderAlive = false
			if !k.ending { // a process that the keeper ends did not end by itself: the owner is told by the keeper's end
				k.send(reply{PID: pid, Exit: exitText(status)})
			}
		}
	}
}

func exitText(s unix.WaitStatus) string {
	if s.Signaled() {
		return "signal: " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}

// sweep sends SIGTERM to the groups that are to end, kills those whose grace is over, and removes those that are gone. It reports
// whether some have still to end. A group whose server ended by itself stays until the owner asks for its end, because processes may
// have left the group.
func (k *keeper) sweep() bool {
	k.scan()
	waiting := false
	for pid, g := range k.groups {
		switch {
		case !g.stopping:
			continue
		case !g.empty.IsZero() && !k.scanned.Before(g.empty) && len(k.strays[g.mark]) == 0:
			delete(k.groups, pid)
			k.send(reply{PID: pid, Gone: true})
			continue
		case time.Now().After(g.kill):
			_ = unix.Kill(-pid, unix.SIGKILL)
			g.signal(pid, k.strays[g.mark], unix.SIGKILL)
		}
		waiting = true
	}
	return waiting
}

// endAll ends every descendant, also those that left their group. A process whose parent dies becomes our child, so that no process
// is left when we have no children.
func (k *keeper) endAll(children <-chan os.Signal) {
	k.ending = true
	for pid := range k.groups {
		_ = unix.Kill(-pid, unix.SIGTERM)
	}
	signalAll(unix.SIGTERM)
	kill := time.Now().Add(orphanGrace)
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

// fdReader reads a socket and keeps the descriptors that come with the bytes.
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
