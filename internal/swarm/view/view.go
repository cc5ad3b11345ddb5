package view

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/text"
)

// Options are what a [Screen] stands on.
type Options struct {
	Look   func(ctx context.Context, log string) (Seen, error) // see [Eye.Look]; it is not called twice at once
	Tell   func(ctx context.Context, feature, message string) error
	Pause  func(ctx context.Context) error // returns when the workers are stopped
	Resume func(ctx context.Context) error
	// Attach is the program that shows the terminal of a feature's worker. The error says why it cannot be shown here.
	Attach func(feature string) (*exec.Cmd, error)
	Title  string // the folder of the project
	Plain  bool   // without colours
	Now    func() time.Time
}

// Screen is the whole screen, for Bubble Tea.
type Screen struct {
	o             Options
	ctx           context.Context
	width, height int

	seen   Seen
	rows   []schedule.Row
	chosen string // id of a feature
	log    bool   // the log of the chosen feature is shown
	scroll int    // lines of it below the window
	said   string // a message at the bottom of the screen, until the next key
	typed  *line  // what the person writes or confirms; nil: keys are commands
	busy   bool   // the session is being paused or resumed
}

// line is a message that the person writes, or a question that the key y answers.
type line struct {
	label string
	asks  bool // a question
	text  []rune
	done  func(text string) tea.Cmd
}

// New returns the screen. It looks until ctx is done.
func New(ctx context.Context, o Options) *Screen {
	return &Screen{o: o, ctx: ctx, width: 80, height: 24}
}

// every is how often it is looked: often enough to feel alive, and cheap, because an Eye reads only what is new.
const every = 500 * time.Millisecond

// The messages of the program.
type (
	lookMsg struct{}
	seenMsg struct {
		seen Seen
		err  error
	}
	saidMsg struct { // what came of an act
		said string
		err  error
	}
)

// Init implements [tea.Model].
func (s *Screen) Init() tea.Cmd { return s.look() }

func (s *Screen) look() tea.Cmd {
	log := ""
	if s.log {
		log = s.chosen
	}
	return func() tea.Msg {
		seen, err := s.o.Look(s.ctx, log)
		return seenMsg{seen, err}
	}
}

// act does something beside the screen, and says what came of it.
func (s *Screen) act(said string, f func(ctx context.Context) error) tea.Cmd {
	return func() tea.Msg { return saidMsg{said, f(s.ctx)} }
}

// Update implements [tea.Model].
func (s *Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = max(msg.Width, 40), max(msg.Height, 10)
	case lookMsg:
		return s, s.look()
	case seenMsg:
		s.take(msg)
		return s, tea.Tick(every, func(time.Time) tea.Msg { return lookMsg{} })
	case saidMsg:
		s.busy, s.said = false, msg.said
		if msg.err != nil {
			s.said = text.Flatten(text.Describe(msg.err))
		}
	case tea.PasteMsg:
		if s.typed != nil && !s.typed.asks {
			s.typed.text = append(s.typed.text, []rune(text.OneLine(msg.Content))...)
		}
	case tea.KeyPressMsg:
		if s.typed != nil {
			return s, s.write(msg)
		}
		return s, s.key(msg)
	}
	return s, nil
}

// take takes what was seen.
func (s *Screen) take(m seenMsg) {
	if m.err != nil {
		s.said = text.Flatten(text.Describe(m.err))
	}
	if m.seen.Session == nil {
		return
	}
	s.seen = m.seen
	s.rows = schedule.Rows(s.seen.Session.Plan(), s.width)
	if s.at() < 0 && len(s.rows) > 0 {
		s.chosen = s.rows[0].Feature.ID
	}
}

// at is the row of the feature that is chosen; -1: none is.
func (s *Screen) at() int {
	return slices.IndexFunc(s.rows, func(r schedule.Row) bool { return r.Feature.ID == s.chosen })
}

// choose chooses the feature so many rows below.
func (s *Screen) choose(by int) {
	if len(s.rows) > 0 {
		s.chosen = s.rows[min(max(s.at()+by, 0), len(s.rows)-1)].Feature.ID
	}
}

// key handles a key that is a command.
func (s *Screen) key(k tea.KeyPressMsg) tea.Cmd {
	s.said = ""
	switch name := k.String(); name {
	case "ctrl+c":
		return tea.Quit
	case "q":
		if !s.log {
			return tea.Quit
		}
		s.log = false
	case "esc":
		s.log = false
	case "enter":
		s.log, s.scroll = !s.log && s.chosen != "", 0
		s.seen.Log = nil
	case "up", "k", "down", "j":
		by := 1
		if name == "up" || name == "k" {
			by = -1
		}
		if s.log {
			s.scroll = max(0, s.scroll-by)
		} else {
			s.choose(by)
		}
	case "pgup":
		s.scroll += s.height / 2
	case "pgdown":
		s.scroll = max(0, s.scroll-s.height/2)
	default:
		return s.command(name)
	}
	return nil
}

// command handles a letter that does something.
func (s *Screen) command(name string) tea.Cmd {
	if s.chosen == "" || s.busy {
		return nil
	}
	switch feature := s.chosen; name {
	case "a":
		c, err := s.o.Attach(feature)
		if err != nil {
			s.said = text.Flatten(text.Describe(err))
			return nil
		}
		return tea.ExecProcess(c, func(err error) tea.Msg { return saidMsg{"", err} })
	case "m":
		s.typed = &line{label: "Tell the worker of " + feature, done: func(message string) tea.Cmd {
			return s.act("the worker of "+feature+" is told", func(ctx context.Context) error { return s.o.Tell(ctx, feature, message) })
		}}
	case "p":
		switch s.seen.Session.State {
		case book.Going:
		case book.Paused:
			s.busy = true
			return s.act("the session goes on; if nobody drives it: myc swarm start", s.o.Resume)
		default:
			s.said = "the session has ended"
			return nil
		}
		s.typed = &line{label: "Stop the workers? What they did is kept. [y/N]", asks: true, done: func(string) tea.Cmd {
			s.busy, s.said = true, "the workers are being stopped …"
			return s.act("paused; p goes on", s.o.Pause)
		}}
	}
	return nil
}

// write handles a key while the person writes.
func (s *Screen) write(k tea.KeyPressMsg) tea.Cmd {
	t := s.typed
	switch name := k.String(); {
	case name == "esc" || name == "ctrl+c":
		s.typed = nil
	case t.asks:
		s.typed = nil
		if name == "y" {
			return t.done("")
		}
	case name == "enter":
		s.typed = nil
		if message := strings.TrimSpace(string(t.text)); message != "" {
			return t.done(message)
		}
	case name == "backspace":
		t.text = t.text[:max(0, len(t.text)-1)]
	case k.Text != "":
		t.text = append(t.text, []rune(k.Text)...)
	}
	return nil
}
