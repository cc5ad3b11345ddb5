package confidence

import (
	"hash/fnv"
	"io"
	"slices"
	"time"
)

// window is how many steps are remembered: the log lines that row C87 looks at. Everything that is judged lies in it, so the memory
// of a watch has a limit, and what was done long ago may be done again.
const window = 100

// step is what is remembered of one event.
type step struct {
	kind      Kind
	act       Act
	tool      string
	failed    bool
	args, sum uint64 // hashes of the tool with its arguments, and with what came out of it
	text      signs
	score     int
	again     float64 // how much it repeats, 0 for something new
	loops     bool    // it completed a loop
	overcame  bool    // it succeeded where the last call of the tool had failed
	refails   bool    // it repeats a failure
}

// call is a call under way.
type call struct {
	id, tool string
	act      Act
	args     uint64 // hash
	began    time.Time
	progress time.Time // when it last sent progress; zero if it never did
	known    bool      // its arguments have been seen before
}

// Watch follows the stream of one worker. The zero Watch is one that has seen nothing. It is not safe for concurrent use.
type Watch struct {
	steps   []step // the last ones, the newest at the end
	open    []call
	last    time.Time // the last sign of life
	limited bool
	until   time.Time
	asks    int
	ended   bool
	since   repeats
	fails   int // how often the last failure came, whatever was changed in between
}

// repeats is what was repeated since something new came.
type repeats struct {
	weight  float64
	steps   int // all steps, in the window
	calls   int
	took    time.Duration // by the calls
	longest time.Duration // of them
	busy    bool          // one of the calls failed, or was no command: this is not the polling of something that takes its time
}

// maxOpen is how many calls may be under way; when there are more, the oldest is forgotten.
const maxOpen = 100

// Add takes the next event. Events come in the order of their times.
func (w *Watch) Add(e Event) {
	if e.Kind < Start || e.Kind > End || w.ended && e.Kind != Start {
		return
	}
	if e.Kind == Call || e.Kind == Result || e.Kind == Progress { // the worker goes on; what it says may be about the limit
		w.limited = false
	}
	switch e.Kind {
	case Start:
		*w = Watch{}
	case Call:
		w.begin(e)
	case Result:
		w.complete(e)
	case Progress:
		w.progress(e)
	case Text, Error:
		w.say(e)
	case Report:
		w.remember(step{kind: Report, score: min(max(e.Score, 0), 100)})
	case Limit:
		w.limited, w.until = true, e.Until
	case Question:
		w.asks++
	case Answer:
		w.asks = max(w.asks-1, 0)
	case Told:
		w.forgive()
	case End:
		w.ended = true
	}
	if e.At.After(w.last) {
		w.last = e.At
	}
}

func (w *Watch) remember(s step) {
	if len(w.steps) >= window {
		w.steps = append(w.steps[:0], w.steps[len(w.steps)-window+1:]...)
	}
	w.steps = append(w.steps, s)
	w.since.steps++
}

// forgive forgets what calls have returned, so that doing it again is new.
func (w *Watch) forgive() {
	w.since, w.fails = repeats{}, 0
	for i := range w.steps {
		w.steps[i].args, w.steps[i].sum = 0, 0
	}
}

func (w *Watch) begin(e Event) {
	c := call{id: e.ID, tool: e.Tool, act: e.Act, args: hash(e.Tool, e.Args), began: e.At}
	for _, s := range w.steps {
		c.known = c.known || s.kind == Result && s.args == c.args
	}
	if len(w.open) >= maxOpen {
		w.open = w.open[1:]
	}
	w.open = append(w.open, c)
}

// progress marks the call that it belongs to: the one of its ID, or every call under way if it names none.
func (w *Watch) progress(e Event) {
	for i := range w.open {
		if e.ID == "" || w.open[i].id == e.ID {
			w.open[i].progress = e.At
		}
	}
}

// complete takes the result of a call.
func (w *Watch) complete(e Event) {
	c := call{tool: e.Tool, act: e.Act, args: hash(e.Tool, e.Args), began: e.At}
	if i := slices.IndexFunc(w.open, func(c call) bool { return c.id == e.ID }); i >= 0 {
		c = w.open[i]
		w.open = slices.Delete(w.open, i, i+1)
	}
	s := step{kind: Result, act: c.act, tool: c.tool, failed: e.Failed, args: c.args, sum: hash(c.tool, stable(e.Result))}
	s.again = w.repeated(s)
	for i := len(w.steps) - 1; i >= 0; i-- {
		if o := w.steps[i]; o.kind == Result && o.tool == s.tool {
			s.overcame = o.failed && !s.failed
			s.refails = o.failed && s.failed && s.again > 0
			break
		}
	}
	w.countFailure(s)
	if s.again == 0 {
		w.since = repeats{}
		w.remember(s)
		return
	}
	took := e.At.Sub(c.began)
	w.since.calls++
	w.since.took += took
	w.since.longest = max(w.since.longest, took)
	w.since.busy = w.since.busy || s.failed || s.act != Run
	w.count(s)
}

// count remembers a step that may repeat another, and marks one that completes a loop.
func (w *Watch) count(s step) {
	before := int(w.since.weight / loopAt)
	w.since.weight += s.again
	s.loops = int(w.since.weight/loopAt) > before
	w.remember(s)
}

// say takes what the worker said, or an error. A text is new if it was not said since something new came.
func (w *Watch) say(e Event) {
	s := step{kind: e.Kind, sum: hash("", stable(e.Text)), text: signsOf(e.Text)}
	if e.Kind == Error {
		s.again = 1
	}
	for i := len(w.steps) - 1; e.Kind == Text && i >= max(len(w.steps)-w.since.steps, 0); i-- {
		if o := w.steps[i]; o.kind == Text && o.sum == s.sum {
			s.again = textWeight
			break
		}
	}
	w.count(s)
	if n := reported(e.Text); n != None && e.Kind == Text {
		w.remember(step{kind: Report, score: n})
	}
}

// repeated says how much a completed call repeats one that is remembered: 1 if that one came since the last new thing, and little if it
// is older, because to read the files again, or to run the tests again after a change, is no loop. A failure repeats another with the
// same result, whatever the arguments were; a success repeats one with the same arguments and result; and a look at another place with
// the same result, such as a search that finds nothing, repeats by half.
func (w *Watch) repeated(s step) float64 {
	recent := len(w.steps) - w.since.steps
	var most float64
	for i := len(w.steps) - 1; i >= 0 && most < 1; i-- {
		o := w.steps[i]
		if o.kind != Result || o.sum != s.sum || o.failed != s.failed {
			continue
		}
		switch same := s.failed || o.args == s.args; {
		case same && i >= recent:
			most = 1
		case s.act == Look && !same:
			most = max(most, lookWeight)
		case same:
			most = max(most, oldWeight)
		}
	}
	return most
}

// countFailure counts how often the same failure came back, although the worker changed something in between.
func (w *Watch) countFailure(s step) {
	if s.act == Look || s.act == Change {
		return
	}
	w.fails = 0
	if !s.failed {
		return
	}
	w.fails = 1
	for i := len(w.steps) - 1; i >= 0; i-- {
		o := w.steps[i]
		switch {
		case o.kind != Result || o.tool != s.tool || o.args != s.args && o.sum != s.sum:
		case o.failed && o.sum == s.sum:
			w.fails++
		default:
			return // the same call had another outcome
		}
	}
}

// hash joins a tool and a text to one number.
func hash(tool, s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, tool+"\x00")
	_, _ = io.WriteString(h, s)
	return max(h.Sum64(), 1) // 0 is forgotten
}
