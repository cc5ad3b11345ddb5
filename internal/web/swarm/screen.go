package swarm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/tmux"
)

// maxAbove is how many lines of a terminal are shown in all, at least: those of its screen, and so many of those that have left it
// (requirements, C95).
const maxAbove = 200

// screens looks at terminals for all pages that show them: what one page has seen a moment ago, another one is shown too, so that many
// readers cost what one does. It is safe for concurrent use.
type screens struct {
	mu   sync.Mutex
	seen map[screenKey]seenShot
}

// screenKey names a terminal, and how much of it is looked at.
type screenKey struct {
	socket, session string
	above           int
}

type seenShot struct {
	at   time.Time
	shot tmux.Shot
	on   bool
}

// keepSeen is how long a look is kept for nobody.
const keepSeen = time.Minute

// look returns what terminals of a server show, not older than fresh.
func (s *screens) look(ctx context.Context, server tmux.Server, sessions []string, above int,
	fresh time.Duration) (map[string]tmux.Shot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.seen == nil {
		s.seen = map[screenKey]seenShot{}
	}
	var old []string
	for _, name := range sessions {
		if v, known := s.seen[screenKey{server.Socket, name, above}]; !known || now.Sub(v.at) >= fresh {
			old = append(old, name)
		}
	}
	if len(old) > 0 {
		found, err := server.Shots(ctx, old, above)
		if err != nil {
			return nil, err
		}
		for _, name := range old {
			shot, on := found[name]
			shot.Lines = painted(shot.Lines)
			s.seen[screenKey{server.Socket, name, above}] = seenShot{now, shot, on}
		}
		for k, v := range s.seen {
			if now.Sub(v.at) > keepSeen {
				delete(s.seen, k)
			}
		}
	}
	out := map[string]tmux.Shot{}
	for _, name := range sessions {
		if v := s.seen[screenKey{server.Socket, name, above}]; v.on {
			out[name] = v.shot
		}
	}
	return out, nil
}

// output is a piece of what a terminal shows, as a stream has it.
type output struct {
	Worker  string `json:"worker"`
	Columns int    `json:"columns"`
	Rows    int    `json:"rows"`
	// Whole: Data is all that is to be seen, and the terminal that shows it begins anew.
	Whole bool `json:"whole"`
	// Data is text with the sequences of colours, and those that move the cursor.
	Data string `json:"data"`
	// Ended: the worker does not run any more, and Data is its log.
	Ended bool `json:"ended"`
}

// drawing is what one reader has of a terminal.
type drawing struct {
	shot tmux.Shot
	any  bool
	flat bool // only the screen is shown, and no line that has left it
}

// next is what makes the terminal of a reader show a shot; false if it does already.
func (d *drawing) next(now tmux.Shot) (out output, changed bool) {
	was := d.shot
	same := d.any && was.Columns == now.Columns && was.Rows == now.Rows
	scrolled := now.Scrolled - was.Scrolled
	if d.flat {
		scrolled = 0
	}
	full := !same || scrolled < 0 || scrolled > min(now.Rows, len(above(now))) || !d.flat && !joins(above(was), above(now), scrolled)
	out = output{Columns: now.Columns, Rows: now.Rows, Whole: full}
	var b strings.Builder
	switch {
	case full:
		b.WriteString("\x1b[?7l") // a character of another width than here breaks no line
		b.WriteString(strings.Join(now.Lines, "\r\n"))
	default:
		changed = d.partial(&b, now, scrolled)
	}
	if !full && !changed && was.CursorX == now.CursorX && was.CursorY == now.CursorY && was.Cursor == now.Cursor {
		return out, false
	}
	show := 'l'
	if now.Cursor {
		show = 'h'
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25%c", now.CursorY+1, now.CursorX+1, show)
	d.shot, d.any = now, true
	out.Data = b.String()
	return out, true
}

// joins reports whether the lines above a screen are those that were there before and so many more. Once tmux forgets lines, their number
// alone does not tell.
func joins(was, now []string, more int) bool {
	rest := now[:len(now)-more]
	n := min(len(was), len(rest))
	return slices.Equal(was[len(was)-n:], rest[len(rest)-n:])
}

// partial draws the lines that are otherwise. Lines that have left the screen are drawn at its top first, and then scrolled.
func (d *drawing) partial(b *strings.Builder, now tmux.Shot, scrolled int) (changed bool) {
	screen := slices.Clone(visible(d.shot))
	put := func(row int, line string) {
		if screen[row] != line {
			screen[row], changed = line, true
			fmt.Fprintf(b, "\x1b[%d;1H\x1b[2K%s", row+1, line)
		}
	}
	if scrolled > 0 {
		gone := above(now)
		for i, line := range gone[len(gone)-scrolled:] {
			put(i, line)
		}
		changed = true
		fmt.Fprintf(b, "\x1b[%d;1H%s", now.Rows, strings.Repeat("\n", scrolled))
		screen = append(screen[scrolled:], make([]string, scrolled)...)
	}
	for i, line := range visible(now) {
		put(i, line)
	}
	return changed
}

// visible are the lines of the screen of a shot.
func visible(s tmux.Shot) []string {
	lines := s.Lines[max(0, len(s.Lines)-s.Rows):]
	if len(lines) < s.Rows {
		lines = append(slices.Clone(lines), make([]string, s.Rows-len(lines))...)
	}
	return lines
}

// above are the lines of a shot that have left its screen.
func above(s tmux.Shot) []string { return s.Lines[:max(0, len(s.Lines)-s.Rows)] }
