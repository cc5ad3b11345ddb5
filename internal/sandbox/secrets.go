package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"mycelium/internal/credential/held"
	"mycelium/internal/policy/secretfile"
)

// secret reports whether a name of the project is to look empty because it has secrets. Not so are a path that the command was given by its
// name, and files of tests and of packages.
func (l *look) secret(path string, e entry) bool {
	if e.mode.IsDir() {
		if l.all {
			return !l.given[path]
		}
		row, ok := secretfile.Of(path+"/_", l.home)
		return ok && strings.HasSuffix(row.Path, "/") && !l.given[path]
	}
	if e.mode&fs.ModeType&^fs.ModeSymlink != 0 || !l.all && !secretfile.Known([]byte(e.folded)) || l.given[path] || !held.MayHold(path) {
		return false
	}
	return (*held.Reader)(nil).Judged(path, l.home)
}

// tracked is a file with secrets that the index of the project has, as it is.
type tracked struct {
	path, object string
	base         bool // a base constraint closes it
}

// track keeps a file for [look.committed]. It returns false for a file that git does not have as it is.
func (l *look) track(path string, base bool) bool {
	if l.after {
		return false
	}
	object, ok := l.index.object(path)
	if ok {
		l.tracked = append(l.tracked, tracked{path, object, base})
	}
	return ok
}

// committed sorts the tracked files: a file that is as in the last commit is shown, because each commit shows it, and git would take an
// empty file for a change. The command cannot change a file that a base constraint closes. The others look empty, also where git cannot tell.
func (l *look) committed() {
	in := map[string]string{}
	if len(l.tracked) > 0 && l.git != "" {
		args := []string{"--git-dir=" + l.index.git, "ls-tree", "-z", "--full-tree", "HEAD", "--"}
		for _, t := range l.tracked {
			args = append(args, strings.TrimPrefix(t.path, l.index.top+"/"))
		}
		cmd := exec.CommandContext(l.ctx, l.git, args...) //nolint:gosec // the program is none of the project
		cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent",
			"GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0"}
		out, _ := cmd.Output()
		for line := range strings.SplitSeq(string(out), "\x00") { // 100644 blob OBJECT\tPATH
			about, name, _ := strings.Cut(line, "\t")
			if f := strings.Fields(about); len(f) == 3 {
				in[filepath.Join(l.index.top, name)] = f[2]
			}
		}
	}
	for _, t := range l.tracked {
		switch shown := in[t.path] == t.object; {
		case shown && t.base:
			l.record(t.path, true)
		case t.base:
			l.record(t.path, false)
		case !shown:
			l.out.Secrets = append(l.out.Secrets, t.path)
		}
	}
}

// gitIndex is the index of a repository, as git keeps it in a file.
type gitIndex struct {
	top  string
	git  string // its folder of git
	data []byte
}

// mostIndex bounds the index that is read, in bytes: that of a repository with 500,000 files has about 50 MB.
const mostIndex = 64 << 20

// gitIndex reads the index of the project's repository. It is empty if there is none.
func (c *Command) gitIndex() gitIndex {
	if c.Untrusted {
		return gitIndex{}
	}
	dir := filepath.Join(c.Project, gitName)
	if c.Worktree != nil {
		dir = c.Worktree.Own
	}
	file := filepath.Join(dir, "index")
	st, err := os.Lstat(file)
	if err != nil || !st.Mode().IsRegular() || st.Size() > mostIndex {
		return gitIndex{}
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) < 12 || string(data[:4]) != "DIRC" || binary.BigEndian.Uint32(data[4:]) > 3 {
		return gitIndex{} // version 4 shortens names
	}
	return gitIndex{c.Project, dir, data}
}

// entryHead is the length of an entry of the index before its name: ten numbers, a hash and the flags (gitformat-index(5)).
const entryHead = 62

// below reports whether the index has a file in a folder.
func (x gitIndex) below(folder string) bool {
	name, below := strings.CutPrefix(folder, x.top+"/")
	if x.top == "" || !below {
		return false
	}
	for from := 0; ; from++ {
		i := bytes.Index(x.data[from:], []byte(name+"/"))
		if i < 0 {
			return false
		}
		from += i
		if from-entryHead < 12 {
			continue
		}
		n := int(binary.BigEndian.Uint16(x.data[from-2:]) & 0xfff) // of the whole name, where it begins here
		if n == 0xfff || bytes.IndexByte(x.data[from:], 0) == n {
			return true
		}
	}
}

// object returns the object of a file that is as the index has it, by its size and time.
func (x gitIndex) object(path string) (id string, ok bool) {
	name, below := strings.CutPrefix(path, x.top+"/")
	if x.top == "" || !below {
		return "", false
	}
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return "", false
	}
	for from := 0; ; {
		i := bytes.Index(x.data[from:], append([]byte(name), 0))
		if i < 0 {
			return "", false
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
		return hex.EncodeToString(x.data[at+40 : at+60]), number(9) == st.Size()&0xffffffff && number(2) == modified.Unix()&0xffffffff &&
			(number(3) == int64(modified.Nanosecond()) || number(3) == 0) && number(5) == inodeOf(st)
	}
}

func inodeOf(st fs.FileInfo) int64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int64(sys.Ino & 0xffffffff) //nolint:gosec // 32 bits
	}
	return -1
}
