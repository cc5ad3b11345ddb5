//go:build !linux

package audit

import "os"

// datasync writes the contents of a file to the disk.
func datasync(f *os.File) error { return f.Sync() }
