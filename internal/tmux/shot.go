package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shot is what a terminal shows at one moment.
type Shot struct {
	Columns, Rows    int
	CursorX, CursorY int // from 0
	Cursor           bool
	Scrolled         int // lines that have left the screen and are kept; tmux forgets the oldest
	// Lines are the last of these, and then those of the screen. They have the escape sequences of their colours and nothing else that
	// controls a terminal, but for shifts to line drawing (SO and SI); what is set at the end of a line goes on in the next one.
	Lines []string
}

// Shots looks at the terminals of some sessions of the server, by name, with up to so many lines that have left the screen. What does
// not exist is not in the answer. One program is run for all.
func (s Server) Shots(ctx context.Context, sessions []string, above int) (map[string]Shot, error) {
	out, err := s.shots(ctx, sessions, above)
	if !errors.Is(err, ErrNoPane) && !errors.Is(err, errNoSession) {
		if errors.Is(err, ErrNoServer) {
			return nil, nil // so there are no terminals
		}
		return out, err
	}
	all, err := s.run(ctx, "", "list-sessions", "-F", "#{session_name}") // the first that is gone has kept the others from being shown
	if errors.Is(err, ErrNoServer) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	are := strings.Split(all, "\n")
	sessions = slices.DeleteFunc(slices.Clone(sessions), func(name string) bool { return !slices.Contains(are, name) })
	if out, err = s.shots(ctx, sessions, above); errors.Is(err, errNoSession) || errors.Is(err, ErrNoPane) {
		return nil, nil // another one has gone meanwhile: the next look tells
	}
	return out, err
}

// errNoSession means that a session does not exist any more.
var errNoSession = errors.New("the tmux session is gone")

func (s Server) shots(ctx context.Context, sessions []string, above int) (map[string]Shot, error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	sep := rand.Text() // what a terminal shows may contain any character
	const fields = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{history_size}"
	var args []string
	for i, name := range sessions {
		if i > 0 {
			args = append(args, ";")
		}
		target := "=" + literal(name) + ":"
		args = append(args, "display-message", "-p", "-t", target, sep+" "+fields, ";",
			"capture-pane", "-p", "-e", "-t", target, "-S", strconv.Itoa(-above))
	}
	out, err := s.run(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	found := map[string]Shot{}
	for i, part := range strings.Split(out, sep)[1:] {
		head, lines, _ := strings.Cut(part, "\n")
		var shot Shot
		if _, err := fmt.Sscan(head, &shot.Columns, &shot.Rows, &shot.CursorX, &shot.CursorY, &shot.Cursor, &shot.Scrolled); err != nil ||
			i >= len(sessions) {
			return nil, fmt.Errorf("look at terminals: tmux said %q", head)
		}
		shot.Lines = strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
		found[sessions[i]] = shot
	}
	return found, nil
}

// Press sends bytes to the program in the terminal of a session, as its keyboard does.
func (s Server) Press(ctx context.Context, session string, keys []byte) error {
	args := []string{"send-keys", "-t", "=" + session + ":", "-H"}
	for _, b := range keys {
		args = append(args, strconv.FormatUint(uint64(b), 16))
	}
	if _, err := s.run(ctx, "", args...); err != nil {
		return fmt.Errorf("press keys in the terminal %s: %w", session, err)
	}
	return nil
}
