package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	tendEvery = 15 * time.Second // how often a serving owner looks after its socket and its log
	maxLog    = 8 << 20          // bytes; a longer log is put aside as .1, and the one before is gone
)

// tend keeps what a long life wears out: the log is bounded, and a socket that somebody removed (a runtime folder ends with its login
// session) is made anew.
func (o *Owner) tend(ctx context.Context, logger *slog.Logger, accept func(*net.UnixListener)) {
	t := time.NewTicker(o.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if l, err := o.relisten(); err != nil {
			logger.Error("make the socket anew", "error", err)
		} else if l != nil {
			logger.Warn("the socket was removed; it is made anew", "socket", o.paths.Socket)
			accept(l)
		}
		if err := rotate(o.paths.Log, maxLog); err != nil {
			logger.Error("rotate the log", "error", err)
		}
	}
}

// relisten listens again where the socket is gone. The old listener is closed without unlinking the new one's name.
func (o *Owner) relisten() (*net.UnixListener, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := os.Lstat(o.paths.Socket); o.stopped || !errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilerr // there, or not ours to mend
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(o.paths.Socket)), 0o700); err != nil {
		return nil, err
	}
	l, err := listen(o.paths.Socket)
	if err != nil {
		return nil, err
	}
	o.listener.SetUnlinkOnClose(false)
	err = o.listener.Close()
	o.listener = l
	return l, err
}

// openLog opens the log for appending, and puts one that has grown too long aside first.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// rotate puts the log aside where it has grown too long and this process writes into it (Attach made it standard error), and has the
// process write into a new one.
func rotate(path string, limit int64) error {
	log, err := os.Lstat(path)
	if err != nil || log.Size() <= limit {
		return nil //nolint:nilerr // no log, nothing to rotate
	}
	if here, err := os.Stderr.Stat(); err != nil || !os.SameFile(here, log) {
		return nil //nolint:nilerr // not ours
	}
	if err := os.Rename(path, path+".1"); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for _, std := range []*os.File{os.Stdout, os.Stderr} {
		if here, err := std.Stat(); err != nil || !os.SameFile(here, log) {
			continue
		}
		if err := redirect(std, f); err != nil {
			return fmt.Errorf("write into the new log: %w", err)
		}
	}
	return nil
}
