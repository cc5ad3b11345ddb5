//go:build unix && !linux

package config

import "golang.org/x/sys/unix"

// identity fills in what tells this folder from any other at the same path.
func (f *trustedFolder) identity() error {
	var st unix.Stat_t
	if err := unix.Lstat(f.Path, &st); err != nil {
		return err
	}
	f.Dev, f.Inode = uint64(st.Dev), uint64(st.Ino) //nolint:unconvert // the widths differ between systems
	return nil
}
