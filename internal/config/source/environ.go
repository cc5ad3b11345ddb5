package source

import (
	"path/filepath"
	"strings"
)

// HomeFolders returns the home folder and the folder of the user's own files, as an environment has them; "" where it does not say.
func HomeFolders(environ []string) (home, user string) {
	home = Variable(environ, "HOME")
	switch x := Variable(environ, "XDG_CONFIG_HOME"); {
	case filepath.IsAbs(x): // XDG specification: relative paths are ignored
		user = filepath.Join(x, "mycelium")
	case home != "":
		user = filepath.Join(home, ".config", "mycelium")
	}
	return home, user
}

// Variable returns a variable of an environment. The last entry counts, as in a process.
func Variable(environ []string, key string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], key+"="); ok {
			return v
		}
	}
	return ""
}
