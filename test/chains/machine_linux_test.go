package chains

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// machine is a world from inside.
type machine struct {
	ctx context.Context
	// said is everything that a step showed to the agent.
	said bytes.Buffer
	// turn counts the tools that the agent used, and session the chains.
	turn, session int
	unasked       bool              // the hook is not asked
	ready         bool              // see begin
	hello         string            // the gateway's last answers to the probes
	digests       map[string]string // see digest
	walled        *walled           // the agent was started by myc claude; nil: it has only the hook
}

// stepLimit ends a command that hangs; that is a failure of the chain's, not a way to wait.
const stepLimit = 5 * time.Minute

// commandLimit is how long Claude Code lets a command of its model run. Then it ends the command with all that it started.
const commandLimit = 2 * time.Minute

// job is what a worker does.
type job struct {
	Prepare bool // make the home, and answer with its tar file
	Daemon  bool // a daemon runs
	Unasked bool // the steps are taken without asking the hook
	Walled  bool // the agent was started by myc claude, and the policy has a wall
	Chain   chain
}

// newMachine unpacks the prepared home and closes the inherited descriptor, so that nothing leads outside.
func newMachine() (*machine, error) {
	snapshot := os.NewFile(snapshotFD, "snapshot")
	if err := unpack(snapshot); err != nil {
		return nil, fmt.Errorf("unpack the home: %w", err)
	}
	return &machine{ctx: context.Background(), digests: map[string]string{}}, snapshot.Close()
}

// does does a job.
func (m *machine) does(j job) (any, error) {
	if j.Prepare {
		return m.prepare(j.Walled)
	}
	return m.play(j)
}

// pack writes the home as a tar file, without our programs.
func pack(out io.Writer) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == home {
			return err
		}
		if path == binDir {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		link := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if link, err = os.Readlink(path); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		h.Name, h.Format = strings.TrimPrefix(path, home+"/"), tar.FormatPAX
		if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	return errors.Join(err, w.Close())
}

// unpack is the reverse of pack. Times are kept, so that git's index is as it was.
func unpack(in io.Reader) error {
	r := tar.NewReader(in)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(home, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			if err := os.MkdirAll(path, h.FileInfo().Mode()); err != nil {
				return err
			}
			continue
		case tar.TypeSymlink:
			if err := os.Symlink(h.Linkname, path); err != nil {
				return err
			}
			continue
		default:
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, h.FileInfo().Mode())
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, r); err != nil {
			return err
		}
		if err := errors.Join(f.Close(), os.Chtimes(path, h.ModTime, h.ModTime)); err != nil {
			return err
		}
	}
}

// env is the environment of a person's shell; more replaces what it names.
func env(more ...string) []string {
	out := []string{
		"HOME=" + home, "USER=dev", "LOGNAME=dev", "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "ENABLE_DASHBOARD=false",
		"XDG_RUNTIME_DIR=" + runDir, "PATH=" + binDir + ":/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1",
	}
	for _, entry := range more {
		name, _, _ := strings.Cut(entry, "=")
		out = slices.DeleteFunc(out, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		out = append(out, entry)
	}
	return out
}

// output is what a process printed, and how it ended.
type output struct {
	stdout, stderr string
	code           int
}

// start runs a program in the project to its end.
func (m *machine) start(input string, environ []string, argv ...string) (output, error) {
	o, ended, err := m.startWithin(stepLimit, input, environ, argv...)
	if !ended && err == nil {
		err = fmt.Errorf("%q did not end within %s", argv, stepLimit)
	}
	return o, err
}

// startWithin runs a program in the project, and ends it with its group if it does not end in time.
func (m *machine) startWithin(limit time.Duration, input string, environ []string, argv ...string) (o output, ended bool, err error) {
	ctx, cancel := context.WithTimeout(m.ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = projectDir, environ, strings.NewReader(input)
	if _, err := os.Stat(projectDir); err != nil {
		cmd.Dir = home // the chain took the project away
	}
	// To files in memory: a process that is left in the background keeps them open, and nobody waits for it.
	var files [2]*os.File
	for i := range files {
		fd, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
		if err != nil {
			return output{}, false, err
		}
		f := os.NewFile(uintptr(fd), "output")
		defer f.Close()
		files[i] = f
	}
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	ended = ctx.Err() == nil
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return output{stderr: err.Error(), code: 127}, true, nil
	}
	if err != nil && cmd.ProcessState == nil {
		return output{}, false, fmt.Errorf("start %q: %w", argv, err)
	}
	o = output{code: cmd.ProcessState.ExitCode()}
	for i, to := range []*string{&o.stdout, &o.stderr} {
		b, err := io.ReadAll(io.NewSectionReader(files[i], 0, 1<<20))
		if err != nil {
			return output{}, false, err
		}
		*to = string(b)
	}
	return o, ended, nil
}

// person runs a command line as the person does.
func (m *machine) person(line string) (output, error) {
	return m.start("", env(), "/bin/bash", "-c", line)
}

// must is person, and the command has to succeed.
func (m *machine) must(line string) (string, error) {
	o, err := m.person(line)
	if err == nil && o.code != 0 {
		err = fmt.Errorf("%s: exit %d\n%s%s", line, o.code, o.stdout, o.stderr)
	}
	return o.stdout, err
}
