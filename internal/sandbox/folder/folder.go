// Package folder lists folders fast. The system tells the type of a name with the name, so that no file of the folder is looked at;
// [os.File.ReadDir] looks at each file of a folder that was opened in an [os.Root].
package folder

import (
	"io/fs"
	"time"
)

// bufferSize is how much of a folder is read at a time, in bytes: some hundred names.
const bufferSize = 32 << 10

// A Reader lists folders, one after the other. The zero value is ready.
type Reader struct{ buf []byte }

// Each is what is called for each name of a folder, with its type. If it returns an error, the list ends with it.
type Each func(name string, mode fs.FileMode) error

// A Stamp says which folder it is and when it was last changed. While a folder has the same stamp, it has the same names, and each of them
// is the same kind of file: to make, remove, rename or replace one sets the time of the folder, and no program can set that time back
// (inode(7), ctime).
type Stamp struct {
	device, inode uint64
	changed       int64 // nanoseconds since 1970, by the clock of the machine
}

// Margin is longer than the steps in which any file system counts time: FAT has the longest, of two seconds.
const Margin = 2*time.Second + 500*time.Millisecond

// Lasts reports whether names of the folder that were read from a time on are those of the stamp. A folder that was changed just before
// may have been changed once more in the same step of its clock, and have the same stamp.
func (s Stamp) Lasts(read time.Time) bool { return time.Unix(0, s.changed).Add(Margin).Before(read) }

// On reports whether the folder is on a device.
func (s Stamp) On(device uint64) bool { return s.device == device }
