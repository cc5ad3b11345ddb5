package folder

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// reliable are the file systems that keep the time of the last change of a folder themselves, by the names of statfs(2) and
// <linux/magic.h>. A server or a program behind another one may tell any time.
var reliable = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC,
	unix.BCACHEFS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC}

// StampOf returns the stamp of an open folder.
func StampOf(fd int) (s Stamp, ok bool) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return s, false
	}
	return stamp(&st), true
}

// StampAt returns the stamp of the folder at a path. A link is none.
func StampAt(path string) (s Stamp, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return s, false
	}
	return stamp(&st), true
}

func stamp(st *unix.Stat_t) Stamp { return Stamp{st.Dev, st.Ino, time.Unix(st.Ctim.Unix()).UnixNano()} }

// Reliable returns the device of an open folder if its file system is known to keep the times of folders itself.
func Reliable(fd int) (device uint64, ok bool) {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(fd, &fs) != nil || unix.Fstat(fd, &st) != nil {
		return 0, false
	}
	return st.Dev, slices.Contains(reliable, int64(fs.Type)) //nolint:unconvert // the type differs between machines
}
