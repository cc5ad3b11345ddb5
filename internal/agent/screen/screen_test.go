package screen

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mycelium/internal/agent"
	"mycelium/internal/agent/slash"
	"mycelium/internal/approval"
	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

// script is an engine that tells what a test says.
type script struct {
	say    func(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error)
	closed int
	said   []string
}

func (*script) Name() string   { return "api" }
func (*script) ID() string     { return "c-1" }
func (s *script) Close() error { s.closed++; return nil }
func (s *script) Say(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
	s.said = append(s.said, said)
	if s.say == nil {
		tell(agent.Event{Text: "You said: " + said})
		return agent.Turn{Stop: agent.StopEnd}, nil
	}
	return s.say(ctx, said, tell)
}

// door answers the control tools.
type door struct {
	answers map[string]string
	tools   []agent.Tool
	calls   []agent.Use
	now     agent.Skills
}

func (d *door) Tools(context.Context) ([]agent.Tool, error) { return d.tools, nil }
func (d *door) Call(_ context.Context, u agent.Use, _ func(agent.Waiting)) (agent.Result, error) {
	d.calls = append(d.calls, u)
	a, ok := d.answers[u.Tool]
	if !ok {
		return agent.Result{Failed: true, Text: "Unknown tool: " + u.Tool}, nil
	}
	return agent.Result{Text: a}, nil
}
func (d *door) Said(context.Context, string) (agent.Standing, error) {
	return agent.Standing{Role: d.now.Role, Active: d.now.Active}, nil
}
func (d *door) Changed() bool { return false }

// shown is a chat without a terminal.
type shown struct {
	t *testing.T
	*chat
	engine *script
	door   *door
	ran    [][]string // commands of myc
	opened []slash.Start
	quit   bool
	at     time.Time

	answers []approval.Answer
	queue   chan tea.Msg
}

func newShown(t *testing.T, width, height int) *shown {
	s := &shown{t: t, engine: &script{}, door: &door{answers: map[string]string{}}, queue: make(chan tea.Msg, 1000)}
	o := Options{Plain: true, Title: "/home/u/店", History: filepath.Join(t.TempDir(), "history")}
	o.Slash = &slash.Set{Door: s.door, Run: func(_ context.Context, _ slash.Now, args ...string) (string, error) {
		s.ran = append(s.ran, args)
		return "ran myc " + strings.Join(args, " ") + "\n", nil
	}}
	o.Open = func(_ context.Context, start slash.Start, _ Ask) (Talk, error) {
		s.opened = append(s.opened, start)
		return Talk{Engine: s.engine, Session: "s-1", Model: start.Model,
			Skills: agent.Skills{Role: "developer", Active: []string{"common"}}}, nil
	}
	o.Approvals.Now = func() time.Time { return s.at }
	o.Approvals.Settle = func(_ context.Context, id string, a approval.Answer, _ sign.Sign) (approval.Request, error) {
		s.answers = append(s.answers, a)
		return approval.Request{ID: id, Session: "s-1", State: approval.Allowed, Answer: &a, Tool: "files__write_file"}, nil
	}
	s.door.now = agent.Skills{Role: "developer", Active: []string{"common"}}
	s.chat = newChat(t.Context(), o)
	s.send = func(m tea.Msg) { s.queue <- m }
	talk, _ := o.Open(t.Context(), slash.Start{Model: "opus"}, s.ask)
	s.begin(talk)
	s.opened = nil
	s.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// run runs a command of Bubble Tea and whatever it leads to.
func (s *shown) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range m[1:] { // the first one is the tick
			s.run(c)
		}
	case tea.QuitMsg:
		s.quit = true
	case nil:
	default:
		s.pump()
		s.take(m)
	}
}

func (s *shown) take(m tea.Msg) {
	_, cmd := s.Update(m)
	s.run(cmd)
}

// pump takes the messages of other goroutines that are there.
func (s *shown) pump() {
	for {
		select {
		case m := <-s.queue:
			s.take(m)
		default:
			return
		}
	}
}

// press presses keys: names of keys, or texts.
func (s *shown) press(keys ...string) *shown {
	for _, k := range keys {
		if msg, ok := named[k]; ok {
			s.take(msg)
			continue
		}
		for _, r := range k {
			s.take(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return s
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"tab":  {Code: tea.KeyTab},
	"left": {Code: tea.KeyLeft}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "backspace": {Code: tea.KeyBackspace},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+o": {Code: 'o', Mod: tea.ModCtrl},
	"ctrl+j": {Code: 'j', Mod: tea.ModCtrl}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
	"ctrl+home": {Code: tea.KeyHome, Mod: tea.ModCtrl}, "ctrl+end": {Code: tea.KeyEnd, Mod: tea.ModCtrl},
}

// text is the screen, without the spaces at the ends of lines. Every line must fit.
func (s *shown) text() string {
	lines := strings.Split(s.View().Content, "\n")
	if len(lines) != s.height {
		s.t.Errorf("%d lines on a screen of %d", len(lines), s.height)
	}
	for i, l := range lines {
		l = ansi.Strip(l)
		if w := text.Width(l); w > s.width {
			s.t.Errorf("line %d has %d cells of %d: %q", i, w, s.width, l)
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func (s *shown) has(words ...string) {
	s.t.Helper()
	t := s.text()
	for _, w := range words {
		if !strings.Contains(t, w) {
			s.t.Errorf("%q is not on the screen:\n%s", w, t)
		}
	}
}

func (s *shown) hasNot(words ...string) {
	s.t.Helper()
	t := s.text()
	for _, w := range words {
		if strings.Contains(t, w) {
			s.t.Errorf("%q is on the screen:\n%s", w, t)
		}
	}
}
