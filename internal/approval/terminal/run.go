package terminal

import (
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// Run runs a program on a window whose size may change at any time. Bubble Tea reads the size first and listens for changes only after it
// has drawn: a window that changed in between would be drawn for its old size until it changes again.
func Run(p *tea.Program) error {
	changes, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changes, syscall.SIGWINCH)
	defer func() {
		signal.Stop(changes)
		close(done)
	}()
	go func() {
		for {
			select {
			case <-changes:
				p.Send(tea.RequestWindowSize())
			case <-done:
				return
			}
		}
	}()
	_, err := p.Run()
	return err
}
