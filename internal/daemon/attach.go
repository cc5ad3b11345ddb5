package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/atomicfile"
)

// The bounds of starting an owner.
const (
	maxStart = 30 * time.Second // from its start to its first answer; a context may set less
	maxTries = 5                // because other processes may start and end owners at the same time
	tailSize = 4 << 10          // bytes of the log that an error shows
)

// Attach dials the owner. If there is no owner, it starts one with argv, detached (own session, log file, given environment), and waits
// until that answers. A process that answers at the socket without the lock is no owner, and loses its place to the one that starts.
// Several processes may call Attach at once: one of the started owners takes the lock, and all of them attach to it. If the started process
// ends at once, the error shows the end of its log.
func Attach(ctx context.Context, p Paths, argv, environ []string) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, maxStart)
	defer cancel()
	var failed error
	for range maxTries {
		c, err := Dial(ctx, p)
		var other *StrangerError
		if !errors.Is(err, ErrNotRunning) && (!errors.As(err, &other) || Owned(p)) {
			return c, err
		}
		if failed != nil && !Owned(p) {
			return nil, failed
		}
		if failed = start(ctx, p, argv, environ); ctx.Err() != nil {
			return nil, fmt.Errorf("start the daemon: %w; its log is %s", ctx.Err(), p.Log)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, fmt.Errorf("start the daemon: it ended %d times; its log is %s", maxTries, p.Log)
}

// Owned reports whether a process owns the project, even if it does not answer yet.
func Owned(p Paths) bool {
	l, err := atomicfile.TryLock(p.Lock)
	if err != nil {
		return errors.Is(err, atomicfile.ErrLocked)
	}
	_ = l.Unlock()
	return false
}

// start runs argv detached. It returns when the process is ready or has ended, or when ctx is done.
func start(ctx context.Context, p Paths, argv, environ []string) error {
	if len(argv) == 0 {
		return errors.New("start the daemon: no command")
	}
	log, err := openLog(p.Log)
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // the caller's own program
	cmd.Env = slices.Concat(environ, []string{readyVar + "=3"})
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	exited := make(chan error, 1)
	// The daemon outlives this call, and usually this process. The goroutine ends with the daemon: without it, a daemon that ends first
	// would stay as a zombie.
	go func() { exited <- cmd.Wait() }()
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if n, _ := r.Read(make([]byte, 1)); n == 1 {
		return nil // it serves, or another owner does: Dial finds out
	}
	select {
	case err := <-exited:
		return startError(argv, err, log, from)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startError says how the started process ended, and what it wrote.
func startError(argv []string, err error, log *os.File, from int64) error {
	how := "it exited with status 0"
	if err != nil {
		how = err.Error()
	}
	tail := ""
	if info, serr := log.Stat(); serr == nil {
		from = max(from, info.Size()-tailSize)
		if b, rerr := io.ReadAll(io.NewSectionReader(log, from, tailSize)); rerr == nil {
			tail = strings.TrimSpace(strings.ToValidUTF8(string(b), "�"))
		}
	}
	if tail == "" {
		tail = "(nothing)"
	}
	return fmt.Errorf("start the daemon: %q: %s; it wrote to %s:\n%s", strings.Join(argv, " "), how, log.Name(), tail)
}
