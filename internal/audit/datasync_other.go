//go:build !linux

package audit

import "os"

// datasync makes the contents of a file survive a crash of the machine.
func datasync(f *os.File) error { return f.Sync() }
