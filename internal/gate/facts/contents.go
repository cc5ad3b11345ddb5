package facts

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/policy"
)

// Bounds of the contents that are remembered of a session's writes.
const (
	maxSummed  = 16 << 20 // bytes of a file: scripts are small, and each call may wait for this
	maxPending = 20       // files of the calls before
)

// contents are the digests of what a session wrote: a program may copy or rename a file under a name that no command says.
type contents struct {
	since   time.Time // when the session first wrote
	sums    map[string]struct{}
	pending []string // paths whose contents are not summed yet
}

// The lines of the memory that are no paths.
const (
	sinceLine = "@" // and nanoseconds
	sumLine   = "#" // and a digest
)

// read takes a line of the memory that is no path.
func (c *contents) read(line string) {
	if rest, ok := strings.CutPrefix(line, sumLine); ok {
		c.sums[rest] = struct{}{}
	} else if rest, ok := strings.CutPrefix(line, sinceLine); ok {
		if n, err := strconv.ParseInt(rest, 10, 64); err == nil {
			c.since = time.Unix(0, n)
		}
	}
}

// wrote notes a path whose contents are there when the call is over.
func (c *contents) wrote(path string) {
	if c.pending = append(c.pending, path); len(c.pending) > maxPending {
		c.pending = c.pending[1:]
	}
}

// settle sums the files that calls before wrote, and returns the lines for the memory.
func (c *contents) settle() (lines []byte) {
	if c.since.IsZero() {
		c.since = time.Now()
		lines = append(strconv.AppendInt([]byte(sinceLine), c.since.UnixNano(), 10), '\n')
	}
	for _, path := range c.pending {
		sum, ok := summed(path)
		if _, known := c.sums[sum]; ok && !known && len(c.sums) < maxWritten {
			c.sums[sum] = struct{}{}
			lines = append(lines, sumLine+sum+"\n"...)
		}
	}
	c.pending = c.pending[:0]
	return lines
}

// has reports whether a file has contents that the session wrote, and came to its name since then.
func (c *contents) has(path string) bool {
	var st unix.Stat_t
	if len(c.sums) == 0 || unix.Stat(path, &st) != nil {
		return false
	}
	// The kernel's clock may lag by a tick. No program can set the time of a change.
	if changed := time.Unix(st.Ctim.Unix()); changed.Before(c.since.Add(-time.Second)) {
		return false
	}
	sum, ok := summed(path)
	if !ok {
		return false
	}
	_, ok = c.sums[sum]
	return ok
}

// summed returns the digest of a regular file that is neither empty nor large.
func summed(path string) (sum string, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxSummed {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxSummed)); err != nil {
		return "", false
	}
	return hex.EncodeToString(h.Sum(nil)), true
}

// members returns the paths that a part makes of an archive which the session wrote or fetched.
func (w *Written) members(f *policy.Facts, part *policy.Part) (paths []string) {
	for i := range part.Archives {
		a := &part.Archives[i]
		if a.Pattern || !w.has(f, &policy.Path{Clean: a.Path, Resolved: Resolve(a.Path)}) {
			continue
		}
		list, err := membersOf(a.Path)
		if err != nil {
			continue
		}
		for _, m := range list[:min(len(list), maxPaths)] {
			if name, ok := stripped(m.name, a.Strip); ok && takes(a, m.name) {
				paths = append(paths, a.Dir+"/"+name)
			}
		}
	}
	return paths
}
