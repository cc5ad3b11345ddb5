package backend

import (
	"bufio"
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

// newSpawner starts processes through a keeper, or as our own children where none is configured.
func newSpawner(argv []string, vars variables, logger *slog.Logger) spawner {
	if len(argv) == 0 {
		return &direct{}
	}
	return &kept{argv: argv, vars: vars, logger: logger}
}

// kept starts processes through a keeper process, which is started at the first need, and again should it die.
type kept struct {
	argv   []string
	vars   variables
	logger *slog.Logger
	wg     sync.WaitGroup

	mu      sync.Mutex
	conn    *net.UnixConn // nil: no keeper runs
	last    int64
	waiting map[int64]*birth
	alive   map[int]*life
}

// birth is a spawn request that waits for its answer.
type birth struct {
	proc *process // pid and stop are set by the answer
	done chan error
}

// life is a process whose group is not gone yet.
type life struct {
	proc *process
	gone chan struct{}
}

// spawnTimeout is how long the keeper may take to start a process: it does nothing else but fork.
const spawnTimeout = 10 * time.Second

var errKeeperGone = errors.New("the keeper of the server processes ended")

func (s *kept) spawn(argv, env []string, dir string) (*process, error) {
	ends, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer closeAll(ends.child[:])
	b := &birth{
		proc: &process{stdin: ends.ours[0], stdout: ends.ours[1], stderr: ends.ours[2], exited: make(chan struct{})},
		done: make(chan error, 1),
	}
	if err := s.ask(keeperRequest{Spawn: argv, Env: env, Dir: dir}, b, ends.child[:]); err != nil {
		closeAll(ends.ours[:])
		return nil, err
	}
	late := time.NewTimer(spawnTimeout)
	defer late.Stop()
	select {
	case err = <-b.done:
	case <-late.C:
		s.give() // whatever it is at, it is not working: its end ends all that it started
		err = <-b.done
	}
	if err != nil {
		closeAll(ends.ours[:])
		return nil, fmt.Errorf("start process: %w", err)
	}
	return b.proc, nil
}

// ask sends a request with descriptors to the keeper, starting one if needed.
func (s *kept) ask(r keeperRequest, b *birth, files []*os.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		if err := s.begin(); err != nil {
			return fmt.Errorf("start the keeper process: %w", err)
		}
	}
	s.last++
	r.ID = s.last
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("the command or its environment is not valid UTF-8: %w", err)
	}
	line = append(line, '\n')
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd()) // makes the child's end blocking, as programs expect
	}
	s.waiting[r.ID] = b
	n, _, err := s.conn.WriteMsgUnix(line, unix.UnixRights(fds...), nil)
	if err == nil && n < len(line) {
		_, err = s.conn.Write(line[n:])
	}
	if err != nil {
		delete(s.waiting, r.ID)
		return errKeeperGone
	}
	return nil
}

// begin starts a keeper. The lock is held.
func (s *kept) begin() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "keeper"), os.NewFile(uintptr(pair[1]), "keeper")
	defer theirs.Close()
	c, err := net.FileConn(ours)
	_ = ours.Close()
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	// Its environment is as bare as that of a server; and it is in a group of its own, out of the reach of a terminal's ^C.
	bare := (&Server{}).childEnv(&expander{vars: s.vars})
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles = bare, "/", []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = c.Close()
		return startError(err)
	}
	s.conn, s.waiting, s.alive = c.(*net.UnixConn), map[int64]*birth{}, map[int]*life{}
	conn := s.conn
	s.wg.Go(func() {
		s.listen(conn)
		_ = conn.Close()
		err := cmd.Wait()
		s.logger.Debug("keeper ended", "error", err)
	})
	return nil
}

// listen takes the keeper's replies until it is gone.
func (s *kept) listen(conn *net.UnixConn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadBytes('\n')
		var r keeperReply
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			s.lost(conn)
			return
		}
		s.hear(r)
	}
}

func (s *kept) hear(r keeperReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.waiting[r.ID]; r.ID != 0 && b != nil {
		delete(s.waiting, r.ID)
		if r.Error != "" {
			b.done <- errors.New(r.Error)
			return
		}
		l := &life{proc: b.proc, gone: make(chan struct{})}
		b.proc.pid = r.PID
		b.proc.stop = func(grace time.Duration) { s.stop(l, grace) }
		s.alive[r.PID] = l
		b.done <- nil
		return
	}
	l := s.alive[r.PID]
	switch {
	case l == nil:
	case r.Gone:
		delete(s.alive, r.PID)
		close(l.gone)
	default:
		l.proc.gone(r.Exit)
	}
}

// lost ends what a keeper that is gone has left: the groups by our own hand. Its children die with it by the parent-death signal.
func (s *kept) lost(conn *net.UnixConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != conn {
		return
	}
	s.conn = nil
	for _, b := range s.waiting {
		b.done <- errKeeperGone
	}
	for pid, l := range s.alive {
		_ = unix.Kill(-pid, unix.SIGKILL)
		select {
		case <-l.proc.exited:
		default:
			l.proc.mu.Lock()
			l.proc.blameless = true
			l.proc.mu.Unlock()
			l.proc.gone("killed: " + errKeeperGone.Error())
		}
		close(l.gone)
	}
	s.waiting, s.alive = nil, nil
}

// stop has a group ended and waits until nobody of it is left.
func (s *kept) stop(l *life, grace time.Duration) {
	s.mu.Lock()
	if s.conn != nil {
		line, err := json.Marshal(keeperRequest{Stop: l.proc.pid, Grace: grace.Milliseconds()})
		if err == nil {
			_, _ = s.conn.Write(append(line, '\n')) // a keeper that is gone is found by listen
		}
	}
	s.mu.Unlock()
	<-l.gone
}

// give closes the keeper's socket, upon which it ends everything and itself.
func (s *kept) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.CloseWrite()
	}
}

// close ends the keeper and waits for it.
func (s *kept) close() {
	s.give()
	s.wg.Wait()
}
