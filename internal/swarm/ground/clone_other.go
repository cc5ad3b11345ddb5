//go:build unix && !linux

package ground

import (
	"errors"
	"os"
)

// clone fails: a clone of macOS makes the file itself, by its path, which a root has none of. The caller copies.
func clone(_, _ *os.File) error { return errors.ErrUnsupported }
