package agents

import (
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

// programPath is the PATH on which a program finds its interpreter: links above it may not be there in the sandbox.
func programPath(program, path string) string {
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
