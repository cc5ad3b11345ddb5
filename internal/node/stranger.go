package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/daemon"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

// NoteStranger records that something else answers at the daemon's socket, once for each process and place. surface says who met it.
func NoteStranger(ctx context.Context, l *project.Loader, s *daemon.StrangerError, surface string) error {
	p, err := l.Load()
	if err != nil {
		return err
	}
	if !firstTime(p.State.Told(), "stranger", s.Socket, fmt.Sprint(s.PID), s.Program) {
		return nil
	}
	log, err := openLog(p)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	return log.Append(ctx, audit.Record{
		ID: audit.NewID(), Kind: audit.Guard, Time: time.Now(), Surface: surface, Reason: text.OneLine(s.Error()),
	})
}

// maxTold bounds the file of what was told, in bytes: some thousand digests. When it is full it begins anew, and things are told again.
const maxTold = 64 << 10

// firstTime reports whether this is told for the first time, and keeps a digest of it in a file. If it cannot be kept, it is told again.
func firstTime(file string, what ...string) bool {
	sum := sha256.Sum256([]byte(strings.Join(what, "\x00")))
	line := hex.EncodeToString(sum[:8]) + "\n"
	told, _ := os.ReadFile(file)
	if strings.Contains(string(told), line) {
		return false
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if len(told) > maxTold {
		flags |= os.O_TRUNC
	}
	if f, err := os.OpenFile(file, flags, 0o600); err == nil {
		_, _ = f.WriteString(line)
		_ = f.Close()
	}
	return true
}
