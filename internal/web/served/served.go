// Package served says whether the pages of a user are served, and where: for the page server itself, for the daemons that start it, and
// for the commands that show it.
package served

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// ErrRuns means that another page server of this user runs.
var ErrRuns = errors.New("the pages of this user are served already")

// Note is what a page server writes about itself.
type Note struct {
	Addr        string    `json:"addr"`                  // where it listens, or could not: HOST:PORT
	Base        string    `json:"base"`                  // the address of its pages in a browser of this machine: http://HOST:PORT
	Phone       string    `json:"phone,omitempty"`       // the same for other machines; "": they cannot reach it
	Fingerprint string    `json:"fingerprint,omitempty"` // SHA-256 of its certificate, if it has TLS of its own
	PID         int       `json:"pid"`
	Since       time.Time `json:"since"`
	Auto        bool      `json:"auto,omitzero"`     // a daemon started it, and no person
	Problem     string    `json:"problem,omitempty"` // why it could not start, or had to end
}

// lockFile is held by the page server as long as it lives.
func lockFile(root state.Root) string { return filepath.Join(root.Pages(), "server.lock") }
func noteFile(root state.Root) string { return filepath.Join(root.Pages(), "server.json") }

// LogFile is what a page server writes that no person started.
func LogFile(root state.Root) string { return filepath.Join(root.Pages(), "server.log") }

// Claim makes this process the page server of the user, until the lock is given back. The error is ErrRuns if there is one.
func Claim(root state.Root) (*atomicfile.Lock, error) {
	if err := os.MkdirAll(root.Pages(), 0o700); err != nil {
		return nil, fmt.Errorf("web: make the folder of the pages: %w", err)
	}
	lock, err := atomicfile.TryLock(lockFile(root))
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return nil, ErrRuns
	case err != nil:
		return nil, fmt.Errorf("web: %w", err)
	}
	if err := os.Remove(noteFile(root)); err != nil && !errors.Is(err, fs.ErrNotExist) { // what the one before said holds no longer
		return nil, errors.Join(fmt.Errorf("web: %w", err), lock.Unlock())
	}
	return lock, nil
}

// Write writes what a page server says of itself. The caller has the lock.
func Write(root state.Root, n Note) error {
	n.PID = os.Getpid()
	b, err := json.Marshal(n)
	if err == nil {
		err = atomicfile.Write(noteFile(root), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("web: write where the pages are: %w", err)
	}
	return nil
}

// Look returns what the page server of a user says of itself, and whether it runs. Of one that has ended, the note says why, if it failed.
func Look(root state.Root) (n Note, runs bool, err error) {
	if runs, err = atomicfile.Locked(lockFile(root)); err != nil {
		return Note{}, false, fmt.Errorf("web: %w", err)
	}
	b, err := os.ReadFile(noteFile(root))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	} else if err == nil {
		err = json.Unmarshal(b, &n)
	}
	switch {
	case err != nil:
		return Note{}, runs, fmt.Errorf("web: read where the pages are: %w", err)
	case runs && (n.Addr == "" || n.Problem != ""):
		return Note{}, true, text.Hinted(errors.New("web: the pages are just beginning or ending"), "try again in a moment")
	}
	return n, runs, nil
}

// endWithin is how long a page server may take to end: it waits five seconds for what it answers.
const endWithin = 10 * time.Second

// End ends the page server that wrote a note, and waits until it is gone.
func End(root state.Root, n Note) error {
	if n.PID > 1 { // the note is of who has the lock: each server removes that of the one before
		if err := syscall.Kill(n.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("web: end the page server: %w", err)
		}
	}
	lock, err := atomicfile.LockWait(lockFile(root), endWithin)
	if err != nil {
		return fmt.Errorf("web: end the page server, process %d: %w", n.PID, err)
	}
	return lock.Unlock()
}

// maxLog bounds the log of page servers that daemons start, in bytes: then it begins anew.
const maxLog = 1 << 20

// Start starts a page server detached, unless one runs: in a session of its own, with its output in LogFile. It does not wait for it.
func Start(root state.Root, argv, environ []string) error {
	if runs, err := atomicfile.Locked(lockFile(root)); err != nil || runs {
		return err
	}
	if err := os.MkdirAll(root.Pages(), 0o700); err != nil {
		return fmt.Errorf("start the pages: %w", err)
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if st, err := os.Stat(LogFile(root)); err == nil && st.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	log, err := os.OpenFile(LogFile(root), flags, 0o600)
	if err != nil {
		return fmt.Errorf("start the pages: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // the caller's own program
	cmd.Env, cmd.Dir = environ, "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the pages: %w", err)
	}
	go func() { _ = cmd.Wait() }() // without it, a server that ends before this process would stay as a zombie
	return nil
}
