package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/sandbox/gitconfig"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/text"
)

// inside is the folder of the sandbox's own things, as the command sees it.
const inside = "/run/mycelium"

// work is what is made for one run on a project, and what is done after it.
type work struct {
	guarded *Guarded // what the command finds otherwise
	before  *Guarded // what was there before the command, and is not the work of another one that still runs
	folder  string   // on the machine: the private copies, and the note of what was there before
	lock    *atomicfile.Lock
	copies  []copied
	objects objects    // the covers of closed files in git's objects
	covers  []string   // the files in the place of Guarded.Covered, one by one
	files   string     // the copy of Command.Files; empty: there is none
	closed  []string   // files of the machine that are covered, see hidden
	spec    *jail.Spec // what the child was told; nil before it was
}

// copied is a git configuration with its private copy.
type copied struct {
	original string
	dir      *os.Root // the folder of the original
	was      []byte
	copy     string // in the folder of copies
	link     string // the copy, as the command sees it
}

// prepare looks at the project and makes the private copies.
func (c *Command) prepare(ctx context.Context) (*work, error) {
	w := &work{guarded: &Guarded{}}
	copies := c.guards() || c.Files != nil
	if c.Quarantine == "" && !copies {
		return w, nil
	}
	turn, err := c.turn()
	if err != nil {
		return nil, err
	}
	defer func() { _ = turn.Unlock() }()
	others, err := c.recoverAll(ctx)
	if err != nil {
		return nil, err
	}
	if c.guards() {
		c.makeWorktrees()
	}
	if c.Quarantine != "" { // secrets are hidden from those who only read the project, too
		closed := make(chan objects, 1)
		go func() { closed <- c.closedObjects(ctx) }()
		w.guarded, err = c.look(ctx, nil)
		if w.objects = <-closed; err != nil {
			return nil, err
		}
	}
	if !copies {
		return w, nil
	}
	w.before = w.guarded
	for _, o := range others {
		w.before = w.before.within(o)
	}
	if err := w.begin(c); err != nil {
		return nil, fmt.Errorf("make a folder for private copies: %w", err)
	}
	if err := w.copy(c); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
}

// makeWorktrees makes git's folder of linked worktrees in the repository of the project, if it has none. One that somebody else makes while
// the command runs would look like the command's, and be put away with every worktree in it. One that is there is only read by the command.
func (c *Command) makeWorktrees() {
	git := filepath.Join(c.Project, gitName)
	if st, err := os.Lstat(git); err != nil || !st.IsDir() {
		return
	}
	if st, err := os.Lstat(filepath.Join(git, "HEAD")); err == nil && st.Mode().IsRegular() {
		_ = os.Mkdir(filepath.Join(git, "worktrees"), 0o755) //nolint:gosec // as git makes it
	}
}

// copy makes the private copies of a command.
func (w *work) copy(c *Command) error {
	if c.Files != nil {
		w.files = filepath.Join(w.folder, "files")
		if err := copyFiles(w.files, c.Files); err != nil {
			return fmt.Errorf("copy the files of the command: %w", err)
		}
	}
	if !c.guards() {
		return nil
	}
	if err := w.coverTracked(); err != nil {
		return fmt.Errorf("make what stands in the place of files that no agent may open: %w", err)
	}
	for i, path := range w.guarded.Configs {
		if err := w.copyConfig(c, path, strconv.Itoa(i)); err != nil {
			return fmt.Errorf("copy the configuration of git: %w", err)
		}
	}
	return nil
}

// coverTracked makes a file of zeros for each covered one, with its size and time: by these git tells that the file is unchanged (covering).
func (w *work) coverTracked() error {
	if len(w.guarded.Covered) == 0 {
		return nil
	}
	dir := filepath.Join(w.folder, "covers")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for i, path := range w.guarded.Covered {
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, strconv.Itoa(i))
		err = os.WriteFile(file, nil, 0o600)
		err = errors.Join(err, os.Truncate(file, st.Size()), os.Chmod(file, st.Mode().Perm()), os.Chtimes(file, st.ModTime(), st.ModTime()))
		if err != nil {
			return err
		}
		w.covers = append(w.covers, file)
	}
	return nil
}

// covering is added to the copies of git's configuration where files or objects are covered. Git then compares sizes and times of files, and
// not their numbers; it does not collect objects that it cannot read; and it does not use a table of all packs.
const covering = "\n[core]\n\tcheckStat = minimal\n\ttrustctime = false\n\tmultiPackIndex = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"

// mostCopied bounds the files of a command, in bytes.
const mostCopied = 256 << 20

// copyFiles copies the regular files of a folder. What is hidden or a link is left out, as in the folder of a skill.
func copyFiles(to string, from fs.FS) error {
	left := int64(mostCopied)
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(from, name)
		if left -= int64(len(data)); err == nil && left < 0 {
			err = fmt.Errorf("they have more than %d MiB", mostCopied>>20)
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	})
}

// guards reports whether the command may write a project that has something to guard.
func (c *Command) guards() bool { return c.Quarantine != "" && (c.Profile.Project || len(c.Write) > 0) }

// turnWait is how long a run waits for others that begin or end at this moment.
const turnWait = 2 * time.Minute

// turn waits until no other run on the project begins or ends: what one finds must not be changed by the end of another.
func (c *Command) turn() (*atomicfile.Lock, error) {
	l, err := atomicfile.LockWait(c.Scratch+".lock", turnWait)
	if err != nil {
		return nil, fmt.Errorf("wait for other commands in the sandbox that begin or end: %w", err)
	}
	return l, nil
}

// covers reports whether a path lies in what the look covers.
func (c *Command) covers(path string) bool {
	return slices.ContainsFunc(c.roots(), func(root string) bool { return below(path, root) })
}

// git is the program git, from a folder that no command in the sandbox may write; "" if there is none.
func (c *Command) git() string {
	for _, v := range c.Environ {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := resolved(filepath.Join(dir, "git"))
			st, err := os.Stat(path)
			if err == nil && filepath.IsAbs(dir) && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && !c.covers(path) && !c.covers(dir) {
				return filepath.Join(dir, "git")
			}
		}
	}
	return ""
}

// copyConfig makes the private copy of a repository's configuration. The command finds a link to it.
func (w *work) copyConfig(c *Command, original, name string) error {
	dir, err := c.parent(original)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := readSmall(dir, filepath.Base(original))
	if err != nil {
		return errors.Join(ignoreAbsent(err), dir.Close())
	}
	if len(w.guarded.Covered)+len(w.objects.masks)+len(w.objects.binds) > 0 {
		data = append(data, covering...)
	}
	own := copied{original, dir, data, filepath.Join(name, "config"), filepath.Join(inside, "git", name, "config")}
	file := filepath.Join(w.folder, "git", own.copy)
	w.copies = append(w.copies, own)
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, data, 0o600))
}

// binds are the parts of the root that show the copies.
func (w *work) binds() (out []jail.Bind) {
	if w.files != "" {
		out = append(out, jail.Bind{Kind: jail.Tree, Source: w.files, Target: Folder})
	}
	if w.objects.lost != "" {
		out = append(out, jail.Bind{Kind: jail.Tree, Source: w.objects.lost, Target: lostFolder})
	}
	if len(w.copies) > 0 {
		out = append(out, jail.Bind{Kind: jail.Tree, Source: filepath.Join(w.folder, "git"), Target: filepath.Join(inside, "git"), Write: true})
	}
	for _, c := range w.copies {
		out = append(out, jail.Bind{Kind: jail.Link, Source: c.link, Target: c.original})
	}
	return out
}

// Left is what a command left that is not taken over as it is.
type Left struct {
	Quarantined []string        `json:"quarantined,omitzero"` // files that would govern: they are in the quarantine now
	Settings    []string        `json:"settings,omitzero"`    // keys of a git configuration that were dropped
	Git         string          `json:"git,omitzero"`         // why git found no objects
	Lacks       []Lack          `json:"lacks,omitzero"`       // what it may have wanted, if it failed
	Refused     []proxy.Refusal `json:"refused,omitzero"`     // hosts that it wanted to reach, and packages
}

// Say tells what did not stay, and what the command may have wanted, a line for each.
func (l Left) Say(to io.Writer, quarantine string) { l.say(to, quarantine, Lack.Say) }

// SayToAgent is Say for an agent, which learns from it nothing of what is on the machine.
func (l Left) SayToAgent(to io.Writer, quarantine string) { l.say(to, quarantine, Lack.SayToAgent) }

func (l Left) say(to io.Writer, quarantine string, words func(Lack) string) {
	for _, path := range l.Quarantined {
		fmt.Fprintf(to, "myc: the command made %s, which would govern agents: it is in %s now\n", text.Visible(path), quarantine)
	}
	if l.Git != "" {
		fmt.Fprintln(to, "myc:", text.Visible(l.NoGit()))
	}
	for _, r := range l.Refused {
		fmt.Fprintf(to, "myc: %s: refused: %s\n", text.Visible(r.What()), text.Visible(r.Why))
	}
	for _, key := range l.Settings {
		fmt.Fprintf(to, "myc: the command set %s in the configuration of git: git may run what it says, so it was not kept\n",
			text.Visible(key))
	}
	for _, lack := range l.Lacks {
		if s := words(lack); s != "" {
			fmt.Fprintln(to, "myc:", text.Visible(s))
		}
	}
}

// NoGit says that git did not work, with the reason and the way to mend it.
func (l Left) NoGit() string {
	return "git finds no objects in the sandbox, because it cannot be told which of them are files that no agent may open (" + l.Git +
		"); git fsck, outside, says what is wrong with the repository"
}

// settle takes over what may be, and moves away what would govern. If that fails, the note of the run stays: nothing runs in the sandbox
// until a later run has done it.
func (w *work) settle(ctx context.Context, c *Command) (left Left, err error) {
	switch {
	case w.folder == "":
		return left, nil
	case !c.guards():
		return left, w.end()
	}
	ctx = context.WithoutCancel(ctx)
	turn, err := c.turn()
	if err != nil {
		return left, errors.Join(unsettled(err), w.close())
	}
	defer func() { _ = turn.Unlock() }()
	now, err := c.look(ctx, w.before)
	if err == nil {
		left, err = c.putAway(ctx, now, w.before)
	}
	if err != nil {
		return left, errors.Join(unsettled(err), w.close())
	}
	for _, own := range w.copies {
		dropped, mergeErr := w.merge(ctx, c, own)
		left.Settings = append(left.Settings, dropped...)
		if mergeErr != nil {
			err = errors.Join(err, fmt.Errorf("take over what the command changed in %q: %w", own.original, mergeErr))
		}
	}
	return left, errors.Join(err, w.end())
}

// unsettled says what follows from an end that failed.
func unsettled(err error) error {
	return text.Hinted(fmt.Errorf("put away what a command in the sandbox left: %w", err),
		"nothing runs in the sandbox of this project until this is done: mend the cause, and the next command tries again")
}

// merge takes over what a command changed in its copy of a configuration. What it made of the copy's folder is looked at from above it, and
// no link in it is followed.
func (w *work) merge(ctx context.Context, c *Command, own copied) (dropped []string, err error) {
	is, err := w.readCopy(own)
	if err != nil {
		is = nil
	}
	if is != nil && slices.Equal(is, own.was) {
		return nil, nil
	}
	git, name := c.git(), filepath.Base(own.original)
	now, err := readSmall(own.dir, name)
	if err != nil || git == "" {
		return []string{"(the whole file)"}, ignoreAbsent(err)
	}
	out, dropped, err := gitconfig.Merge(ctx, git, c.Scratch, own.was, is, now)
	if err != nil || slices.Equal(out, now) {
		return dropped, err
	}
	st, err := own.dir.Lstat(name)
	if err != nil {
		return dropped, err
	}
	// This is git's own lock for the file.
	lock := name + ".lock"
	err = writeNew(own.dir, lock, out, st.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return append(dropped, "(all changes: "+own.original+".lock is in the way)"), nil
	}
	if err != nil {
		return dropped, err
	}
	return dropped, own.dir.Rename(lock, name)
}

// readCopy reads a copy after the command, which may have put anything in its place.
func (w *work) readCopy(own copied) ([]byte, error) {
	r, err := os.OpenRoot(filepath.Join(w.folder, "git"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	dir, err := openFolder(r, filepath.Dir(own.copy))
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return readSmall(dir, filepath.Base(own.copy))
}
