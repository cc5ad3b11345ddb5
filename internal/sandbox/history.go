package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/credential/held"
	"mycelium/internal/policy"
	"mycelium/internal/policy/paths"
	"mycelium/internal/sandbox/jail"
)

// A closed file that git has is in git's objects too, where git show prints it. The command finds these objects covered: a loose one by an
// empty file, and a pack that has one by a copy of the pack without it. Everything else of the repository is as it is and may be written: new
// objects go where they always go, and nothing has to be taken over after the command. What is covered cannot be removed inside, so a git gc
// there fails and loses nothing.

// history is a record of the closed files in the commits of a repository. It is kept in Command.History.
type history struct {
	file    string
	Refs    string              `json:"refs"` // digest of the state of the references
	Index   string              `json:"index"`
	Tips    []string            `json:"tips"`              // the commits whose history is known
	Closed  map[string]string   `json:"closed,omitempty"`  // objects, each with a path; they stay, because a command may hide the way to them
	Copied  map[string]bool     `json:"copied,omitempty"`  // those of Closed of which an open file of the working tree is a copy
	Packs   map[string][]string `json:"packs,omitempty"`   // by the state of a pack: the objects of Closed that it has
	PacksOf string              `json:"packsOf,omitempty"` // digest of Closed and Copied, for Packs
}

// historyPrefix begins the name of a file with a history; a digest of the closed names follows.
const historyPrefix = "history-"

// scrubs reports whether commits do not show closed files.
func (c *Command) scrubs() bool {
	if c.History == "" || c.Untrusted || c.git() == "" {
		return false
	}
	dir := c.commonDir()
	st, err := os.Lstat(filepath.Join(dir, "objects"))
	return err == nil && st.IsDir() && !otherFormat(dir)
}

// commonDir is the folder of git that all working trees of the project's repository share.
func (c *Command) commonDir() string {
	if c.Worktree != nil {
		return c.Worktree.Common
	}
	return filepath.Join(c.Project, gitName)
}

// otherFormat reports whether a repository keeps its objects or references in a form that this package does not read.
func otherFormat(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "config"))
	low := bytes.ToLower(data)
	return err != nil || bytes.Contains(low, []byte("objectformat")) || bytes.Contains(low, []byte("refstorage"))
}

// objects are the covers of parts of git's store of objects.
type objects struct {
	masks []string
	binds []jail.Bind
	// lost is a folder with an empty object for each that packs have no more; "": they have all. The command finds it beside the repository:
	// git does not commit a tree with a file whose object is not there.
	lost string
	why  string // why all are covered; "": they are not
}

// lostFolder is where the command finds the empty objects.
const lostFolder = inside + "/objects"

// paths are the covered parts.
func (o objects) paths() []string {
	out := slices.Clone(o.masks)
	for _, b := range o.binds {
		out = append(out, b.Target)
	}
	return out
}

// closedObjects finds which objects are to be covered. If that cannot be told, all are, and git does not work inside.
func (c *Command) closedObjects(ctx context.Context) (out objects) {
	if !c.scrubs() {
		return objects{}
	}
	h, err := c.history(ctx)
	if err == nil {
		out, err = c.cover(ctx, h)
	}
	if err != nil {
		return objects{masks: []string{filepath.Join(c.commonDir(), "objects")}, why: err.Error()}
	}
	return out
}

// history reads the record of the repository, and brings it up to date. Each policy has a file of its own, because scopes take turns.
func (c *Command) history(ctx context.Context) (*history, error) {
	x, err := c.closes()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.History, 0o700); err != nil {
		return nil, err
	}
	h, err := readHistory(filepath.Join(c.History, historyPrefix+x.digest[:32]))
	if err != nil {
		return nil, err
	}
	index, refs := stamp(filepath.Join(c.ownDir(), "index")), stamps(c.commonDir())
	if h.Refs == refs && h.Index == index {
		return h, nil
	}
	if h.Refs != refs {
		if err := h.others(c.History, x); err != nil {
			return nil, err
		}
		if err := c.scan(ctx, h, x); err != nil {
			return nil, err
		}
	}
	if err := c.scanIndex(ctx, h, x); err != nil {
		return nil, err
	}
	h.Refs, h.Index = refs, index
	return h, h.write()
}

func readHistory(file string) (*history, error) {
	h := &history{file: file}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err == nil {
		err = json.Unmarshal(data, h)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return h, nil
}

// others takes over the files that were found under other policies and are closed by this one: no commit may reach it any more.
func (h *history) others(folder string, x *closes) error {
	files, err := filepath.Glob(filepath.Join(folder, historyPrefix+"*"))
	for _, file := range files {
		if strings.HasSuffix(file, ".index") {
			continue
		}
		other, readErr := readHistory(file)
		if readErr != nil {
			return readErr
		}
		for object, path := range other.Closed {
			if x.named(path) {
				h.close(object, path)
			}
		}
	}
	return err
}

func (h *history) close(object, path string) {
	if h.Closed == nil {
		h.Closed = map[string]string{}
	}
	h.Closed[object] = path
}

func (h *history) write() error {
	data, err := json.Marshal(h, json.Deterministic(true))
	if err == nil {
		err = atomicfile.Note(h.file, data, 0o600)
	}
	return err
}

// ownDir is the folder of git with the index.
func (c *Command) ownDir() string {
	if c.Worktree != nil {
		return c.Worktree.Own
	}
	return c.commonDir()
}

// stamp says how a file is now, as far as its size, time and number do.
func stamp(path string) string {
	st, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d %d\n", path, st.Size(), st.ModTime().UnixNano(), inodeOf(st))
}

// stamps is a digest of the state of everything by which a repository reaches commits.
func stamps(dir string) string {
	sum := sha256.New()
	for _, name := range []string{"HEAD", "packed-refs", "shallow", "refs", "logs", "worktrees"} {
		_ = filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && (!d.IsDir() || name != "worktrees") {
				_, _ = io.WriteString(sum, stamp(path))
			}
			return nil //nolint:nilerr // a name that is not there leads nowhere
		})
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// closes says which names are closed in every commit.
type closes struct {
	digest string
	top    string
	home   string
	forms  forms
	closer *policy.Closer
}

func (c *Command) closes() (*closes, error) {
	closer, err := c.Closed.Compile(c.Project)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(struct {
		Closed  policy.Closed
		Base    []policy.BasePath
		Project string
		Home    string
	}{c.Closed, policy.BasePaths(), c.Project, c.Home}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return &closes{hex.EncodeToString(sum[:]), c.Project, c.Home, guardedForms(c.Project, c.Home), closer}, nil
}

// named reports whether a name closes a file, whatever is in it. path is relative to the top of the working tree.
func (x *closes) named(path string) bool {
	abs := filepath.Join(x.top, path)
	if read, _ := x.closer.Of(abs, abs); read {
		return true
	}
	for at := abs; len(at) > len(x.top); at = filepath.Dir(at) {
		if b, ok := x.forms.of(at, paths.FoldString(filepath.Base(at))); ok && !b.ChangeOnly {
			return true
		}
	}
	named, err := held.Committed(path, 0, func() (string, error) { return "", errNotSmall })
	return err == nil && named
}

// all sorts out the files that are closed, by their names or by their contents.
func (x *closes) all(files []held.Blob, cat func(in io.Reader, out io.Writer) error) ([]held.Blob, error) {
	var closed, rest []held.Blob
	for _, b := range files {
		if x.named(b.Path) {
			closed = append(closed, b)
		} else {
			rest = append(rest, b)
		}
	}
	secret, err := held.Blobs(rest, cat)
	for b, is := range secret {
		if is {
			closed = append(closed, b)
		}
	}
	return closed, err
}

// emptyBlob is the object of an empty file, which hides nothing.
const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// scan reads the commits that are not known yet, and notes the closed files in them. It looks at each change of each commit: a list of
// objects would have each object under one name only, which a command could choose.
func (c *Command) scan(ctx context.Context, h *history, x *closes) error {
	git, dir := c.git(), c.commonDir()
	var not strings.Builder
	for _, tip := range h.Tips {
		not.WriteString("^" + tip + "\n")
	}
	tips, err := output(plainGit(ctx, git, dir, "rev-list", "--all", "--reflog", "--no-walk=unsorted"))
	if err != nil {
		return err
	}
	cmd := plainGit(ctx, git, dir, "log", "--ignore-missing", "--all", "--reflog", "--stdin", "--format=", "--raw", "-z", "--no-abbrev",
		"--no-renames", "-c", "--root", "--no-textconv", "--no-ext-diff")
	cmd.Stdin = strings.NewReader(not.String())
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	seen := map[held.Blob]bool{}
	var files []held.Blob
	readErr := readChanges(pipe, func(object, path string) {
		b := held.Blob{Object: object, Path: path}
		if !seen[b] && object != emptyBlob {
			seen[b] = true
			files = append(files, b)
		}
	})
	if err := cmd.Wait(); err != nil || readErr != nil {
		return fmt.Errorf("git log: %w: %s", errors.Join(err, readErr), strings.TrimSpace(errs.String()))
	}
	if err := c.note(ctx, h, x, files); err != nil {
		return err
	}
	h.Tips = strings.Fields(tips)
	slices.Sort(h.Tips)
	h.Tips = slices.Compact(h.Tips)
	return nil
}

// note notes which of some files are closed.
func (c *Command) note(ctx context.Context, h *history, x *closes, files []held.Blob) error {
	closed, err := x.all(files, func(in io.Reader, out io.Writer) error {
		cmd := plainGit(ctx, c.git(), c.commonDir(), "cat-file", "--batch")
		cmd.Stdin, cmd.Stdout = in, out
		return cmd.Run()
	})
	for _, b := range closed {
		h.close(b.Object, b.Path)
	}
	return err
}

func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git: %w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// readChanges reads the output of git log --raw -z: ":100644 100644 OLD NEW M" and, after a NUL, the path; of a merge "::" with a mode and an
// object for each parent. A file that is removed has no new object.
func readChanges(from io.Reader, each func(object, path string)) error {
	r := bufio.NewReaderSize(from, 1<<16)
	for {
		about, err := r.ReadString(0)
		if errors.Is(err, io.EOF) && strings.TrimSpace(about) == "" {
			return nil
		}
		if err != nil {
			return err
		}
		if about = strings.TrimSpace(strings.Trim(about, "\x00")); about == "" {
			continue
		}
		path, err := r.ReadString(0)
		f := strings.Fields(about)
		if err != nil || about[0] != ':' || len(f) < 5 {
			return errors.Join(err, fmt.Errorf("it printed %.60q", about))
		}
		if object := f[len(f)-2]; strings.Trim(object, "0") != "" && !strings.HasPrefix(f[len(f)/2-1], "160000") {
			each(object, strings.TrimSuffix(path, "\x00"))
		}
	}
}

// scanIndex notes the closed files of the index, which no commit may have yet, and of which closed files an open one is a copy: its
// contents can be read there. The index of the last time is kept, so that only changes are looked at.
func (c *Command) scanIndex(ctx context.Context, h *history, x *closes) error {
	index, kept := c.gitIndex(), h.file+".index"
	var last gitIndex
	last.data, _ = os.ReadFile(kept)
	if len(last.data) < 12 || h.Index == "" {
		last.data = nil
	}
	var files []held.Blob
	index.since(last, func(object, path string) {
		if object != emptyBlob {
			files = append(files, held.Blob{Object: object, Path: path})
		}
	})
	if err := c.note(ctx, h, x, files); err != nil {
		return err
	}
	if h.Copied = nil; len(h.Closed) > 0 {
		index.since(gitIndex{}, func(object, path string) {
			if h.Closed[object] != "" && !h.Copied[object] && !x.named(path) && isBlob(filepath.Join(c.Project, path), object) {
				if h.Copied == nil {
					h.Copied = map[string]bool{}
				}
				h.Copied[object] = true
			}
		})
	}
	return atomicfile.Note(kept, index.data, 0o600)
}

// cover finds where the objects lie, and makes the copies of packs.
func (c *Command) cover(ctx context.Context, h *history) (out objects, err error) {
	if len(h.Closed) == 0 {
		return out, nil
	}
	var ids []string
	for object := range h.Closed {
		if !h.Copied[object] {
			ids = append(ids, object)
		}
	}
	slices.Sort(ids)
	store := filepath.Join(c.commonDir(), "objects")
	for _, id := range ids {
		path := filepath.Join(store, id[:2], id[2:])
		if exists(path) {
			out.masks = append(out.masks, path)
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	of := hex.EncodeToString(sum[:])
	changed := h.PacksOf != of
	if changed {
		h.Packs, h.PacksOf = map[string][]string{}, of
	}
	indexes, err := filepath.Glob(filepath.Join(store, "pack", "pack-*.idx"))
	if err != nil {
		return out, err
	}
	now := map[string][]string{}
	for _, idx := range indexes {
		key := stamp(idx)
		has, known := h.Packs[key]
		if !known {
			if has, err = packHas(idx, ids); err != nil {
				return out, fmt.Errorf("read %s: %w", idx, err)
			}
			changed = true
		}
		if now[key] = has; len(has) == 0 {
			continue
		}
		copied, err := c.withoutObjects(ctx, idx, has)
		if err != nil {
			return out, fmt.Errorf("copy %s without what no agent may open: %w", idx, err)
		}
		out.binds = append(out.binds, copied...)
		if out.lost, err = c.emptyObjects(of, ids); err != nil {
			return out, fmt.Errorf("make empty objects: %w", err)
		}
		if bitmap := strings.TrimSuffix(idx, ".idx") + ".bitmap"; exists(bitmap) {
			out.masks = append(out.masks, bitmap) // it is about the pack with these objects
		}
	}
	if h.Packs = now; changed {
		err = h.write()
	}
	return out, err
}

// emptyObjects makes the folder with empty objects, once. of is a digest of them.
func (c *Command) emptyObjects(of string, ids []string) (string, error) {
	folder, now := filepath.Join(c.History, "empty-"+of[:32]), time.Now()
	if os.Chtimes(folder, now, now) == nil { // it is there
		return folder, nil
	}
	temp, err := os.MkdirTemp(c.History, "new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	for _, id := range ids {
		dir := filepath.Join(temp, id[:2])
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, id[2:]), nil, 0o600); err != nil {
			return "", err
		}
	}
	return folder, keepFolder(temp, folder)
}

// keepFolder gives a folder its name, unless another command has made the same one meanwhile.
func keepFolder(temp, folder string) error {
	err := os.Rename(temp, folder)
	if err != nil && exists(folder) {
		return nil
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// packEnds are the ends of the names of files that belong to a pack and depend on which objects it has.
var packEnds = []string{".pack", ".idx", ".rev"}

// withoutObjects makes a copy of a pack without some of its objects, once, and returns the binds that put it in the place of the pack.
func (c *Command) withoutObjects(ctx context.Context, idx string, ids []string) (out []jail.Bind, err error) {
	sum := sha256.Sum256([]byte(stamp(idx) + strings.Join(ids, "\n")))
	folder := filepath.Join(c.History, "pack-"+hex.EncodeToString(sum[:16]))
	now := time.Now()
	if os.Chtimes(folder, now, now) != nil { // it is not there
		c.dropUnused(now)
		if err := c.repack(ctx, idx, folder, ids); err != nil {
			return nil, err
		}
	}
	base := strings.TrimSuffix(idx, ".idx")
	for _, end := range packEnds {
		source, target := filepath.Join(folder, "pack"+end), base+end
		if exists(target) {
			out = append(out, jail.Bind{Kind: jail.Tree, Source: source, Target: target, Strict: true})
		}
	}
	return out, nil
}

// keepCopies is how long a copy is kept that no command uses any more, because the pack is gone or the policy is another.
const keepCopies = 7 * 24 * time.Hour

// dropUnused removes copies that nobody has used for long.
func (c *Command) dropUnused(now time.Time) {
	entries, err := os.ReadDir(c.History)
	if err != nil {
		return
	}
	for _, e := range entries {
		if st, err := e.Info(); err == nil && e.IsDir() && now.Sub(st.ModTime()) > keepCopies {
			_ = os.RemoveAll(filepath.Join(c.History, e.Name()))
		}
	}
}

// repack writes the copy of a pack.
func (c *Command) repack(ctx context.Context, idx, folder string, ids []string) error {
	all, err := packList(idx)
	if err != nil {
		return err
	}
	leave := set(ids)
	var want strings.Builder
	for _, id := range all {
		if !leave[id] {
			want.WriteString(id + "\n")
		}
	}
	temp, err := os.MkdirTemp(c.History, "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	cmd := plainGit(ctx, c.git(), c.commonDir(), "-c", "pack.writeReverseIndex=true", "pack-objects", "-q", "--delta-base-offset", "--window=0",
		filepath.Join(temp, "pack"))
	cmd.Stdin = strings.NewReader(want.String())
	name, err := output(cmd)
	if err != nil {
		return err
	}
	for _, end := range packEnds {
		if err := os.Rename(filepath.Join(temp, "pack-"+strings.TrimSpace(name)+end), filepath.Join(temp, "pack"+end)); err != nil {
			return err
		}
	}
	return keepFolder(temp, folder)
}

// packList lists the objects of a pack by its index (gitformat-pack(5), version 2).
func packList(idx string) ([]string, error) {
	data, err := os.ReadFile(idx)
	if err != nil {
		return nil, err
	}
	n, err := packCount(data)
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, hex.EncodeToString(data[packHead+i*objectSize:packHead+(i+1)*objectSize]))
	}
	return out, nil
}

const (
	packHead   = 8 + 256*4
	objectSize = 20
)

var errPackIndex = errors.New("it is no index of a pack that this version reads")

func packCount(data []byte) (int, error) {
	if len(data) < packHead || string(data[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return 0, errPackIndex
	}
	n := int(binary.BigEndian.Uint32(data[packHead-4:]))
	if len(data) < packHead+n*objectSize {
		return 0, errPackIndex
	}
	return n, nil
}

// packHas returns those of some objects that a pack has.
func packHas(idx string, ids []string) (out []string, err error) {
	data, err := os.ReadFile(idx)
	if err != nil {
		return nil, err
	}
	n, err := packCount(data)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		raw, err := hex.DecodeString(id)
		if err != nil {
			return nil, err
		}
		low, high := 0, n
		for low < high {
			mid := (low + high) / 2
			switch bytes.Compare(data[packHead+mid*objectSize:packHead+(mid+1)*objectSize], raw) {
			case 0:
				out, low = append(out, id), high
			case -1:
				low = mid + 1
			default:
				high = mid
			}
		}
	}
	return out, nil
}
