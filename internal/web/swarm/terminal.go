package swarm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// terminalPage is the terminal of one worker.
type terminalPage struct {
	Name, Worker, Back    string
	Stream                string // where its output comes from
	Stands                string
	Live                  bool
	Text                  string // its last lines, for a page without scripts
	Problem               string
	Act, Keyboard, Keys   string // addresses
	Yours, Other          bool   // who has the keyboard
	Device                string // that has it
	Hears                 bool   // it can be told something
	Attempt               int
	Result                string
	ColumnsWide, RowsTall int
}

// wallPage has the terminals of all workers.
type wallPage struct {
	Name, Back, Stream string
	Terminals          []wallTerminal
	Problem            string
}

type wallTerminal struct{ ID, Name, Href, Text string }

// live are the workers of a session that are at work, by name, with their attempts.
func live(of *book.Session) map[string]*book.Attempt {
	out := map[string]*book.Attempt{}
	for _, f := range of.Features {
		if a := f.Live(); a != nil {
			out[f.ID] = a
		}
	}
	for _, name := range review.Names() {
		if r := of.Review(name); r != nil && r.Live() {
			out[review.Label(name)] = &r.Attempt
		}
	}
	return out
}

// names are the workers at work in the order of the plan, the reviewers last.
func names(of *book.Session) (out []string) {
	working := live(of)
	for _, f := range of.Features {
		if working[f.ID] != nil {
			out = append(out, f.ID)
		}
	}
	for _, name := range review.Names() {
		if label := review.Label(name); working[label] != nil {
			out = append(out, label)
		}
	}
	return out
}

// textOf is what a worker has printed last, without colours: the lines of its terminal, or its log if it has ended.
func (s *room) textOf(ctx context.Context, o *opened, a *book.Attempt, above int) (string, bool) {
	if a.Live() {
		shots, err := s.screens.look(ctx, o.terminals, []string{a.Window}, above, wallEvery)
		if shot, on := shots[a.Window]; err == nil && on {
			lines := make([]string, len(shot.Lines))
			for i, l := range shot.Lines {
				lines[i] = strings.TrimRight(unpainted(l), " ")
			}
			return strings.TrimRight(strings.Join(lines, "\n"), "\n"), true
		}
	}
	lines, err := history(worker.Folder(a.Folder))
	if err != nil {
		return text.Visible(text.Describe(err)), false
	}
	for i, l := range lines {
		lines[i] = unpainted(l)
	}
	return strings.Join(lines, "\n"), false
}

// history is the log of a worker as its terminal would show it: its last events, a line each, with colours.
func history(f worker.Folder) (lines []string, err error) {
	_, err = f.Follow(0, func(e worker.Event) {
		colour := map[string]string{worker.Call: "36", worker.Waits: "33", worker.Limited: "33", worker.Heard: "35", worker.Stopped: "31"}[e.Kind]
		if e.Failed {
			colour = "31"
		}
		said := text.Cell(text.OneLine(strings.TrimSpace(e.What())), 2000)
		if colour != "" {
			said = "\x1b[" + colour + "m" + said + "\x1b[0m"
		}
		lines = append(lines, fmt.Sprintf("\x1b[2m%s  %-8s\x1b[0m %s", e.At.UTC().Format(time.TimeOnly), text.OneLine(e.Kind), said))
		if len(lines) > maxAbove {
			lines = lines[1:]
		}
	})
	return lines, err
}

// terminal shows the terminal of a worker.
func (s *room) terminal(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.showTerminal(w, r, http.StatusOK, d, "")
}

func (s *room) showTerminal(w http.ResponseWriter, r *http.Request, status int, d device.Device, problem string) {
	s.with(w, r, "", func(o *opened, of *book.Session) {
		name := r.PathValue("worker")
		a, err := ops.Last(of, name)
		if err != nil {
			s.Fail(w, http.StatusNotFound, err)
			return
		}
		page := terminalPage{Name: site.Name(o.paths), Worker: text.OneLine(name), Back: addressOf(o.paths), Problem: problem,
			Stream: addressOf(o.paths, "workers", name, "output"), Keyboard: addressOf(o.paths, "workers", name, "keyboard"),
			Keys: addressOf(o.paths, "workers", name, "keys"), Act: addressOf(o.paths, "workers", name, "message"),
			Stands: a.State.Words(), Attempt: a.N, Result: text.Visible(a.Result)}
		page.Text, page.Live = s.textOf(r.Context(), o, a, maxAbove)
		page.Hears = a.Live() && ops.Hears(a)
		if holder, held := s.keyboards.holder(keyboardOf(o.paths, of, name, a)); held && page.Live {
			page.Device, page.Yours, page.Other = holder, holder == d.ID, holder != d.ID
		}
		s.Show(w, r, status, "terminal", d, site.Page{Title: page.Worker + " · " + page.Name, Here: "/swarm",
			Files: []string{"xterm.css", "swarm.css", "xterm.js", "terminal.js"}, Body: page})
	})
}

// wall shows the terminals of all workers.
func (s *room) wall(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.with(w, r, "", func(o *opened, of *book.Session) {
		page := wallPage{Name: site.Name(o.paths), Back: addressOf(o.paths), Stream: addressOf(o.paths, "terminals", "output")}
		working := live(of)
		for _, name := range names(of) {
			shown, _ := s.textOf(r.Context(), o, working[name], 0)
			page.Terminals = append(page.Terminals, wallTerminal{text.OneLine(name), text.OneLine(name), addressOf(o.paths, "workers", name), shown})
		}
		s.Show(w, r, http.StatusOK, "terminals", d, site.Page{Title: "Terminals of " + page.Name, Here: "/swarm",
			Files: []string{"xterm.css", "swarm.css", "xterm.js", "terminal.js"}, Body: page})
	})
}

// How often terminals are looked at: one that a person looks at alone, many on a page, and one for a program (requirements, C95). A
// session is read again for who works every second.
const (
	closeEvery = 100 * time.Millisecond
	wallEvery  = time.Second
	apiEvery   = 2 * time.Second
	readEvery  = time.Second
)

// stream is what one reader of terminals gets.
type stream struct {
	s       *room
	o       *opened
	session string
	only    string // the one worker; "": all at work
	above   int
	send    func(output) bool

	read     time.Time
	of       *book.Session
	drawings map[string]*drawing
	windows  map[string]string // the terminal of each, as it was seen last
	ended    map[string]bool
}

// outputs streams the output of one worker.
func (s *room) outputs(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.with(w, r, "", func(o *opened, of *book.Session) {
		if _, err := ops.Last(of, r.PathValue("worker")); err != nil {
			s.Fail(w, http.StatusNotFound, err)
			return
		}
		s.run(w, r, d, o, of, r.PathValue("worker"), closeEvery)
	})
}

// wallOutputs streams the output of all workers at work.
func (s *room) wallOutputs(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.with(w, r, "", func(o *opened, of *book.Session) { s.run(w, r, d, o, of, "", wallEvery) })
}

// The times of a stream of output; see those of the events.
const (
	heartbeat   = 15 * time.Second
	writeWithin = 10 * time.Second
)

// run streams output until the reader goes, or its device is revoked: of one worker, or of all at work. every is how often it is looked.
func (s *room) run(w http.ResponseWriter, r *http.Request, d device.Device, o *opened, of *book.Session, only string, every time.Duration) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	seq := 0
	write := func(format string, values ...any) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeWithin))
		_, err := fmt.Fprintf(w, format, values...)
		return err == nil && control.Flush() == nil
	}
	above := 0
	if only != "" {
		above = maxAbove
	}
	at := &stream{s: s, o: o, session: of.ID, only: only, above: above, drawings: map[string]*drawing{}, windows: map[string]string{},
		ended: map[string]bool{}}
	at.send = func(out output) bool {
		b, err := json.Marshal(out, json.Deterministic(true))
		if err != nil {
			return false
		}
		seq++
		return write("event: output\nid: %d\ndata: %s\n\n", seq, b)
	}
	ok := write("retry: 1000\nevent: connected\ndata: {}\n\n")
	look, alive := time.NewTicker(every), time.NewTicker(heartbeat)
	defer look.Stop()
	defer alive.Stop()
	for ok {
		ok = at.look(r.Context(), every)
		if !ok {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.Ended:
			return
		case <-look.C:
		case <-alive.C:
			ok = s.StillIn(d) && write("event: heartbeat\ndata: {}\n\n")
		}
	}
}

// look sends what is new. It reports whether the reader is still there.
func (t *stream) look(ctx context.Context, every time.Duration) bool {
	if now := time.Now(); t.of == nil || now.Sub(t.read) >= readEvery {
		of, err := t.o.Read(ctx, t.session)
		if err != nil {
			return false
		}
		t.of, t.read = of, now
	}
	working := live(t.of)
	if t.only != "" {
		return t.one(ctx, working[t.only], every)
	}
	var windows []string
	for _, name := range names(t.of) {
		windows = append(windows, working[name].Window)
	}
	shots, err := t.s.screens.look(ctx, t.o.terminals, windows, t.above, every)
	if err != nil {
		return false
	}
	for _, name := range names(t.of) {
		window := working[name].Window
		shot, on := shots[window]
		if t.windows[name] != window {
			t.windows[name], t.drawings[name] = window, &drawing{flat: true}
		}
		if !on {
			continue
		}
		if out, changed := t.drawings[name].next(shot); changed {
			if out.Worker = text.OneLine(name); !t.send(out) {
				return false
			}
		}
	}
	for name := range t.windows {
		if working[name] == nil && !t.ended[name] {
			t.ended[name] = true
			if !t.send(output{Worker: text.OneLine(name), Ended: true}) {
				return false
			}
		}
	}
	return true
}

// one sends what is new of one worker; a is nil if it is not at work.
func (t *stream) one(ctx context.Context, a *book.Attempt, every time.Duration) bool {
	if a != nil {
		shots, err := t.s.screens.look(ctx, t.o.terminals, []string{a.Window}, t.above, every)
		if err != nil {
			return false
		}
		if shot, on := shots[a.Window]; on {
			if t.windows[t.only] != a.Window {
				t.windows[t.only], t.drawings[t.only], t.ended[t.only] = a.Window, &drawing{}, false
			}
			out, changed := t.drawings[t.only].next(shot)
			out.Worker = text.OneLine(t.only)
			return !changed || t.send(out)
		}
		return true // it begins, or it has ended and nobody has looked at it yet
	}
	if t.ended[t.only] {
		return true
	}
	last, err := ops.Last(t.of, t.only)
	if err != nil {
		return false
	}
	lines, err := history(worker.Folder(last.Folder))
	if err != nil {
		return false
	}
	t.ended[t.only] = true
	delete(t.windows, t.only)
	return t.send(output{Worker: text.OneLine(t.only), Columns: historyColumns, Rows: historyRows, Whole: true, Ended: true,
		Data: strings.Join(lines, "\r\n") + "\x1b[?25l"})
}

// The size of a terminal that shows a log.
const (
	historyColumns = 120
	historyRows    = 32
)

// keyboardOf names the keyboard of a worker: of this attempt, and of no other one at the same feature.
func keyboardOf(p state.Paths, of *book.Session, name string, a *book.Attempt) string {
	return strings.Join([]string{site.Key(p), of.ID, name, a.Window, strconv.Itoa(a.Asked)}, "\x00")
}

// errNotAtWork means that a worker has no terminal.
func errNotAtWork(name string) error {
	return failure.New(failure.Conflict, errors.New("no worker works on "+text.OneLine(name)+" now, so it has no keyboard"), "")
}
