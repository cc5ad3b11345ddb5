package differ

import "golang.org/x/sys/unix"

// oldCall is a system call that has a newer one beside it.
type oldCall struct {
	now  int
	args func(a [6]uint64) [6]uint64
}

const here = uint64(0xffffffffffffff9c) // AT_FDCWD

// older are the calls that take their paths from the working directory alone.
var older = map[int]oldCall{
	unix.SYS_OPEN:      {unix.SYS_OPENAT, func(a [6]uint64) [6]uint64 { return [6]uint64{here, a[0], a[1]} }},
	unix.SYS_CREAT:     {unix.SYS_OPENAT, func(a [6]uint64) [6]uint64 { return [6]uint64{here, a[0], unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC} }},
	unix.SYS_UNLINK:    {unix.SYS_UNLINKAT, first},
	unix.SYS_RMDIR:     {unix.SYS_UNLINKAT, first},
	unix.SYS_RENAME:    {unix.SYS_RENAMEAT, both},
	unix.SYS_LINK:      {unix.SYS_LINKAT, both},
	unix.SYS_SYMLINK:   {unix.SYS_SYMLINKAT, func(a [6]uint64) [6]uint64 { return [6]uint64{a[0], here, a[1]} }},
	unix.SYS_MKDIR:     {unix.SYS_MKDIRAT, first},
	unix.SYS_MKNOD:     {unix.SYS_MKNODAT, first},
	unix.SYS_CHMOD:     {unix.SYS_FCHMODAT, first},
	unix.SYS_CHOWN:     {unix.SYS_FCHOWNAT, first},
	unix.SYS_LCHOWN:    {unix.SYS_FCHOWNAT, first},
	unix.SYS_UTIME:     {unix.SYS_UTIMENSAT, first},
	unix.SYS_UTIMES:    {unix.SYS_UTIMENSAT, first},
	unix.SYS_FUTIMESAT: {unix.SYS_UTIMENSAT, func(a [6]uint64) [6]uint64 { return a }},
}

func first(a [6]uint64) [6]uint64 { return [6]uint64{here, a[0]} }
func both(a [6]uint64) [6]uint64  { return [6]uint64{here, a[0], here, a[1]} }
