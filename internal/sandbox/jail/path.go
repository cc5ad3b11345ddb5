package jail

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
)

// lookPath finds a program as a shell does, in the PATH of the command.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	search := "/usr/local/bin:/usr/bin:/bin"
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			search = p
		}
	}
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", errors.New(name + ": there is no such program in the PATH of the sandbox (" + search + ")")
}
