package held

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mycelium/internal/text"
)

// Blob is a file of a commit, as git keeps it.
type Blob struct{ Object, Path string }

// Blobs returns those of some files that hold a secret, by their names or by their contents. cat runs git cat-file --batch.
func Blobs(files []Blob, cat func(in io.Reader, out io.Writer) error) (map[Blob]bool, error) {
	out := map[Blob]bool{}
	var judged []Blob
	for _, b := range files {
		named, err := Committed(b.Path, 0, func() (string, error) { judged = append(judged, b); return "", nil })
		if err != nil {
			return nil, err
		}
		if named {
			out[b] = true
		}
	}
	if len(judged) == 0 {
		return out, nil
	}
	var asked strings.Builder
	for _, b := range judged {
		asked.WriteString(b.Object + "\n")
	}
	answers, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := cat(strings.NewReader(asked.String()), to)
		done <- err
		_ = to.CloseWithError(err)
	}()
	err := readBlobs(bufio.NewReader(answers), judged, out)
	_ = answers.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	return out, errors.Join(err, <-done)
}

// readBlobs reads the answers of cat-file about some files, and notes those that hold a secret. An object that is a folder, because a folder
// had that name once, is none.
func readBlobs(answers *bufio.Reader, files []Blob, secret map[Blob]bool) error {
	for _, b := range files {
		line, err := answers.ReadString('\n') // OBJECT TYPE SIZE, or OBJECT missing
		if err != nil {
			return fmt.Errorf("read what %s holds: %w", text.OneLine(b.Path), err)
		}
		about := strings.Fields(line)
		if len(about) != 3 {
			continue
		}
		size, err := strconv.ParseInt(about[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read what %s holds: %w", text.OneLine(b.Path), err)
		}
		content := io.LimitReader(answers, size)
		if about[1] == "blob" {
			secret[b], err = Committed(b.Path, size, func() (string, error) {
				data, err := io.ReadAll(content)
				return string(data), err
			})
		}
		if err == nil {
			_, err = io.Copy(io.Discard, content)
		}
		if err == nil {
			_, err = answers.Discard(1) // a line end
		}
		if err != nil {
			return fmt.Errorf("read what %s holds: %w", text.OneLine(b.Path), err)
		}
	}
	return nil
}
