//go:build unix && !linux

package trust

import "golang.org/x/sys/unix"

// identity sets what distinguishes this folder from another one at the same path.
func (f *folder) identity() error {
	var st unix.Stat_t
	if err := unix.Lstat(f.Path, &st); err != nil {
		return err
	}
	f.Dev, f.Inode = uint64(st.Dev), uint64(st.Ino) //nolint:unconvert // the widths differ between systems
	return nil
}
