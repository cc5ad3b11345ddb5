//go:build unix && !linux

package state

import "golang.org/x/sys/unix"

// identify returns the identity of a folder.
func identify(dir string) (Identity, error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return Identity{}, err
	}
	return Identity{Device: uint64(st.Dev), Inode: st.Ino}, nil //nolint:unconvert // the widths differ between systems
}
