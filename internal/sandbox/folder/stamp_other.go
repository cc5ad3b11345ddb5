//go:build !linux

package folder

// StampOf returns the stamp of an open folder.
func StampOf(int) (s Stamp, ok bool) { return s, false }

// StampAt returns the stamp of the folder at a path.
func StampAt(string) (s Stamp, ok bool) { return s, false }

// Reliable returns the device of an open folder if its file system is known to keep the times of folders itself. None is known here.
func Reliable(int) (device uint64, ok bool) { return 0, false }
