package folder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// The fields of struct linux_dirent64 (getdents(2)): the length of an entry, its type, and its name, which ends with a zero byte.
const (
	atLength = 16
	atType   = 18
	atName   = 19
)

// List calls each for each name in the folder that a descriptor is open for, from where it stands.
func (r *Reader) List(fd int, each Each) error {
	if r.buf == nil {
		r.buf = make([]byte, bufferSize)
	}
	for {
		n, err := unix.Getdents(fd, r.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		for rest := r.buf[:n]; len(rest) > atName; {
			length := int(binary.NativeEndian.Uint16(rest[atLength:]))
			name, _, _ := bytes.Cut(rest[atName:length], []byte{0})
			kind := rest[atType]
			rest = rest[length:]
			if s := string(name); s != "." && s != ".." {
				mode, err := modeOf(fd, s, kind)
				if err == nil {
					err = each(s, mode)
				}
				if err != nil && !errors.Is(err, unix.ENOENT) {
					return err
				}
			}
		}
	}
}

// modeOf is the type of a name. File systems that do not tell it leave it to be asked for.
func modeOf(fd int, name string, kind byte) (fs.FileMode, error) {
	if kind == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return 0, err
		}
		kind = byte(st.Mode & unix.S_IFMT >> 12) //nolint:mnd // as the kernel's headers define DT_ and S_IF
	}
	switch kind {
	case unix.DT_REG:
		return 0, nil
	case unix.DT_DIR:
		return fs.ModeDir, nil
	case unix.DT_LNK:
		return fs.ModeSymlink, nil
	case unix.DT_SOCK:
		return fs.ModeSocket, nil
	}
	return fs.ModeIrregular, nil
}
