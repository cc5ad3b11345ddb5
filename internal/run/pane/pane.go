// Package pane is the one place that types into the terminal of an agent. It looks at the terminal first: a text is typed only where the
// agent's prompt stands empty, and a dialog is answered only by keys that were read from the dialog.
package pane

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mycelium/internal/harness"
	"mycelium/internal/tmux"
)

// Terminal reads the screens of panes and presses keys in them.
type Terminal interface {
	Screen(ctx context.Context, pane string) (string, error)
	Paste(ctx context.Context, pane, text string) error
	Keys(ctx context.Context, pane string, names ...string) error
}

var _ Terminal = tmux.Server{}

// Pane is the terminal of an agent.
type Pane struct {
	Terminal
	ID    string // of tmux, %3
	Agent harness.Agent
	// Asks says why the agent may be about to ask its person something that is not on its screen yet; "": it is not. nil: that is not
	// known, and a text is typed only while the agent does not work.
	Asks func() string
}

// Of returns the pane with an id, of an agent by its name. No hook tells what that agent is about to ask.
func Of(t Terminal, id, agent string) *Pane {
	known, _ := harness.Named(agent)
	return &Pane{Terminal: t, ID: id, Agent: known}
}

// NotNowError means that a text was not typed, and may be typed later.
type NotNowError struct{ Why string }

func (e *NotNowError) Error() string { return e.Why }

// ErrNoDialog means that a pane shows no dialog that is understood.
var ErrNoDialog = errors.New("its screen shows no question that this program understands")

const (
	look   = 50 * time.Millisecond // between two looks at a screen
	within = 5 * time.Second       // how long a program may take to show what was typed
	slow   = 3 * time.Second       // after which a key counts as ignored: Claude Code 2.1.330 ignores keys for a moment after it shows a dialog
	late   = time.Second           // how long a key that was pressed twice is looked for at the prompt
)

// Read reads the screen.
func (p *Pane) Read(ctx context.Context) (harness.Screen, error) {
	s, err := p.Screen(ctx, p.ID)
	if err != nil {
		return harness.Screen{}, err
	}
	return p.Agent.ReadScreen(s), nil
}

// await reads the screen until it is as wanted; ok is false if it is not [within] that time. The last screen is returned.
func (p *Pane) await(ctx context.Context, wanted func(harness.Screen) bool) (s harness.Screen, ok bool, err error) {
	return p.awaitFor(ctx, within, wanted)
}

// awaitFor is await with another time.
func (p *Pane) awaitFor(ctx context.Context, limit time.Duration, wanted func(harness.Screen) bool) (s harness.Screen, ok bool, err error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		if s, err = p.Read(ctx); err != nil || wanted(s) {
			return s, err == nil, err
		}
		next := time.NewTimer(look)
		select {
		case <-ctx.Done():
			next.Stop()
			return s, false, ctx.Err()
		case <-late.C:
			next.Stop()
			return s, false, nil
		case <-next.C:
		}
	}
}

// Ready returns why a text cannot be typed into the pane now; nil if it can. typed is a text that may stand at the prompt already, because
// an earlier Type did not press Enter.
func (p *Pane) ready(ctx context.Context, text string) (stands bool, err error) {
	if p.Asks != nil {
		if why := p.Asks(); why != "" {
			return false, &NotNowError{why}
		}
	}
	s, err := p.Read(ctx)
	switch {
	case err != nil:
		return false, err
	case s.Shown == harness.ShowsDialog:
		return false, &NotNowError{"it shows a question: “" + lastLine(s.Dialog.Text) + "”"}
	case s.Shown != harness.ShowsPrompt:
		return false, &NotNowError{"its screen shows something that this program does not understand"}
	case s.Works && p.Asks == nil:
		return false, &NotNowError{"it works, and no hook tells when it asks something"}
	case s.Typed == "":
		return false, nil
	case has(s.Typed, text):
		return true, nil
	}
	return false, &NotNowError{"somebody's text stands at its prompt"}
}

// Type types a text as a prompt. A [NotNowError] means that nothing was typed, or that the text stands at the prompt and Enter was not
// pressed; Type can be tried again after either.
func (p *Pane) Type(ctx context.Context, text string) error {
	stands, err := p.ready(ctx, text)
	if err != nil {
		return err
	}
	if !stands { // a dialog that has opened meanwhile takes no bracketed paste
		if err := p.Paste(ctx, p.ID, text); err != nil {
			return err
		}
		s, ok, err := p.await(ctx, func(s harness.Screen) bool { return s.Shown == harness.ShowsPrompt && has(s.Typed, text) })
		switch {
		case err != nil:
			return err
		case !ok && s.Shown == harness.ShowsPrompt:
			return &NotNowError{"the text was pasted and is not seen at its prompt, so Enter was not pressed"}
		case !ok:
			return &NotNowError{"something has opened on its screen while the text was pasted, so Enter was not pressed"}
		}
	}
	if stands, err = p.ready(ctx, text); err != nil || !stands {
		if err == nil {
			err = &NotNowError{"the text is not at its prompt any more, so Enter was not pressed"}
		}
		return err
	}
	if err := p.Keys(ctx, p.ID, "Enter"); err != nil {
		return err
	}
	if s, ok, err := p.await(ctx, func(s harness.Screen) bool { return s.Shown != harness.ShowsPrompt || !has(s.Typed, text) }); err != nil {
		return err
	} else if !ok && has(s.Typed, text) {
		return &NotNowError{"the text stands at its prompt, and it does not take Enter"}
	}
	return nil
}

// has reports whether the text that stands at a prompt is a text that was pasted. Claude Code shows a name in the place of a long paste.
func has(typed, text string) bool {
	typed, text = squeezed(typed), squeezed(text)
	return typed == text || strings.HasPrefix(typed, "[Pastedtext#") && strings.HasSuffix(typed, "]") && !strings.Contains(text, "[Pasted")
}

func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u00a0' {
			return -1
		}
		return r
	}, s)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// trustQuestion is what Claude Code asks in a folder that it does not know, with the focus on the option.
const trustQuestion = "❯ 1. Yes, I trust this folder"

// Trust answers yes if the screen asks whether the folder is trusted, and reports whether it does.
func (p *Pane) Trust(ctx context.Context) (asked bool, err error) {
	s, err := p.Screen(ctx, p.ID)
	if err != nil || !strings.Contains(strings.Join(strings.Fields(s), " "), trustQuestion) {
		return false, err
	}
	return true, p.Keys(ctx, p.ID, "Enter")
}

// Reply is the answer of a person to a dialog.
type Reply struct {
	Allow bool
	Words string // of a refusal: what the agent is told to do instead
}

// Answer answers the dialog that the pane shows, if about says that it is the one that the person answers. It returns the text of the option
// that was taken, with its number. told reports whether the words went with it: not every dialog takes words. Answer presses a key only
// for an option that it has read from the screen, and reads the screen again after each.
func (p *Pane) Answer(ctx context.Context, about func(harness.Dialog) error, r Reply) (option string, told bool, err error) {
	s, err := p.Read(ctx)
	switch {
	case err != nil:
		return "", false, err
	case s.Shown != harness.ShowsDialog:
		return "", false, ErrNoDialog
	}
	d := s.Dialog
	if err := about(d); err != nil {
		return "", false, err
	}
	o, ok := d.No()
	if r.Allow {
		o, ok = d.Yes()
	}
	if !ok {
		return "", false, fmt.Errorf("its question does not offer a plain yes and no, but: %s", options(d))
	}
	byNumber, words := false, strings.Join(strings.Fields(r.Words), " ")
	if r.Allow {
		words = ""
	}
	switch {
	case words != "":
		told, err = p.refuseWith(ctx, d, o, words)
	case strings.HasPrefix(o.Text, harness.NoWithWords):
		if err = p.focus(ctx, d, o); err == nil {
			err = p.Keys(ctx, p.ID, "Enter")
		}
	default:
		byNumber = true
		err = p.Keys(ctx, p.ID, strconv.Itoa(o.Number))
	}
	if err != nil {
		return "", false, err
	}
	over := func(s harness.Screen) bool {
		return s.Shown != harness.ShowsDialog || squeezed(s.Dialog.Text) != squeezed(d.Text) || len(s.Dialog.Options) != len(d.Options)
	}
	_, gone, err := p.awaitFor(ctx, slow, over)
	twice := false
	if byNumber && err == nil && !gone {
		twice, err = p.again(ctx, over, o)
	}
	if err == nil && !gone {
		_, gone, err = p.await(ctx, over)
	}
	if err == nil && gone && twice {
		err = p.takeBack(ctx, o)
	}
	switch {
	case err != nil:
		return "", false, fmt.Errorf("the key of %d. %s was pressed, and the screen could not be read again: %w", o.Number, o.Text, err)
	case !gone:
		return "", false, fmt.Errorf("the key of %d. %s was pressed, and the question still stands on its screen", o.Number, o.Text)
	}
	return fmt.Sprintf("%d. %s", o.Number, o.Text), told, nil
}

// again presses the key of an option once more, if the same dialog still stands. It reports whether it did.
func (p *Pane) again(ctx context.Context, over func(harness.Screen) bool, o harness.Option) (pressed bool, err error) {
	if s, err := p.Read(ctx); err != nil || over(s) {
		return false, err
	}
	return true, p.Keys(ctx, p.ID, strconv.Itoa(o.Number))
}

// takeBack removes the second key of an option from the prompt. An agent on a busy machine may take the first key late, and then the second
// one stands at its prompt, where no text would be typed any more.
func (p *Pane) takeBack(ctx context.Context, o harness.Option) error {
	_, stands, err := p.awaitFor(ctx, late, func(s harness.Screen) bool {
		return s.Shown == harness.ShowsPrompt && squeezed(s.Typed) == strconv.Itoa(o.Number)
	})
	if err != nil || !stands {
		return err
	}
	return p.Keys(ctx, p.ID, "BSpace")
}

// Choose takes the option with a number of the dialog that the pane shows; [ErrNoDialog] if it shows none.
func (p *Pane) Choose(ctx context.Context, number int) error {
	s, err := p.Read(ctx)
	switch {
	case err != nil:
		return err
	case s.Shown != harness.ShowsDialog:
		return ErrNoDialog
	case number < 1 || number > len(s.Dialog.Options) || number > 9:
		return fmt.Errorf("its question has no option %d, but: %s", number, options(s.Dialog))
	}
	return p.Keys(ctx, p.ID, strconv.Itoa(number))
}

// options lists the options of a dialog.
func options(d harness.Dialog) string {
	var all []string
	for _, o := range d.Options {
		all = append(all, fmt.Sprintf("%d. %s", o.Number, o.Text))
	}
	return strings.Join(all, "; ")
}

// focus moves the focus to an option.
func (p *Pane) focus(ctx context.Context, d harness.Dialog, o harness.Option) error {
	for at := d.Focus; at != o.Number-1; {
		key, next := "Down", at+1
		if at > o.Number-1 {
			key, next = "Up", at-1
		}
		if err := p.Keys(ctx, p.ID, key); err != nil {
			return err
		}
		_, ok, err := p.await(ctx, func(s harness.Screen) bool {
			return s.Shown == harness.ShowsDialog && s.Dialog.Same(d) && s.Dialog.Focus == next
		})
		if err != nil {
			return err
		}
		if !ok {
			return errors.New("its question did not take the key " + key + "; nothing was chosen")
		}
		at = next
	}
	return nil
}

// refuseWith takes the option that refuses, with words for the agent where it takes them.
func (p *Pane) refuseWith(ctx context.Context, d harness.Dialog, o harness.Option, words string) (told bool, err error) {
	if err := p.focus(ctx, d, o); err != nil {
		return false, err
	}
	s, err := p.Read(ctx)
	if err != nil {
		return false, err
	}
	if s.Shown != harness.ShowsDialog || !s.Dialog.Same(d) || s.Dialog.Focus != o.Number-1 {
		return false, errors.New("its question has changed; nothing was chosen")
	}
	at := func(s harness.Screen) string { // the text of the option, while it is focused
		if s.Shown != harness.ShowsDialog || s.Dialog.Focus != o.Number-1 || len(s.Dialog.Options) != len(d.Options) ||
			squeezed(s.Dialog.Text) != squeezed(d.Text) {
			return ""
		}
		return s.Dialog.Options[o.Number-1].Text
	}
	if at(s) == "No" {
		if !s.Dialog.Amends {
			return false, p.Keys(ctx, p.ID, strconv.Itoa(o.Number))
		}
		if err := p.Keys(ctx, p.ID, "Tab"); err != nil {
			return false, err
		}
		_, ok, err := p.await(ctx, func(s harness.Screen) bool { return strings.HasPrefix(at(s), harness.NoWithWords) })
		if err != nil {
			return false, err
		}
		if !ok {
			return false, errors.New("its question did not take the key Tab; nothing was chosen")
		}
	}
	if err := p.Paste(ctx, p.ID, words); err != nil {
		return false, err
	}
	_, ok, err := p.await(ctx, func(s harness.Screen) bool { return squeezed(at(s)) == squeezed("No, "+words) })
	if err != nil {
		return false, err
	}
	if !ok {
		return false, errors.New("the words are not seen in its question; nothing was chosen")
	}
	return true, p.Keys(ctx, p.ID, "Enter")
}
