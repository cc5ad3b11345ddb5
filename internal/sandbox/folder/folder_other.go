//go:build !linux

package folder

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// List calls each for each name in the folder that a descriptor is open for.
func (*Reader) List(fd int, each Each) error {
	own, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(own), "folder")
	defer func() { _ = f.Close() }()
	for {
		some, err := f.ReadDir(bufferSize >> 8) //nolint:mnd // as many names as the buffer of Linux has, about
		for _, d := range some {
			if err := each(d.Name(), d.Type()); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
