package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"mycelium/internal/atomicfile"
)

// The seal of a line: its end.
const (
	macLen    = 64 // hexadecimal digits of HMAC-SHA256
	sealStart = `,"mac":"`
	sealEnd   = `"}`
	sealLen   = len(sealStart) + macLen + len(sealEnd)
	origin    = "0000000000000000000000000000000000000000000000000000000000000000" // prev of the first line
)

// head is the end of the chain: the last line's number and seal.
type head struct {
	seq int64
	mac string
}

// mark is a head with its place.
type mark struct {
	head
	segment string
	offset  int64 // of the first byte after the line; -1: unknown
}

// beginning is the head of a log without a record.
var beginning = mark{head{0, origin}, SegmentName(1), 0}

// sealer computes the HMACs of lines.
type sealer struct {
	h   hash.Hash
	sum []byte
}

func newSealer(key []byte) *sealer { return &sealer{h: hmac.New(sha256.New, key)} }

// appendMac appends the HMAC of an unsealed line, in hexadecimal.
func (s *sealer) appendMac(dst, unsealed []byte) []byte {
	s.h.Reset()
	_, _ = s.h.Write(unsealed)
	s.sum = s.h.Sum(s.sum[:0])
	return appendHex(dst, s.sum)
}

func appendHex(dst, b []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range b {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

// appendLine appends a sealed line with its newline.
func (s *sealer) appendLine(dst []byte, seq int64, prev string, body []byte) []byte {
	start := len(dst)
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendInt(dst, seq, 10)
	dst = append(dst, `,"prev":"`...)
	dst = append(dst, prev...)
	dst = append(dst, `",`...)
	dst = append(dst, body...)
	end := len(dst)
	dst = append(dst, sealStart...)
	dst = s.appendMac(dst, dst[start:end])
	return append(dst, sealEnd+"\n"...)
}

// links are the claims of a line about its place. Nothing is verified yet.
type links struct {
	head
	prev     string
	unsealed []byte
}

// parseLinks reads the links of a line without its newline. It returns false if the line does not have the form that the log writes.
func parseLinks(line []byte) (links, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok || len(line) < sealLen {
		return links{}, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(`,"prev":"`))
	if !ok || len(rest) < macLen+2+sealLen || string(rest[macLen:macLen+2]) != `",` {
		return links{}, false
	}
	seq, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return links{}, false
	}
	seal := line[len(line)-sealLen:]
	if !bytes.HasPrefix(seal, []byte(sealStart)) || !bytes.HasSuffix(seal, []byte(sealEnd)) {
		return links{}, false
	}
	mac := seal[len(sealStart) : len(sealStart)+macLen]
	return links{head{seq, string(mac)}, string(rest[:macLen]), line[:len(line)-sealLen]}, true
}

// genuine reports whether the line was sealed with the key.
func (s *sealer) genuine(l links) bool {
	return hmac.Equal(s.appendMac(nil, l.unsealed), []byte(l.mac))
}

// segments lists the segments of the folder, oldest first. A missing folder has no segments; files with other names are ignored. A folder
// or a segment that is a link, or no file, is a *DamageError: what is read through it lies elsewhere.
func segments(dir string) ([]string, error) {
	if st, err := os.Lstat(dir); err == nil && !st.IsDir() {
		return nil, &DamageError{Dir: dir, Why: "its folder is a link, or no folder"}
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the segments of the log: %w", err)
	}
	var names []string
	for _, e := range entries {
		if SegmentNumber(e.Name()) == 0 {
			continue
		}
		if !e.Type().IsRegular() {
			return nil, &DamageError{Dir: dir, Why: fmt.Sprintf("segment %s is a link, or no file", e.Name())}
		}
		names = append(names, e.Name())
	}
	slices.Sort(names) // numbers have a fixed width
	return names, nil
}

// openSegment opens a segment to read it. It follows no link.
func openSegment(o Options, name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(o.Dir, name), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("open a segment of the audit log: %w", err)
	}
	return f, nil
}

// SegmentName is the file name of the nth segment: 1 is 00000001.jsonl.
func SegmentName(n int) string { return fmt.Sprintf("%08d.jsonl", n) }

// SegmentNumber is the inverse of [SegmentName]; it is 0 for other names.
func SegmentNumber(name string) int {
	digits, ok := strings.CutSuffix(name, ".jsonl")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || SegmentName(n) != name {
		return 0
	}
	return n
}

// The names of files beside each other in the folder of keys.
const (
	KeyFile        = "audit.key"
	checkpointFile = "audit.checkpoint"
)

// loadKey reads the key of the log.
func loadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, KeyFile)
	st, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("read the key of the log: %w", err)
	}
	if !st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("read the key of the log %s: it must be a file that only its owner can read (mode 0600, it is %v)",
			path, st.Mode())
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key of the log: %w", err)
	}
	if len(key) != sha256.Size {
		return nil, fmt.Errorf("read the key of the log %s: it has %d bytes, want %d; restore it from a backup, "+
			"or move it and the log's folder away to begin a new log", path, len(key), sha256.Size)
	}
	return key, nil
}

// createKey makes a new key, and before it the checkpoint of an empty log, so that a key always has a checkpoint.
func createKey(dir string) ([]byte, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the log's key: %w", err)
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key)
	c, err := openCheckpoint(dir, newSealer(key), true)
	if err != nil {
		return nil, err
	}
	err = errors.Join(c.write(beginning), c.f.Close())
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, KeyFile), key, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("create the key of the log: %w", err)
	}
	return key, nil
}
