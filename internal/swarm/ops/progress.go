package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// Progress says in a line how the session that is open stands, and whether workers have something to do in it; "": no session is open.
func Progress(ctx context.Context, b *book.Book) (line string, unfinished bool, err error) {
	s, err := b.Current(ctx)
	if absent := (*book.AbsentError)(nil); errors.As(err, &absent) {
		return "", false, nil
	}
	if err != nil || !s.Open() {
		return "", false, err
	}
	n := map[book.State]int{}
	for _, f := range s.Features {
		n[f.State]++
		unfinished = unfinished || f.State == book.Going || f.State == book.Queued || Startable(s, f.ID) == nil
	}
	parts := []string{fmt.Sprintf("%d of %s landed", n[book.Completed], text.Count(len(s.Features), "feature"))}
	for _, state := range []book.State{book.Going, book.Queued, book.Pending, book.Waiting, book.Failed} {
		if n[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[state], state.Words()))
		}
	}
	line = fmt.Sprintf("swarm session %s is %s: %s", s.ID, s.State.Words(), strings.Join(parts, ", "))
	return line, unfinished && s.State == book.Going, nil
}
