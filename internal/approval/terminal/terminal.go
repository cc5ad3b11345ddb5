// Package terminal shows the requests that wait on a full screen and takes answers by keys.
package terminal

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/approval"
	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

// Options configure [Watch].
type Options struct {
	// Watch calls tell with every request that waits, and with every one that is new or settled, until ctx is done.
	Watch  func(ctx context.Context, tell func(approval.Request)) error
	Settle func(ctx context.Context, id string, a approval.Answer, s sign.Sign) (approval.Request, error)
	// Preview says what a rule for a candidate would allow, and would have allowed. nil: the screen shows the candidate's words only.
	Preview func(r approval.Request, c approval.Candidate) string
	Title   string // the project's folder
	By      string // [approval.Answer.By]
	Plain   bool   // without colours
	Now     func() time.Time
}

// Watch shows the requests and takes answers until the person quits or ctx is done.
func Watch(ctx context.Context, in io.Reader, out io.Writer, environ []string, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := NewProgram(&terminal{o: o, ctx: ctx, width: 80, height: 24}, out, tea.WithContext(ctx), tea.WithInput(in),
		tea.WithEnvironment(environ), tea.WithoutSignalHandler())
	watching := make(chan error, 1)
	go func() {
		err := o.Watch(ctx, func(r approval.Request) { p.Send(r) })
		if ctx.Err() == nil {
			p.Send(lostMsg{err})
		}
		watching <- err
	}()
	err := Run(p, out)
	cancel()
	if lost := <-watching; err == nil && lost != nil && !errors.Is(lost, context.Canceled) {
		return lost
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// lostMsg reports that [Options.Watch] has returned.
type lostMsg struct{ err error }

// settledMsg is the result of an answer.
type settledMsg struct {
	r   approval.Request
	err error
}

type tickMsg time.Time

// maxSettled bounds the settled requests in the list. They show a person what others decided.
const maxSettled = 5

// terminal is the state of the screen.
type terminal struct {
	o             Options
	ctx           context.Context
	width, height int

	waiting []approval.Request // oldest first
	settled []approval.Request // newest first
	chosen  string             // id of the request whose details are shown
	scroll  int                // lines of the details above the window
	said    string             // message at the bottom of the screen
	saidFor int                // ticks until said disappears
	inline  bool               // it is a part of another screen, which is left otherwise
	ask     *prompt            // what the person types; nil: keys are commands
	picks   picks
}

// prompt is a line that the person types, or a single key that confirms.
type prompt struct {
	label string
	text  []rune
	keys  string // not empty: one of these keys confirms, any other key cancels
	done  func(text string) tea.Cmd
}

func (t *terminal) Init() tea.Cmd { return t.tick() }

// tick redraws the remaining times every second.
func (t *terminal) tick() tea.Cmd {
	return tea.Tick(time.Second, func(at time.Time) tea.Msg { return tickMsg(at) })
}

// Update takes one message.
func (t *terminal) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		t.width, t.height = max(msg.Width, 20), max(msg.Height, 8)
	case tickMsg:
		if t.saidFor--; t.saidFor <= 0 {
			t.said = ""
		}
		return t, t.tick()
	case approval.Request:
		t.take(msg)
	case settledMsg:
		t.answered(msg)
	case lostMsg:
		return t, tea.Quit
	case tea.PasteMsg:
		if t.ask != nil && t.ask.keys == "" {
			t.ask.text = append(t.ask.text, []rune(text.OneLine(msg.Content))...)
		}
	case tea.KeyPressMsg:
		if t.ask != nil {
			return t, t.typed(msg)
		}
		return t, t.key(msg)
	}
	return t, nil
}

// take puts a request into the list of those that wait or of those that are settled.
func (t *terminal) take(r approval.Request) {
	same := func(o approval.Request) bool { return o.ID == r.ID }
	if r.State == approval.Pending {
		if i := slices.IndexFunc(t.waiting, same); i >= 0 {
			t.waiting[i] = r
			return
		}
		t.waiting = append(t.waiting, r)
		slices.SortStableFunc(t.waiting, func(a, b approval.Request) int { return a.Created.Compare(b.Created) })
		if t.chosen == "" {
			t.choose(r.ID)
		}
		return
	}
	i := slices.IndexFunc(t.waiting, same)
	t.waiting = slices.DeleteFunc(t.waiting, same)
	t.settled = slices.DeleteFunc(t.settled, same)
	t.settled = append([]approval.Request{r}, t.settled...)
	t.settled = t.settled[:min(len(t.settled), maxSettled)]
	if t.chosen == r.ID {
		t.ask = nil // the request that the person answers is settled
		t.next(max(i, 0))
	}
}

// next chooses the waiting request at an index, or the nearest one.
func (t *terminal) next(i int) {
	if len(t.waiting) == 0 {
		t.choose("")
		return
	}
	t.choose(t.waiting[min(max(i, 0), len(t.waiting)-1)].ID)
}

func (t *terminal) choose(id string) { t.chosen, t.scroll, t.picks = id, 0, picks{} }

// current returns the chosen request and its index, or -1.
func (t *terminal) current() (approval.Request, int) {
	i := slices.IndexFunc(t.waiting, func(r approval.Request) bool { return r.ID == t.chosen })
	if i < 0 {
		return approval.Request{}, -1
	}
	return t.waiting[i], i
}

// answered shows the result of an answer.
func (t *terminal) answered(m settledMsg) {
	if m.err != nil {
		t.say(text.OneLine(m.err.Error()))
		return
	}
	t.take(m.r)
	t.say(outcome(m.r))
}

// say shows a message in place of the keys for saidTicks.
func (t *terminal) say(text string) { t.said, t.saidFor = text, saidTicks }

// saidTicks is how many seconds a message is shown.
const saidTicks = 4

// key handles a key that is a command.
func (t *terminal) key(k tea.KeyPressMsg) tea.Cmd {
	r, at := t.current()
	t.said = ""
	switch k.String() {
	case "q", "ctrl+c":
		return tea.Quit
	case "up", "k":
		t.next(at - 1)
	case "down", "j", "tab":
		t.next(at + 1)
	case "pgdown", "space", "J":
		t.scroll += t.page()
	case "pgup", "K":
		t.scroll = max(0, t.scroll-t.page())
	case "home", "g":
		t.scroll = 0
	default:
		if at < 0 {
			return nil
		}
		return t.answerKey(r, k.String())
	}
	return nil
}

// answerKey handles a key that answers.
func (t *terminal) answerKey(r approval.Request, key string) tea.Cmd {
	switch r.Kind {
	case approval.Stop:
		return t.stopKey(r, key)
	case approval.Question:
		return t.questionKey(r, key)
	case approval.Call: // below
	}
	if r.Rule == approval.PromotionRule {
		return t.promotionKey(r, key)
	}
	switch key {
	case "a":
		return t.allow(r, approval.Once)
	case "s":
		return t.allow(r, approval.Session)
	case "r":
		return t.allow(r, approval.Rule)
	case "w":
		t.wider(r)
	case "d":
		return t.answer(r, approval.Answer{For: approval.Once})
	case "n":
		return t.answer(r, approval.Answer{For: approval.Never})
	case "D":
		t.ask = &prompt{label: "Deny, because",
			done: func(text string) tea.Cmd { return t.answer(r, approval.Answer{For: approval.Once, Reason: text}) }}
	}
	return nil
}

// promotionKey handles a key for the question whether an agent may activate skills.
func (t *terminal) promotionKey(r approval.Request, key string) tea.Cmd {
	switch key {
	case "y":
		return t.allow(r, approval.Once)
	case "a":
		return t.allow(r, approval.Session)
	case "n":
		return t.answer(r, approval.Answer{For: approval.Once})
	case "N":
		return t.answer(r, approval.Answer{For: approval.Never})
	}
	return nil
}

// PromotionKeys are the answers to the question whether skills may be activated.
const PromotionKeys = "y yes  a always in this session  n no  N never in this session"

// allow allows a call. A rule needs a second key.
func (t *terminal) allow(r approval.Request, how approval.For) tea.Cmd {
	done := func(string) tea.Cmd { return t.answer(r, approval.Answer{Allow: true, For: how}) }
	switch {
	case r.Refuses(how) != "":
		t.say(text.OneLine(r.Refuses(how)))
	case how == approval.Rule:
		t.ask = &prompt{label: "Write a rule that allows exactly this from now on? [y/N]", keys: "y", done: done}
	default:
		return done("")
	}
	return nil
}

// stopKey handles a key for an agent that wants to stop.
func (t *terminal) stopKey(r approval.Request, key string) tea.Cmd {
	switch key {
	case "c":
		t.ask = &prompt{label: "Go on with (empty: as it thinks best)", done: func(text string) tea.Cmd {
			return t.answer(r, approval.Answer{Allow: true, For: approval.Once, Text: text})
		}}
	case "l", "d":
		return t.answer(r, approval.Answer{For: approval.Once})
	}
	return nil
}

// answer sends an answer that is bound to the request on the screen. Where the request demands a second sign, it is another key.
func (t *terminal) answer(r approval.Request, a approval.Answer) tea.Cmd {
	if d := r.Demand(); a.Allow && d.Any() {
		t.ask = &prompt{label: d.Asks() + " [y/N]", keys: "y", done: func(string) tea.Cmd { return t.send(r, a, sign.Sure) }}
		return nil
	}
	return t.send(r, a, sign.None)
}

func (t *terminal) send(r approval.Request, a approval.Answer, s sign.Sign) tea.Cmd {
	a.By, a.Via, a.Digest, a.Time = t.o.By, "terminal", r.Digest, t.o.Now()
	return func() tea.Msg {
		r, err := t.o.Settle(t.ctx, r.ID, a, s)
		return settledMsg{r, err}
	}
}

// typed handles a key while the person types.
func (t *terminal) typed(k tea.KeyPressMsg) tea.Cmd {
	p := t.ask
	switch s := k.String(); {
	case s == "esc" || s == "ctrl+c":
		t.ask = nil
	case p.keys != "":
		t.ask = nil
		if strings.Contains(p.keys, s) {
			return p.done(s)
		}
		t.say("nothing was answered")
	case s == "enter":
		t.ask = nil
		return p.done(strings.TrimSpace(string(p.text)))
	case s == "backspace":
		p.text = p.text[:max(0, len(p.text)-1)]
	case k.Text != "":
		p.text = append(p.text, []rune(k.Text)...)
	}
	return nil
}
