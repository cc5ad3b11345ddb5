// Package committed reads files of a commit of a repository that a command in the sandbox may write.
//
// A command can put any content into the repository: git reads an object without looking whether its name, which is the hash of its content,
// is right. So every object on the way from the commit to a file is hashed here, and whoever has the name of a commit from a time before the
// command gets the files of that commit or an error. Nothing of the repository runs.
package committed

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the hash of git
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The bounds of what is read: files, and bytes of one object.
const (
	mostFiles  = 512
	mostObject = 64 << 20
)

// Repository is a repository, and the program git with which it is read: one that no command in the sandbox may write.
type Repository struct {
	Git string // absolute
	Dir string // absolute: the folder .git, or the file of that name
}

// Of returns the folder or file .git of a folder, or of one above it; "" if there is none.
func Of(folder string) string {
	for ; ; folder = filepath.Dir(folder) {
		at := filepath.Join(folder, ".git")
		if _, err := os.Lstat(at); err == nil {
			return at
		}
		if folder == filepath.Dir(folder) {
			return ""
		}
	}
}

// Head returns the name of the commit that is checked out.
func (r Repository) Head(ctx context.Context) (string, error) {
	out, err := r.command(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").Output()
	id := strings.TrimSpace(string(out))
	if err != nil || !isName(id) {
		return "", errors.New("there is no commit yet, or git cannot read the repository")
	}
	return id, nil
}

func isName(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && (len(id) == 2*sha1.Size || len(id) == 2*sha256.Size)
}

// Files returns the regular files of a commit that are wanted, by their paths below the top of the repository.
func (r Repository) Files(ctx context.Context, commit string, want func(path string) bool) (map[string][]byte, error) {
	if !isName(commit) {
		return nil, fmt.Errorf("%q is not the name of a commit", commit)
	}
	list, err := r.command(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of commit %s: %w", commit, err)
	}
	var paths []string
	for path := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if path != "" && want(path) {
			paths = append(paths, path)
		}
	}
	if len(paths) > mostFiles {
		return nil, fmt.Errorf("commit %s has %d such files, and at most %d are read", commit, len(paths), mostFiles)
	}
	o, err := r.objects(ctx)
	if err != nil {
		return nil, err
	}
	defer o.close()
	out := map[string][]byte{}
	for _, path := range paths {
		data, regular, err := o.file(commit, path)
		if err != nil {
			return nil, fmt.Errorf("read %s of commit %s: %w", path, commit, err)
		}
		if regular {
			out[path] = data
		}
	}
	return out, nil
}

func (r Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.Git, append([]string{"--git-dir=" + r.Dir}, args...)...) //nolint:gosec // the program is none of the project
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent",
		"GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1"}
	return cmd
}

// objects asks one git for objects.
type objects struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	tree map[string][]byte // that were read
}

func (r Repository) objects(ctx context.Context) (*objects, error) {
	cmd := r.command(ctx, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start git: %w", err)
	}
	return &objects{cmd, in, bufio.NewReader(out), map[string][]byte{}}, nil
}

func (o *objects) close() {
	_ = o.in.Close()
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// errChanged is the error for an object whose content is not what its name says.
var errChanged = errors.New("an object of the repository has another content than its name says")

// get returns the content of an object of a kind, which is the one that its name says.
func (o *objects) get(id, kind string) ([]byte, error) {
	if data, ok := o.tree[id]; ok && kind == "tree" {
		return data, nil
	}
	if _, err := io.WriteString(o.in, id+"\n"); err != nil {
		return nil, err
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git ended: %w", err)
	}
	f := strings.Fields(head)
	if len(f) != 3 || f[0] != id || f[1] != kind { //nolint:mnd // NAME KIND SIZE
		return nil, fmt.Errorf("there is no %s %s", kind, id)
	}
	size, err := strconv.Atoi(f[2])
	if err != nil || size > mostObject {
		return nil, fmt.Errorf("%s %s is too large: %s bytes", kind, id, f[2])
	}
	data := make([]byte, size+1) // a line feed follows
	if _, err := io.ReadFull(o.out, data); err != nil {
		return nil, err
	}
	data = data[:size]
	sum := sha1.New() //nolint:gosec // the hash of git
	if len(id) == 2*sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", kind, size)
	sum.Write(data)
	if hex.EncodeToString(sum.Sum(nil)) != id {
		return nil, errChanged
	}
	if kind == "tree" {
		o.tree[id] = data
	}
	return data, nil
}

// file reads a file of a commit. regular is false for a link and for what is in another repository.
func (o *objects) file(commit, path string) (data []byte, regular bool, err error) {
	data, err = o.get(commit, "commit")
	if err != nil {
		return nil, false, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	id, ok := strings.CutPrefix(line, "tree ")
	if !ok {
		return nil, false, errors.New("the commit has no tree")
	}
	names := strings.Split(path, "/")
	for i, name := range names {
		tree, err := o.get(id, "tree")
		if err != nil {
			return nil, false, err
		}
		mode, below, ok := entry(tree, name, len(id)/2)
		if !ok {
			return nil, false, errors.New("the commit has no such file")
		}
		id = below
		if i == len(names)-1 {
			if mode != "100644" && mode != "100755" {
				return nil, false, nil
			}
			data, err = o.get(id, "blob")
			return data, true, err
		}
	}
	return nil, false, nil
}

// entry finds a name in a tree: MODE NAME, a zero byte, and the hash.
func entry(tree []byte, name string, size int) (mode, id string, ok bool) {
	for len(tree) > 0 {
		head, rest, found := bytes.Cut(tree, []byte{0})
		if !found || len(rest) < size {
			return "", "", false
		}
		m, n, _ := strings.Cut(string(head), " ")
		if n == name {
			return m, hex.EncodeToString(rest[:size]), true
		}
		tree = rest[size:]
	}
	return "", "", false
}
