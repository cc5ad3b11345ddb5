package sandbox

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/credential/held"
	"mycelium/internal/policy/secretfile"
)

// secret reports whether a name of the project is to look empty because it has secrets. Not so are a path that the command was given by its
// name, and files of tests and of packages.
func (l *look) secret(path string, e entry) bool {
	if e.mode.IsDir() {
		return (l.all || e.secrets) && !l.given[path]
	}
	if e.mode&fs.ModeType&^fs.ModeSymlink != 0 || !l.all && !secretfile.Known([]byte(e.folded)) || l.given[path] || !held.MayHold(path) {
		return false
	}
	return (*held.Reader)(nil).Judged(path, l.home)
}

// holdsSecrets reports whether a folder is one for secrets, by its path.
func holdsSecrets(path, home string) bool {
	row, ok := secretfile.Of(path+"/_", home)
	return ok && strings.HasSuffix(row.Path, "/")
}

// tracked is a file with secrets that the index of the project has, as it is.
type tracked struct {
	path, object string
	base         bool // a base constraint closes it
	rule         bool // it has to be closed, whatever commits show
}

// track keeps a file for [look.committed]. It returns false for a file that git does not have as it is.
func (l *look) track(path string, base, rule bool) bool {
	if l.after || rule && !l.covers && !base {
		return false
	}
	object, ok := l.index.object(path)
	if ok {
		l.tracked = append(l.tracked, tracked{path, object, base, rule})
	}
	return ok
}

// committed sorts the tracked files. Where commits do not show closed files (see history), a file of the same size and time stands in the
// place of each, so that git takes it for unchanged. Elsewhere a file that is as in the last commit is shown, because each commit shows it,
// and git would take an empty file for a change. The command cannot change a file that a base constraint closes. The others look empty,
// also where git cannot tell.
func (l *look) committed() {
	in := map[string]string{}
	if l.covers {
		for _, t := range l.tracked {
			l.out.Covered = append(l.out.Covered, t.path)
		}
		l.settled()
		return
	}
	if len(l.tracked) > 0 && l.git != "" {
		args := []string{"ls-tree", "-z", "--full-tree", "HEAD", "--"}
		for _, t := range l.tracked {
			args = append(args, strings.TrimPrefix(t.path, l.index.top+"/"))
		}
		cmd := plainGit(l.ctx, l.git, l.index.git, args...)
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

// settled has git write its index again if a covered file is as new as the index. Of such a file git compares the contents, and would take
// the one that stands in its place for a change (racy-git(7)). Where it cannot be done, git status shows the file as changed.
func (l *look) settled() {
	file := filepath.Join(l.index.git, "index")
	st, err := os.Lstat(file)
	if err != nil {
		return
	}
	newest := int64(0)
	for _, path := range l.out.Covered {
		if st, err := os.Lstat(path); err == nil {
			newest = max(newest, st.ModTime().Unix())
		}
	}
	config, err := os.ReadFile(filepath.Join(l.common, "config"))
	config = bytes.ToLower(config)
	if newest < st.ModTime().Unix() || err != nil || bytes.Contains(config, []byte("filter")) || bytes.Contains(config, []byte("include")) {
		return // a filter is a program, and it may be one of the project
	}
	// Files have the time of the last tick of the kernel.
	const tick = 20 * time.Millisecond
	if wait := time.Until(time.Unix(newest+1, 0)) + tick; wait > 0 && wait <= time.Second+tick {
		select {
		case <-l.ctx.Done():
		case <-time.After(wait):
		}
	}
	_ = plainGit(l.ctx, l.git, l.index.git, "--work-tree="+l.index.top, "update-index", "--force-write-index").Run()
}

// plainGit is git that asks a repository, without what anybody configured for the account, and without what a command in the sandbox may have
// left in the repository to lead it: grafts, replaced objects, and tables about the contents of objects.
func plainGit(ctx context.Context, git, dir string, args ...string) *exec.Cmd {
	all := append([]string{"--git-dir=" + dir, "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", "-c", "core.fsmonitor=false",
		"-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"}, args...)
	cmd := exec.CommandContext(ctx, git, all...) //nolint:gosec // the program is none of the project
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent",
		"GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null", "LC_ALL=C"}
	return cmd
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

// cursor goes through the files of an index, which are in the order of their names.
type cursor struct {
	object, name []byte // of the file at which it stands
	data         []byte
	version      uint32
	left         uint32
}

// cursor stands before the first file.
func (x gitIndex) cursor() *cursor {
	if len(x.data) < 12 {
		return &cursor{}
	}
	return &cursor{data: x.data[12:], version: binary.BigEndian.Uint32(x.data[4:]), left: binary.BigEndian.Uint32(x.data[8:])}
}

// next goes to the next file, and reports whether there is one. Submodules are left out.
func (c *cursor) next() bool {
	for ; c.left > 0; c.left-- {
		head := entryHead
		if len(c.data) < head {
			return false
		}
		if c.version == 3 && c.data[60]&0x40 != 0 { // further flags
			head += 2
		}
		n := bytes.IndexByte(c.data[head:], 0)
		end := (head + n + 8) &^ 7
		if n < 0 || end > len(c.data) {
			return false
		}
		module := binary.BigEndian.Uint32(c.data[24:])>>12 == 0o16
		c.object, c.name = c.data[40:60], c.data[head:head+n]
		if c.data = c.data[end:]; !module {
			c.left--
			return true
		}
	}
	return false
}

// since calls a function for each file of the index that another one does not have, or has with other contents.
func (x gitIndex) since(other gitIndex, do func(object, path string)) {
	is, was := x.cursor(), other.cursor()
	more := was.next()
	for is.next() {
		for more && bytes.Compare(was.name, is.name) < 0 {
			more = was.next()
		}
		if !more || !bytes.Equal(was.name, is.name) || !bytes.Equal(was.object, is.object) {
			do(hex.EncodeToString(is.object), string(is.name))
		}
	}
}

// isBlob reports whether a file has the contents of an object of git.
func isBlob(path, object string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > mostIndex {
		return false
	}
	data, err := os.ReadFile(path)
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...)) //nolint:gosec // that of git
	return err == nil && hex.EncodeToString(sum[:]) == object
}

// find returns where the entry of a path begins.
func (x gitIndex) find(path string) (at int, ok bool) {
	name, below := strings.CutPrefix(path, x.top+"/")
	if x.top == "" || !below {
		return 0, false
	}
	for from := 0; ; {
		i := bytes.Index(x.data[from:], append([]byte(name), 0))
		if i < 0 {
			return 0, false
		}
		at := from + i - entryHead
		from += i + 1
		if at >= 12 && int(binary.BigEndian.Uint16(x.data[at+60:])&0xfff) == min(len(name), 0xfff) {
			return at, true
		}
	}
}

// object returns the object of a file that is as the index has it, by its size and time.
func (x gitIndex) object(path string) (id string, ok bool) {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return "", false
	}
	at, ok := x.find(path)
	if !ok {
		return "", false
	}
	number := func(n int) int64 { return int64(binary.BigEndian.Uint32(x.data[at+4*n:])) }
	modified := st.ModTime()
	return hex.EncodeToString(x.data[at+40 : at+60]), number(9) == st.Size()&0xffffffff && number(2) == modified.Unix()&0xffffffff &&
		(number(3) == int64(modified.Nanosecond()) || number(3) == 0) && number(5) == inodeOf(st)
}

func inodeOf(st fs.FileInfo) int64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int64(sys.Ino & 0xffffffff) //nolint:gosec // 32 bits
	}
	return -1
}
