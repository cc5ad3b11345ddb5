package served

import (
	"bytes"
	"fmt"
	"strings"
)

// maxOutput bounds what one call returns of each stream, in bytes. The rest is counted and dropped.
const maxOutput = 256 << 10

// Output keeps the beginning of what a command writes to it, and counts the rest.
type Output struct {
	Tell func(line string) // is told each line that is complete; nil: nobody listens

	buf     bytes.Buffer
	dropped int
	line    []byte // that is not complete
}

// Write never fails: a program must not end because it says much.
func (o *Output) Write(p []byte) (int, error) {
	n := min(len(p), maxOutput-o.buf.Len())
	o.buf.Write(p[:n])
	o.dropped += len(p) - n
	if o.Tell != nil {
		o.tell(p)
	}
	return len(p), nil
}

// maxLine bounds a line that is told, in bytes.
const maxLine = 4096

func (o *Output) tell(p []byte) {
	for len(p) > 0 {
		piece, rest, complete := bytes.Cut(p, []byte{'\n'})
		o.line = append(o.line, piece[:min(len(piece), maxLine-len(o.line))]...)
		if complete {
			o.Tell(strings.ToValidUTF8(string(o.line), "�"))
			o.line = o.line[:0]
		}
		p = rest
	}
}

// String returns what was kept, and says how much was not.
func (o *Output) String() string {
	s := strings.ToValidUTF8(o.buf.String(), "�")
	if o.dropped > 0 {
		s += fmt.Sprintf("\n[%d further bytes are not shown]", o.dropped)
	}
	return s
}
