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
	"mycelium/internal/credential"
	"mycelium/internal/text"
)

// Bounds of what is kept of a server's stderr on disk, in bytes: a file and the file before it, of logSize each. A longer line than
// lineSize is cut.
const (
	logSize  = 1 << 20
	lineSize = 8 << 10
)

// Log is the file for a server's stderr: each line with its time, without secrets and control characters. The first line creates the file.
// Log is safe for concurrent use.
type Log struct {
	path   string // empty: stderr is not kept
	logger *slog.Logger
	now    func() time.Time

	mu     sync.Mutex
	file   *os.File
	size   int64
	failed bool // writing failed, and was reported
}

// New returns the log of a server in a folder; logger is told if the file cannot be written. With no folder nothing is written.
func New(dir, server string, logger *slog.Logger, now func() time.Time) *Log {
	l := &Log{logger: logger, now: now}
	if dir != "" {
		l.path = filepath.Join(dir, "server-"+server+".log")
	}
	return l
}

// File is the path of the file; empty: there is no file yet.
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

// write writes one line. If that fails, the log ends; the server is not affected.
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

// Note writes a line of our own about the server, which begins with "myc: ".
func (l *Log) Note(line string) { l.write("myc: " + text.Prefix(redact.Printable(line), lineSize)) }

// append writes, and begins a new file if the old one is full. The lock is held.
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

// Writer splits what a process writes into lines of a log.
type Writer struct {
	log     *Log
	secrets redact.Redactor
	forms   credential.Lines
	buf     []byte
	skip    bool // the rest of a long line is skipped
}

// Writer returns a writer to the log. It hides secrets line by line; of a secret with several lines it hides each line.
func (l *Log) Writer(secrets redact.Redactor) *Writer {
	return &Writer{log: l, secrets: secrets.Lines()}
}

// Write never fails.
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

// flush writes the collected line. cut reports that its end is still to come; the end is dropped.
func (l *Writer) flush(cut bool) {
	if l.skip {
		l.skip = cut
		return
	}
	// Secrets are replaced before the line is cut, so that no part of one is left. A value that does not end in what was collected lies
	// behind the cut.
	line := l.forms.Mask(l.secrets.Known(string(l.buf)))
	if cut || len(line) > lineSize {
		line = text.Prefix(line, lineSize) + " […]"
	}
	if line = strings.TrimRight(redact.Printable(line), " \t\n"); line != "" {
		l.log.write(line)
	}
	l.buf, l.skip = l.buf[:0], cut
}

// Close writes the last line if it has no line end. It never fails.
func (l *Writer) Close() error {
	l.flush(false)
	return nil
}
