package terminal

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// NewProgram returns a program that is shown on out. Whatever tells it the size of its window tells it the present one: what Bubble Tea
// has read at the start may come later than a change.
func NewProgram(m tea.Model, out io.Writer, options ...tea.ProgramOption) *tea.Program {
	return tea.NewProgram(m, append(options, tea.WithOutput(out), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
		if _, told := msg.(tea.WindowSizeMsg); told {
			if size, ok := sizeOf(out); ok {
				return size
			}
		}
		return msg
	}))...)
}

// sizeOf is the present size of a window; false: it is none.
func sizeOf(out io.Writer) (tea.WindowSizeMsg, bool) {
	f, ok := out.(*os.File)
	if !ok {
		return tea.WindowSizeMsg{}, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return tea.WindowSizeMsg{Width: width, Height: height}, err == nil
}

// Run runs a program whose window may change its size at any time. Bubble Tea reads the size first and listens for changes only after it
// has drawn: a window that changed in between would be drawn for its old size until it changes again.
func Run(p *tea.Program, out io.Writer) error {
	changes, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changes, syscall.SIGWINCH)
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			select {
			case <-changes:
				if size, ok := sizeOf(out); ok {
					p.Send(size)
				}
			case <-done:
				return
			}
		}
	})
	_, err := p.Run()
	signal.Stop(changes)
	close(done)
	listening.Wait()
	return err
}
