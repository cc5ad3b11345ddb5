package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// grown is a program whose window grows after Bubble Tea has read its size, and before Bubble Tea listens.
type grown struct {
	tty  *os.File
	err  error
	seen tea.WindowSizeMsg
}

func (g *grown) Init() tea.Cmd {
	g.err = unix.IoctlSetWinsize(int(g.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 200, Row: 50})
	if g.err == nil {
		g.err = syscall.Kill(os.Getpid(), syscall.SIGWINCH)
	}
	return nil
}

func (g *grown) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		if g.seen = size; size.Width == 200 {
			return g, tea.Quit
		}
	}
	return g, nil
}

func (g *grown) View() tea.View { return tea.NewView("") }

func TestWindowThatGrowsAtTheStart(t *testing.T) {
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	go func() { _, _ = io.Copy(io.Discard, person) }()
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	g := &grown{tty: tty}
	p := NewProgram(g, tty, tea.WithContext(ctx), tea.WithInput(tty), tea.WithoutSignalHandler())
	if err := Run(p, tty); err != nil {
		t.Error(err)
	}
	if g.err != nil || g.seen.Width != 200 || g.seen.Height != 50 {
		t.Errorf("it was last told %+v, error %v", g.seen, g.err)
	}
}
