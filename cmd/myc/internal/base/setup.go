package base

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/config/scaffold"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/node/schemas"
	"mycelium/internal/op/failure"
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
	ships, err := before.Shipped(before)
	if err != nil {
		return fmt.Errorf("init %s: %w", dir, err)
	}
	tellShipped(a.Out, done, o, ships)
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

// tellShipped says what the project uses of the program, or why it uses nothing.
func tellShipped(out io.Writer, done *scaffold.Written, o scaffold.Options, ships map[string][]byte) {
	switch {
	case len(ships) > 0:
		fmt.Fprintf(out, "uses  %d skills and roles of the program: myc skill list and myc roles list show them, myc skill eject NAME and\n"+
			"      myc roles eject NAME write one into the project, to be changed\n", len(units(ships)))
	case !o.Minimal && slices.Contains(done.Kept, source.MainFile):
		fmt.Fprintf(out, "note  %s was kept and has no line \"shipped: true\": the skills and roles of the program are not used\n",
			source.MainFile)
	}
}

// units are the skills and roles of files.
func units(files map[string][]byte) []string {
	var out []string
	for name := range files {
		out = append(out, shipped.Unit(name))
	}
	slices.Sort(out)
	return slices.Compact(out)
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
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil {
					err = addFile(filepath.Join(copied, name), data)
				}
				if err != nil {
					return err
				}
			}
			if err := addShipped(copied, p, done); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = schemas.Write(p.Dir)
	}
	return done, err
}

// addShipped adds what the project uses of the program to what is accepted, if it does so since this init.
func addShipped(copied string, p *config.Project, done *scaffold.Written) error {
	if !slices.Contains(done.Written, source.MainFile) {
		return nil
	}
	ships, err := p.Shipped(p)
	if err != nil {
		return err
	}
	for name, data := range ships {
		if err := addFile(filepath.Join(copied, name), data); err != nil {
			return err
		}
	}
	return nil
}

// addFile writes a file unless there is one.
func addFile(to string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
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

// WithShipped is the name of a file for people, with a mark if it comes with the program and does not lie in the project.
func WithShipped(file string, ships map[string][]byte) string {
	if ships[file] != nil {
		return file + " (shipped)"
	}
	return file
}
