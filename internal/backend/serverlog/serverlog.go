// Package serverlog keeps the stderr of servers in files.
package serverlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"mycelium/internal/backend/redact"
)

// What is kept of a server's stderr on disk: its file, and the one before it. A line is cut where it is longer than lineSize.
const (
	logSize  = 1 << 20
	lineSize = 8 << 10
)

// Log is the file that a server's stderr goes to: each line with its time, without secrets and control characters. It is made with the
// first line. It is safe for concurrent use.
type Log struct {
	path   string // empty: nothing is kept
	logger *slog.Logger
	now    func() time.Time

	mu     sync.Mutex
	file   *os.File
	size   int64
	failed bool // writing failed: said once
}

func New(dir, server string, logger *slog.Logger, now func() time.Time) *Log {
	l := &Log{logger: logger, now: now}
	if dir != "" {
		l.path = filepath.Join(dir, "server-"+server+".log")
	}
	return l
}

// File is the file, once there is one.
func (l *Log) File() string {
	if l == nil || l.path == "" {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return l.path
	}
	if _, err := os.Stat(l.path); err != nil {
		return ""
	}
	return l.path
}

// write writes one line. A disk that is full or a folder that is gone costs the log, never the server.
func (l *Log) write(text string) {
	if l == nil || l.path == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed {
		return
	}
	if err := l.append(l.now().UTC().Format("2006-01-02T15:04:05.000Z ") + text + "\n"); err != nil {
		l.failed = true
		l.closeFile()
		l.logger.Warn("stderr of a server is not kept", "file", l.path, "error", err)
	}
}

// append writes, and begins a new file where the old one is full. The lock is held.
func (l *Log) append(s string) error {
	if l.file != nil && l.size+int64(len(s)) > logSize {
		l.closeFile()
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return fmt.Errorf("rotate: %w", err)
		}
	}
	if l.file == nil {
		if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
		f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		l.file, l.size = f, 0
		if info, err := f.Stat(); err == nil {
			l.size = info.Size()
		}
	}
	n, err := l.file.WriteString(s)
	l.size += int64(n)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func (l *Log) closeFile() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// Close closes the file. A later line opens it again.
func (l *Log) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeFile()
}

// Writer cuts what a process writes into lines for its log.
type Writer struct {
	log     *Log
	secrets redact.Redactor
	buf     []byte
	skip    bool // the rest of a line that was too long
}

// Writer makes a writer to the log. It hides secrets line by line, so that one which has several lines is hidden in its parts.
func (l *Log) Writer(secrets redact.Redactor) *Writer {
	return &Writer{log: l, secrets: secrets.Lines()}
}

// Write takes what was read. It never fails.
func (l *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		end := i
		if i < 0 {
			end = len(p)
		}
		if !l.skip {
			l.buf = append(l.buf, p[:end]...)
		}
		if i < 0 {
			p = nil
		} else {
			p = p[i+1:]
		}
		if i >= 0 || len(l.buf) > 2*lineSize {
			l.flush(i < 0)
		}
	}
	return n, nil
}

// flush writes the line that was gathered; cut: its end is still to come, and is dropped.
func (l *Writer) flush(cut bool) {
	if l.skip {
		l.skip = cut
		return
	}
	// Redacted before it is cut, so that no half of a secret is left. A value that does not end in what was gathered is cut off with the margin.
	text := l.secrets.Text(string(l.buf))
	if cut || len(text) > lineSize {
		text = text[:min(len(text), lineSize)] + " […]"
	}
	if text = strings.TrimRight(redact.Printable(text), " \t\n"); text != "" {
		l.log.write(text)
	}
	l.buf, l.skip = l.buf[:0], cut
}

// Close writes the last line where it has no end. It never fails.
func (l *Writer) Close() error {
	l.flush(false)
	return nil
}
