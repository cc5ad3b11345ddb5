package sandbox

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"mycelium/internal/credential/held"
	"mycelium/internal/policy/secretfile"
)

// secret reports whether a name of the project is to look empty because it has secrets. Not so are a path that the command was given by its
// name, files of tests and of packages, and a file that git has as it is: each commit shows it, and git would take an empty one for a
// change.
func (l *look) secret(path string, e entry) bool {
	if e.mode.IsDir() {
		row, ok := secretfile.Of(path+"/_", l.home)
		return ok && strings.HasSuffix(row.Path, "/") && !l.given[path]
	}
	if e.mode&fs.ModeType&^fs.ModeSymlink != 0 || !secretfile.Known([]byte(e.folded)) || l.given[path] || !held.MayHold(path) {
		return false
	}
	return (*held.Reader)(nil).Judged(path, l.home) && !l.index.has(path)
}

// gitIndex is the index of a repository, as git keeps it in a file.
type gitIndex struct {
	top  string
	data []byte
}

// mostIndex bounds the index that is read, in bytes: that of a repository with 500,000 files has about 50 MB.
const mostIndex = 64 << 20

// gitIndex reads the index of the project's repository. It is empty if there is none.
func (c *Command) gitIndex() gitIndex {
	file := filepath.Join(c.Project, gitName, "index")
	if c.Worktree != nil {
		file = filepath.Join(c.Worktree.Own, "index")
	}
	st, err := os.Lstat(file)
	if err != nil || !st.Mode().IsRegular() || st.Size() > mostIndex {
		return gitIndex{}
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) < 12 || string(data[:4]) != "DIRC" || binary.BigEndian.Uint32(data[4:]) > 3 {
		return gitIndex{} // version 4 shortens names
	}
	return gitIndex{c.Project, data}
}

// entryHead is the length of an entry of the index before its name: ten numbers, a hash and the flags (gitformat-index(5)).
const entryHead = 62

// has reports whether git knows the file and it is as git has it, by its size and time.
func (x gitIndex) has(path string) bool {
	name, below := strings.CutPrefix(path, x.top+"/")
	if x.top == "" || !below {
		return false
	}
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	for from := 0; ; {
		i := bytes.Index(x.data[from:], append([]byte(name), 0))
		if i < 0 {
			return false
		}
		at := from + i - entryHead
		from += i + 1
		if at < 12 {
			continue
		}
		number := func(n int) int64 { return int64(binary.BigEndian.Uint32(x.data[at+4*n:])) }
		if int(binary.BigEndian.Uint16(x.data[at+60:])&0xfff) != min(len(name), 0xfff) {
			continue
		}
		modified := st.ModTime()
		return number(9) == st.Size()&0xffffffff && number(2) == modified.Unix()&0xffffffff &&
			(number(3) == int64(modified.Nanosecond()) || number(3) == 0) && number(5) == inodeOf(st)
	}
}

func inodeOf(st fs.FileInfo) int64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int64(sys.Ino & 0xffffffff) //nolint:gosec // 32 bits
	}
	return -1
}
