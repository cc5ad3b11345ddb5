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
	maintainEvery = 15 * time.Second // how often a serving owner checks its socket and its log
	maxLog        = 8 << 20          // bytes; a longer log is renamed to .1, in the place of the one before
)

// maintain keeps a long-lived owner working: it rotates the log, and makes a socket anew that was removed or replaced. A runtime folder is
// removed at the end of its login session.
func (o *Owner) maintain(ctx context.Context, logger *slog.Logger, accept func(*net.UnixListener)) {
	t := time.NewTicker(o.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if l, err := o.relisten(); err != nil {
			logger.Error("make a new socket", "error", err)
		} else if l != nil {
			logger.Warn("the socket was removed or replaced: made a new one", "socket", o.paths.Socket)
			accept(l)
		}
		if err := rotate(o.paths.Log, maxLog); err != nil {
			logger.Error("rotate the log", "error", err)
		}
	}
}

// relisten listens again if the socket is gone, or is another one. It closes the old listener without unlinking the new socket.
func (o *Owner) relisten() (*net.UnixListener, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch info, err := os.Lstat(o.paths.Socket); {
	case o.stopped, err != nil && !errors.Is(err, fs.ErrNotExist), err == nil && os.SameFile(info, o.bound):
		return nil, nil //nolint:nilerr // it is as it was, or cannot be checked
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(o.paths.Socket)), 0o700); err != nil {
		return nil, err
	}
	l, bound, err := listen(o.paths.Socket)
	if err != nil {
		return nil, err
	}
	o.bound = bound
	o.listener.SetUnlinkOnClose(false)
	err = o.listener.Close()
	o.listener = l
	return l, err
}

// openLog opens the log for appending. It renames a log that is too long first.
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

// rotate renames a log that is too long, and redirects this process to a new one. It does so only if the log is the standard error of
// this process, which Attach arranged.
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
