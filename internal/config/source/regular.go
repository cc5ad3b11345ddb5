package source

import (
	"fmt"
	"io"
	"os"

	"mycelium/internal/atomicfile"
)

// ReadRegular reads a regular file that may hold anything, up to a number of bytes.
func ReadRegular(path string, most int) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file (%s)", st.Mode().Type())
	}
	f, _, err := atomicfile.Open(path) // a pipe may have taken its place since the look at it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if len(data) > most {
		return nil, fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return data, err
}
