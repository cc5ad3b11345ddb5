package base

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/config/scaffold"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/fence"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// SetUp writes the files of a new project into the folder, and accepts what it wrote.
func (a *App) SetUp(o scaffold.Options) error {
	if err := a.NeedPerson("set up a project"); err != nil {
		return err
	}
	if err := os.MkdirAll(a.Dir, 0o755); err != nil { //nolint:gosec // a person's own folder
		return fmt.Errorf("init: %w", err)
	}
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	folder, err := a.Folder()
	if err != nil {
		return err
	}
	if folder != dir {
		return failure.New(failure.Usage, fmt.Errorf("init: %s is a worktree of %s, whose files count in both", folder, dir),
			"myc -C "+dir+" init")
	}
	if err := a.Begin(a.Know); err != nil {
		return err
	}
	before, err := a.Load() // with what was there before, such as the .mcp.json of a clone
	if err != nil {
		return err
	}
	done, err := a.scaffold(before, o)
	if err != nil {
		return err
	}
	tellWritten(a.Out, done, o)
	switch {
	case before.Trusted && !before.User.Missing(): // what was written is accepted; what was there before stays as it was
	case len(done.Kept)+len(before.Untrusted) == 0 && !before.User.Missing(): // nobody else wrote any of it
		var c *config.Candidate
		if c, err = config.OwnCandidate(before); err == nil {
			err = c.Accept(time.Now())
		}
	default:
		err = a.askTrust(before)
	}
	if err != nil {
		return fmt.Errorf("init %s: %w", dir, err)
	}
	return nil
}

// tellWritten prints what init did to each file, and what an import could not carry over.
func tellWritten(out io.Writer, done *scaffold.Written, o scaffold.Options) {
	for _, f := range done.Written {
		fmt.Fprintf(out, "wrote %s\n", f)
	}
	for _, f := range done.Kept {
		fmt.Fprintf(out, "kept  %s\n", f)
	}
	if o.Import == nil {
		return
	}
	for _, n := range o.Import.Notes {
		fmt.Fprintf(out, "note  %s\n", text.Visible(n))
	}
}

// Begin is the first step of an act with which a person takes a folder under the policy: know makes its state known, and if the person
// has no files of his own, that is accepted, so that such files wait if they appear later.
func (a *App) Begin(know func() (state.Paths, error)) error {
	if _, err := know(); err != nil {
		return err
	}
	if _, err := a.KnowOutside(); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	return p.User.AcceptNone(time.Now())
}

// scaffold writes the files that the project lacks. Where files are accepted, those that it wrote are accepted with them.
func (a *App) scaffold(p *config.Project, o scaffold.Options) (done *scaffold.Written, err error) {
	err = p.Write(time.Now(), func(folders []string) error {
		dir := folders[len(folders)-1]
		if done, err = scaffold.Init(dir, o); err != nil {
			return err
		}
		for _, copied := range folders[:len(folders)-1] {
			for _, name := range done.Written {
				if err := copyFile(filepath.Join(copied, name), filepath.Join(dir, name)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return done, err
}

// copyFile copies a file unless there is one.
func copyFile(to, from string) error {
	data, err := os.ReadFile(filepath.Clean(from))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Clean(to), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// SayProject says to a person which project a command is about, if it was called in another working tree of it.
func (a *App) SayProject() {
	if note := a.Note(); note != "" && !a.JSON {
		fmt.Fprintln(a.Err, "project: "+note)
	}
}

// CheckTrust asks a person to accept the files of a project, or his own, of which nobody has accepted anything, or says that this is
// missing. A command goes on without: then what is accepted and the built-in server take effect.
func (a *App) CheckTrust() error {
	p, err := a.Load()
	if err != nil || !p.Missing() && !p.User.Missing() {
		return err
	}
	return a.askTrust(p)
}

// askTrust asks a person at a terminal. Elsewhere it prints the command to run.
func (a *App) askTrust(p *config.Project) error {
	if !StdinIsTerminal(a.In) || fence.AgentHere(a.Environ) != "" {
		if p.User.Missing() {
			fmt.Fprintf(a.Err, "myc: nothing of your own files in %s is accepted: no call is allowed in any project\n", p.UserDir)
		}
		if p.Missing() {
			fmt.Fprintf(a.Err, "myc: nothing of %s is accepted: its own servers, skills and rules do not take effect\n", p.Dir)
		}
		fmt.Fprintf(a.Err, "hint: myc -C %s trust shows their contents and accepts them (trust is of contents, not of a folder)\n", a.Dir)
		return nil
	}
	c, err := p.Candidate()
	if err != nil {
		return err
	}
	if c.Postponed() {
		return nil
	}
	_, err = a.Review(context.Background(), p, c, Consent{})
	return err
}
