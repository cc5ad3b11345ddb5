package trust

import "golang.org/x/sys/unix"

// identity sets what distinguishes this folder from another one at the same path.
func (f *folder) identity() error {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, f.Path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return err
	}
	f.Dev, f.Inode = unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	if st.Mask&unix.STATX_BTIME != 0 {
		f.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return nil
}
