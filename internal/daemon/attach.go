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
	maxStart = 30 * time.Second // from its start, or the end of the owner before it, to its first answer
	maxTries = 5                // because other processes may start and end owners at the same time
	tailSize = 4 << 10          // bytes of the log that an error shows
)

// Attach dials the owner. If there is no owner, it starts one with argv, detached (own session, log file, given environment), and waits
// until that answers. A process that answers at the socket without the lock is no owner, and loses its place to the one that starts.
// Several processes may call Attach at once: one of the started owners takes the lock, and all of them attach to it. While an owner ends,
// Attach waits for its end, however long its last calls take. If the started process ends at once, the error shows the end of its log.
func Attach(ctx context.Context, p Paths, argv, environ []string) (*Client, error) {
	ctx, cancel := whileLeaving(ctx, p)
	defer cancel()
	var failed error
	for tries := 0; ; {
		c, err := Dial(ctx, p)
		var other *StrangerError
		owned := Owned(p)
		if !errors.Is(err, ErrNotRunning) && (!errors.As(err, &other) || owned) {
			return c, err
		}
		switch {
		case owned || waits(p): // it will answer, or it ends
			if pause(ctx) == nil {
				continue
			}
			return nil, fmt.Errorf("start the daemon: %w; its log is %s", context.Cause(ctx), p.Log)
		case failed != nil:
			return nil, failed
		case tries == maxTries:
			return nil, fmt.Errorf("start the daemon: it ended %d times; its log is %s", maxTries, p.Log)
		}
		tries++
		if failed = start(ctx, p, argv, environ, false); ctx.Err() != nil {
			return nil, fmt.Errorf("start the daemon: %w; its log is %s", context.Cause(ctx), p.Log)
		}
	}
}

// Replace starts an owner with argv, as Attach does, even if there is an owner, and attaches to it when it answers. What is started asks
// that owner to leave, and the time for which it waits has no bound but ctx. If the owner stays, the error shows the end of the log.
func Replace(ctx context.Context, p Paths, argv, environ []string) (*Client, error) {
	if err := start(ctx, p, argv, environ, true); err != nil {
		return nil, err
	}
	return Dial(ctx, p)
}

// errStart is why Attach gives up.
var errStart = fmt.Errorf("no process answered within %v", maxStart)

// whileLeaving returns a context that ends maxStart after the last moment at which an owner was leaving.
func whileLeaving(ctx context.Context, p Paths) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		t := time.NewTimer(maxStart)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if _, _, leaving := Owning(p); !leaving {
				cancel(errStart)
				return
			}
			t.Reset(maxStart)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Owned reports whether a process owns the project, even if it does not answer yet.
func Owned(p Paths) bool {
	held, err := atomicfile.Locked(p.Lock)
	return held && err == nil
}

// start runs argv detached. It returns when the process is ready or has ended, or when ctx is done. must says that it has to be the owner.
func start(ctx context.Context, p Paths, argv, environ []string, must bool) error {
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
	said := make([]byte, 1)
	if n, _ := r.Read(said); n == 1 && (said[0] == readyByte || !must) {
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
