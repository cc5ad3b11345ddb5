package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/sandbox/jail"
)

// temp is where a command finds Command.Temp.
const temp = "/tmp"

// places makes the places of those parts of the root that lie in the folder for temporary files: a mount needs one. Earlier commands may
// have put links there, which must not lead out of the folder.
func (c *Command) places(binds []jail.Bind) error {
	if c.Temp == "" {
		return nil
	}
	root, err := os.OpenRoot(c.Temp)
	if err != nil {
		return fmt.Errorf("open the folder for temporary files: %w", err)
	}
	defer func() { _ = root.Close() }()
	var made []string
	for _, b := range binds {
		name, below := strings.CutPrefix(b.Target, temp+"/")
		st, err := os.Lstat(b.Source)
		if !below || b.Kind != jail.Tree || err != nil ||
			slices.ContainsFunc(made, func(dir string) bool { return strings.HasPrefix(b.Target, dir+"/") }) {
			continue
		}
		if err := place(root, name, st.IsDir()); err != nil {
			return fmt.Errorf("make a place for %s in the folder for temporary files: %w", b.Target, err)
		}
		made = append(made, b.Target)
	}
	return nil
}

// place makes an empty folder or file, if there is none.
func place(root *os.Root, name string, dir bool) error {
	if _, err := root.Stat(name); err == nil {
		return nil
	}
	if dir {
		return root.MkdirAll(name, 0o700)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
