package jail

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Streams are the standard streams of a command. Those that are no files are passed on through pipes; those that are nil are empty.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// passed are the files that the child gets.
type passed struct {
	files  [3]*os.File
	theirs []*os.File // those that were opened for the child; it has copies of them
	ours   []*os.File // the ends of pipes that are read here
	copies sync.WaitGroup
}

// open makes the files of the child, and begins to copy.
func (s Streams) open() (p *passed, err error) {
	p = &passed{}
	if p.files[0], err = p.from(s.In); err == nil {
		p.files[1], err = p.to(s.Out)
	}
	if p.files[2] = p.files[1]; err == nil && (s.Err == nil || !same(s.Err, s.Out)) {
		p.files[2], err = p.to(s.Err)
	}
	if err != nil {
		p.sent()
		return nil, err
	}
	return p, nil
}

// same reports whether two streams are one. What cannot be compared is not.
func same(a, b io.Writer) (is bool) {
	defer func() { _ = recover() }()
	return a == b
}

func (p *passed) from(r io.Reader) (*os.File, error) {
	if f, ok := r.(*os.File); ok {
		return f, nil
	}
	if r == nil {
		return p.null(os.O_RDONLY)
	}
	theirs, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs = append(p.theirs, theirs)
	go func() { // it ends with the stream, or when the command reads no more
		_, _ = io.Copy(w, r)
		_ = w.Close()
	}()
	return theirs, nil
}

func (p *passed) to(w io.Writer) (*os.File, error) {
	if f, ok := w.(*os.File); ok {
		return f, nil
	}
	if w == nil {
		return p.null(os.O_WRONLY)
	}
	r, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs, p.ours = append(p.theirs, theirs), append(p.ours, r)
	p.copies.Go(func() {
		_, _ = io.Copy(w, r)
		_ = r.Close() // who writes more is told so
	})
	return theirs, nil
}

func (p *passed) null(mode int) (*os.File, error) {
	f, err := os.OpenFile(os.DevNull, mode, 0)
	if err == nil {
		p.theirs = append(p.theirs, f)
	}
	return f, err
}

// sent closes the files of the child here.
func (p *passed) sent() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
	p.theirs = nil
}

// wait waits until everything that the command wrote has been copied. It may have handed a stream to a process outside, which is waited for
// no longer than grace; 0: without end.
func (p *passed) wait(grace time.Duration) {
	if grace > 0 {
		stop := time.AfterFunc(grace, func() {
			for _, f := range p.ours {
				_ = f.Close()
			}
		})
		defer stop.Stop()
	}
	p.copies.Wait()
}

// beginning keeps the beginning of the standard error of a program.
type beginning struct{ said []byte }

func (b *beginning) Write(p []byte) (int, error) {
	const most = 4096
	b.said = append(b.said, p[:min(len(p), most-len(b.said))]...)
	return len(p), nil
}

// line is the first line.
func (b *beginning) line() string {
	line, _, _ := strings.Cut(string(b.said), "\n")
	return strings.TrimSpace(line)
}
