package run

import (
	"context"
	"slices"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/harness"
	"mycelium/internal/run/book"
	"mycelium/internal/text"
	"mycelium/internal/tmux"
)

// taskWords bounds the first prompt that is kept of a run, in characters (E18).
const taskWords = 100

// windowWithin bounds the question to tmux for the name of a window: a tmux server that hangs delays no agent for longer.
const windowWithin = time.Second

// enter enters the session of an event into the book, and returns what the book knows of it, with its name.
func enter(ctx context.Context, b *book.Book, e harness.Event, now time.Time, alone bool) approval.AgentSession {
	window := ""
	if e.Tmux != "" && e.Pane != "" && (!alone || Remembers(e.Kind)) { // a call is not delayed in a process that lives for one event
		within, cancel := context.WithTimeout(ctx, windowWithin)
		defer cancel()
		window = tmux.At(e.Tmux).GivenName(within, e.Pane)
	}
	return b.Begin(approval.AgentSession{ID: e.Session, Agent: e.Agent, Dir: e.Dir, Pane: e.Pane, Tmux: e.Tmux, State: approval.Active,
		Since: now, Seen: now}, window)
}

// after ends the handling of an event: it ends sessions that no run uses any more, and enters the present state of the run into the book.
// It saves the book where more has changed than the last call.
func after(ctx context.Context, g *Registry, r *run, kind harness.Kind) {
	g.endSessions(context.WithoutCancel(ctx))
	if kind == harness.Stop || kind == harness.SessionEnd {
		r.findTask()
	}
	g.Book.Keep(r.view())
	if Remembers(kind) {
		g.Book.Save()
	}
}

// Remembers reports whether more is kept of an event of this kind than of a call: the book is saved after it.
func Remembers(k harness.Kind) bool {
	return slices.Contains([]harness.Kind{harness.SessionStart, harness.Prompt, harness.Stop, harness.SessionEnd}, k)
}

// findTask looks in the transcript for the first prompt of a run that gave it while no daemon ran.
func (r *run) findTask() {
	if r.view().Task != "" {
		return
	}
	task := taskOf(r.transcribed().RunTranscript().FirstPrompt())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.task = task
}

// taskOf is what is kept of a first prompt.
func taskOf(prompt string) string {
	return text.TruncateRunes(text.OneLine(strings.Join(strings.Fields(credential.Mask(prompt)), " ")), taskWords)
}
