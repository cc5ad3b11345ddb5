package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxConfig bounds the mycelium.yaml in which the folder of the state is looked for, in bytes.
const maxConfig = 1 << 20

// configured returns the folder that the mycelium.yaml in a user's folder of configuration names under `state:`, or "".
func configured(config, home string) (Root, error) {
	if !filepath.IsAbs(config) {
		return "", nil
	}
	file := filepath.Join(config, "mycelium", "mycelium.yaml")
	st, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var data []byte
	switch {
	case err != nil:
	case !st.Mode().IsRegular() || st.Size() > maxConfig:
		err = fmt.Errorf("it is no regular file, or has more than %d bytes", maxConfig)
	default:
		data, err = os.ReadFile(filepath.Clean(file))
	}
	if err != nil {
		return "", fmt.Errorf("find state folder: read %s: %w", file, err)
	}
	dir := Configured(data)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && filepath.IsAbs(home) {
		dir = filepath.Join(home, rest)
	}
	if dir != "" && !filepath.IsAbs(dir) {
		return "", fmt.Errorf("find state folder: %s: state is %q, which is no absolute path", file, dir)
	}
	if dir != "" {
		dir = filepath.Clean(dir)
	}
	return Root(dir), nil
}

// Configured returns the value of `state:` in the text of a mycelium.yaml, or "". The small program of hooks has no reader of YAML, so the
// key must stand on a line of its own, with its value; package config refuses a file that says something else.
func Configured(text []byte) string {
	for line := range bytes.Lines(text) {
		value, ok := strings.CutPrefix(strings.TrimRight(string(line), "\r\n"), "state:")
		if !ok || value != "" && value[0] != ' ' && value[0] != '\t' {
			continue
		}
		value = strings.TrimSpace(value)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			value, _, _ = strings.Cut(value[1:], value[:1])
			return value
		}
		for i := range len(value) {
			if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
				value = strings.TrimSpace(value[:i])
				break
			}
		}
		return value
	}
	return ""
}
