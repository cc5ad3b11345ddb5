package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// identity are the variables with the name and the address in a configuration of git: Gemini CLI has its shell read none.
func identity(file string) (out []string) {
	for _, key := range []string{"name", "email"} {
		value, err := exec.Command("git", "config", "--file", file, "--get", "user."+key).Output() //nolint:noctx // it reads one file
		if said := strings.TrimSpace(string(value)); err == nil && said != "" {
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				out = append(out, "GIT_"+who+"_"+strings.ToUpper(key)+"="+said)
			}
		}
	}
	return out
}

// loopback reports whether a host is an address of this machine.
func loopback(host string) bool {
	return strings.HasPrefix(host, "127.") || strings.HasPrefix(host, "[::1]")
}

// programFiles are what an agent's program is made of: the folder of packages that it lies in, else the file; and its interpreter.
func programFiles(program string) []string {
	resolved, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil
	}
	out := []string{resolved}
	if before, _, ok := strings.Cut(resolved, "/node_modules/"); ok {
		out = []string{before + "/node_modules"}
	}
	return out
}

// programPath is the PATH on which an agent finds its interpreter: links above it may not be there in the sandbox.
func programPath(path string) string {
	for _, dir := range filepath.SplitList(path) {
		node := filepath.Join(dir, "node")
		if resolved, err := filepath.EvalSymlinks(node); err == nil && filepath.IsAbs(dir) {
			return filepath.Dir(resolved) + string(filepath.ListSeparator) + path
		}
	}
	return path
}

// lineWriter gives each whole line to a function.
type lineWriter struct {
	line func([]byte)
	part []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.part = append(w.part, b...)
	for {
		i := slices.Index(w.part, '\n')
		if i < 0 {
			return len(b), nil
		}
		w.line(w.part[:i])
		w.part = w.part[i+1:]
	}
}

// rest gives what has no line end.
func (w *lineWriter) rest() {
	if len(w.part) > 0 {
		w.line(w.part)
	}
}

// boxed describes the sandbox of the agent: the profile project, with the hosts of its model.
func (x *Boxed) boxed(s *install.Setup, private *install.Private, o Box, socket string) error {
	p, err := x.app.Load()
	if err != nil {
		return err
	}
	c, err := sandboxed.Command(o.Dir, s.State.For(s.Dir), x.app.Getenv("HOME"), x.app.Environ)
	if err != nil {
		return err
	}
	profile, ok := p.File.Sandbox.Find("project")
	if !ok {
		return errors.New("there is no profile project")
	}
	if o.Writes != "" {
		if err := OnlyWrites(&profile, o.Writes); err != nil {
			return err
		}
	}
	if strings.HasPrefix(string(s.State.Root), o.Dir+"/") {
		return fmt.Errorf("the state of the project is in %s, where the agent works", o.Dir)
	}
	c.Hide = nil // the state is not in this sandbox, but for the agent's home and the program of its hook
	c.Profile, c.Hosts, c.Protect, c.Grace = profile, private.Hosts, private.Fixed, 5
	c.Write = []string{o.Home}
	c.Read = append(append(c.Read, filepath.Dir(socket), s.Small), programFiles(x.program)...)
	c.Env = append(slices.Clone(private.Environ), "PATH="+programPath(x.app.Getenv("PATH")))
	c.GitConfig = filepath.Join(o.Home, "gitconfig")
	sandboxed.Identify("git", c.GitConfig, x.app.Environ)
	c.Env = append(c.Env, identity(c.GitConfig)...)
	x.command = c
	return nil
}

// OnlyWrites makes a profile one that writes one file, which is made here: only a file that exists can be shown in the sandbox.
func OnlyWrites(p *sandbox.Profile, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the file that it may write: %w", err)
	}
	p.Project, p.Write = false, []string{file}
	return nil
}
