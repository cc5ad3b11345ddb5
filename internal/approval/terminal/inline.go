package terminal

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"mycelium/internal/approval"
)

// Inline is the part of the screen that shows one request and takes its answer, for a program that shows more than requests.
// [Options.Watch] is the program's own: it passes requests on with Take.
type Inline struct{ t *terminal }

// NewInline returns a part of the screen on which nothing waits. Answers are sent until ctx is done.
func NewInline(ctx context.Context, o Options) *Inline {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Inline{&terminal{o: o, ctx: ctx, width: 80, height: 24, inline: true}}
}

// Take takes a request that is new or settled, and says how it was settled; "" if it waits.
func (i *Inline) Take(r approval.Request) (settled string) {
	i.t.take(r)
	if r.State == approval.Pending {
		return ""
	}
	return outcome(r)
}

// Waits reports whether a request waits: then keys are for Update.
func (i *Inline) Waits() bool { return len(i.t.waiting) > 0 }

// Question is the request that is shown, by its id, and the letters that answer it; empty if none waits.
func (i *Inline) Question() (id, letters string) {
	r, at := i.t.current()
	switch {
	case at < 0:
		return "", ""
	case r.Kind == approval.Stop:
		letters = "cl"
	case r.Kind == approval.Question:
		letters = "123456789tx"
	case r.Rule == approval.PromotionRule:
		letters = "yanN"
	default:
		letters = "asrwdDn"
	}
	return r.ID, letters
}

// Update takes a key, a paste, or the message of a command that it returned before.
func (i *Inline) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyPressMsg)
	if ok && i.t.ask == nil {
		switch k.String() { // these leave the screen, where it is a whole one
		case "q", "ctrl+c":
			return nil
		}
	}
	_, cmd := i.t.Update(msg)
	if m, ok := msg.(settledMsg); ok && m.err == nil {
		i.t.say("") // the program that shows more says it
	}
	return cmd
}

// Types reports whether the person types a text, so that every key is one of it.
func (i *Inline) Types() bool { return i.t.ask != nil }

// Lines draws the request that is shown, at most height lines of this width: what it is about, and the keys.
func (i *Inline) Lines(width, height int) []string {
	if !i.Waits() {
		return nil
	}
	t := i.t
	t.width, t.height = max(width, 20), max(height, 8)
	st := t.styles()
	all := t.details(st, max(1, height-2))
	for n := len(all); n > 0 && strings.TrimSpace(ansi.Strip(all[n-1])) == ""; n-- {
		all = all[:n-1]
	}
	if n := len(t.waiting); n > 1 {
		all = append(all, st.dim.Render(" and "+fmt.Sprintf("%d more", n-1)))
	}
	bar := lipgloss.NewStyle()
	if !t.o.Plain {
		bar = bar.Foreground(lipgloss.Color("3"))
	}
	all = append(all, " "+t.bottom(st))
	for n, line := range all {
		all[n] = ansi.Truncate(bar.Render("▌")+line, width, "…")
	}
	return all
}
