package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
	guarded *Guarded
	folder  string // on the machine: the private copies, and the note of what was there before
	lock    *atomicfile.Lock
	copies  []copied
	files   string     // the copy of Command.Files; empty: there is none
	spec    *jail.Spec // what the child was told; nil before it was
}

// copied is a git configuration with its private copy.
type copied struct{ original, before, after, link string }

// prepare looks at the project and makes the private copies.
func (c *Command) prepare() (*work, error) {
	w := &work{guarded: &Guarded{}}
	copies := c.guards() || c.Files != nil
	if copies {
		if err := c.Recover(); err != nil {
			return nil, err
		}
	}
	if c.Quarantine != "" { // secrets are hidden from those who only read the project, too
		var err error
		if w.guarded, err = c.guard(); err != nil {
			return nil, err
		}
	}
	if !copies {
		return w, nil
	}
	if err := w.begin(c); err != nil {
		return nil, fmt.Errorf("make a folder for private copies: %w", err)
	}
	if err := w.copy(c); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
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
	for i, dir := range w.guarded.Git {
		if err := w.copyConfig(dir, strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

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
			return skip(d)
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

// guard looks at the project, at what the command may write elsewhere, and at the repository of a linked worktree.
func (c *Command) guard() (*Guarded, error) {
	g, err := Guard(c.Project, c.Home)
	for _, path := range c.Write {
		if err != nil {
			return nil, err
		}
		if within(path, c.Project) {
			continue
		}
		var more *Guarded
		if more, err = Guard(path, c.Home); err == nil {
			g.Fixed, g.Hidden, g.Git = append(g.Fixed, more.Fixed...), append(g.Hidden, more.Hidden...), append(g.Git, more.Git...)
		}
	}
	if err == nil && c.Worktree != nil {
		g.Git = append(g.Git, c.Worktree.Common)
		g.Fixed = append(g.Fixed, gitFixed(c.Worktree.Common)...)
	}
	return g, err
}

// copyConfig makes the private copy of a repository's configuration. The command finds a link to it.
func (w *work) copyConfig(dir, name string) error {
	original := filepath.Join(dir, "config")
	data, err := os.ReadFile(original)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy the configuration of git: %w", err)
	}
	own := copied{original, filepath.Join(w.folder, "was"+name), filepath.Join(w.folder, "git", name, "config"),
		filepath.Join(inside, "git", name, "config")}
	err = errors.Join(os.MkdirAll(filepath.Dir(own.after), 0o700), os.WriteFile(own.before, data, 0o600), os.WriteFile(own.after, data, 0o600))
	if err != nil {
		return fmt.Errorf("copy the configuration of git: %w", err)
	}
	w.copies = append(w.copies, own)
	return nil
}

// binds are the parts of the root that show the copies.
func (w *work) binds() (out []jail.Bind) {
	if w.files != "" {
		out = append(out, jail.Bind{Kind: jail.Tree, Source: w.files, Target: Folder})
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
	Lacks       []Lack          `json:"lacks,omitzero"`       // what it may have wanted, if it failed
	Refused     []proxy.Refusal `json:"refused,omitzero"`     // hosts that it wanted to reach
}

// Say tells what did not stay, and what the command may have wanted, a line for each.
func (l Left) Say(to io.Writer, quarantine string) { l.say(to, quarantine, Lack.Say) }

// SayToAgent is Say for an agent, which learns from it nothing of what is on the machine.
func (l Left) SayToAgent(to io.Writer, quarantine string) { l.say(to, quarantine, Lack.SayToAgent) }

func (l Left) say(to io.Writer, quarantine string, words func(Lack) string) {
	for _, path := range l.Quarantined {
		fmt.Fprintf(to, "myc: the command made %s, which would govern agents: it is in %s now\n", path, quarantine)
	}
	for _, r := range l.Refused {
		fmt.Fprintf(to, "myc: host %s: refused: %s\n", text.Visible(r.Host), text.Visible(r.Why))
	}
	for _, key := range l.Settings {
		fmt.Fprintf(to, "myc: the command set %s in the configuration of git: git may run what it says, so it was not kept\n", key)
	}
	for _, lack := range l.Lacks {
		if s := words(lack); s != "" {
			fmt.Fprintln(to, "myc:", text.Visible(s))
		}
	}
}

// settle takes over what may be, and moves away what would govern.
func (w *work) settle(ctx context.Context, c *Command) (left Left, err error) {
	switch {
	case w.folder == "":
		return left, nil
	case !c.guards():
		return left, w.end()
	}
	ctx = context.WithoutCancel(ctx)
	for _, own := range w.copies {
		dropped, mergeErr := gitconfig.Merge(ctx, own.original, own.before, own.after)
		left.Settings = append(left.Settings, dropped...)
		err = errors.Join(err, mergeErr)
	}
	var awayErr error
	left.Quarantined, awayErr = c.putAway(w.guarded)
	return left, errors.Join(err, awayErr, w.end())
}

// putAway moves what governs and was not there before to the quarantine.
func (c *Command) putAway(before *Guarded) (moved []string, err error) {
	now, err := c.guard()
	if err != nil {
		return nil, err
	}
	for _, path := range now.Since(before) {
		err = errors.Join(err, c.quarantine(path))
		moved = append(moved, path)
	}
	return moved, err
}
