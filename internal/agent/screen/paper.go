package screen

import (
	"encoding/json"
	"slices"

	"mycelium/internal/agent"
	"mycelium/internal/agent/markdown"
	"mycelium/internal/transcript"
)

// paper is what was said and done, from the beginning, and the window through which the person sees it.
type paper struct {
	width  int
	plain  bool // without colours
	parts  []*part
	scroll int // lines below the window; 0: the end is shown

	headed bool             // the answer has its header
	answer *part            // that is streaming; nil: none
	calls  map[string]*call // by the id of the model's block
	chosen *part            // the call that is chosen; nil: none is
}

// stream appends a piece of the answer. What nothing can change any more becomes a part of its own, so that it is drawn once.
func (p *paper) stream(piece string, skills []string) {
	a, ok := asAnswer(p.answer)
	if !ok {
		if !p.headed {
			p.add(header{skills})
			p.headed = true
		}
		p.answer = p.add(&answer{})
		a, _ = asAnswer(p.answer)
	}
	a.src += piece
	if done, rest := markdown.Split(a.src); done != "" {
		a.src = done
		p.touch(p.answer)
		p.answer = p.add(&answer{src: rest})
		return
	}
	p.touch(p.answer)
}

// think appends a piece of the model's reasoning.
func (p *paper) think(piece string) {
	if n := len(p.parts); n > 0 {
		if t, ok := p.parts[n-1].drawn.(*thought); ok {
			t.text += piece
			p.touch(p.parts[n-1])
			return
		}
	}
	p.answer = nil
	p.add(&thought{text: piece})
}

// called shows a call that begins.
func (p *paper) called(k *agent.Call) {
	p.answer = nil
	one := &call{Call: *k}
	one.part = p.add(one)
	p.calls[k.ID] = one
}

// past shows a call of a conversation that goes on.
func (p *paper) past(k *transcript.Call) {
	p.answer = nil
	p.add(&call{Call: agent.Call{Tool: k.Name, Args: json.RawMessage(k.Input)}, done: &agent.Done{Failed: k.Failed, Text: k.Output}})
}

// done shows the outcome of a call.
func (p *paper) done(d *agent.Done) {
	if one := p.calls[d.CallID]; one != nil {
		one.done, one.state = d, ""
		p.touch(one.part)
	}
}

// add shows one more part at the end.
func (p *paper) add(d drawn) *part {
	one := &part{drawn: d}
	p.parts = append(p.parts, one)
	if p.scroll > 0 {
		p.scroll += len(one.lines(p.width, p.plain)) + 1
	}
	return one
}

// touch redraws a part that changed.
func (p *paper) touch(one *part) {
	was := len(one.kept)
	one.width = 0
	if p.scroll > 0 {
		p.scroll = max(1, p.scroll+len(one.lines(p.width, p.plain))-was)
	}
}

// heightOf is the number of lines of a part with the blank line before it.
func (p *paper) heightOf(i int) int {
	n := len(p.parts[i].lines(p.width, p.plain))
	if n > 0 && i > 0 && !p.parts[i].close(p.parts[i-1]) {
		n++
	}
	return n
}

// window returns the lines of the conversation that are visible. Only these parts are drawn, and those below them.
func (p *paper) window(room int) []string {
	skip, have, from := p.scroll, 0, len(p.parts)
	for from > 0 && have < room+skip {
		from--
		have += p.heightOf(from)
	}
	if have < room+skip { // the beginning is visible
		skip = max(0, have-room)
		p.scroll = skip
	}
	var out []string
	for i := from; i < len(p.parts); i++ {
		lines := p.parts[i].lines(p.width, p.plain)
		if p.heightOf(i) > len(lines) {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	end := len(out) - skip
	return out[max(0, end-room):max(0, end)]
}

// scrolled handles a key that scrolls.
func (p *paper) scrolled(name string, room int) bool {
	switch name {
	case "pgup", "ctrl+up", "shift+up":
		by := max(1, room/2)
		if name != "pgup" {
			by = 1
		}
		p.scroll += by
	case "pgdown":
		p.scroll = max(0, p.scroll-max(1, room/2))
	case "ctrl+down", "shift+down":
		p.scroll = max(0, p.scroll-1)
	case "ctrl+home":
		p.scroll = 1 << 30 // the view stops at the beginning
	case "ctrl+end":
		p.scroll = 0
	default:
		return false
	}
	return true
}

// choose chooses a call to be unfolded: the last one, or else the one before or after the one that is chosen. With 0 it unfolds the one
// that is chosen, or folds it.
func (p *paper) choose(by, room int) {
	at := len(p.parts)
	if i := slices.Index(p.parts, p.chosen); i >= 0 {
		at = i
	}
	if by == 0 && p.chosen == nil {
		by = -1
		defer p.unfold()
	} else if by == 0 {
		p.unfold()
		return
	}
	for at += by; at >= 0 && at < len(p.parts); at += by {
		if foldable(p.parts[at]) {
			p.leave()
			p.chosen = p.parts[at]
			p.chosen.chosen = true
			p.touch(p.chosen)
			p.show(at, room)
			return
		}
	}
}

func (p *paper) unfold() {
	if p.chosen == nil {
		return
	}
	switch d := p.chosen.drawn.(type) {
	case *call:
		d.open = !d.open
	case *thought:
		d.open = !d.open
	}
	p.touch(p.chosen)
}

// leave chooses no call any more.
func (p *paper) leave() {
	if p.chosen != nil {
		p.chosen.chosen = false
		p.touch(p.chosen)
		p.chosen = nil
	}
}

// chosenKey handles a key while a call is chosen.
func (p *paper) chosenKey(name string, room int) bool {
	switch name {
	case "up", "k":
		p.choose(-1, room)
	case "down", "j":
		p.choose(1, room)
	case "enter", "ctrl+o", "space":
		p.unfold()
	case "esc":
		p.leave()
		p.scroll = 0
	default:
		p.leave()
		return false
	}
	return true
}

// show scrolls so that a part is visible.
func (p *paper) show(at, room int) {
	below := 0
	for i := len(p.parts) - 1; i > at; i-- {
		below += p.heightOf(i)
	}
	top := below + p.heightOf(at)
	if below < p.scroll {
		p.scroll = below
	} else if top > p.scroll+room {
		p.scroll = top - room
	}
}

func asAnswer(p *part) (*answer, bool) {
	if p == nil {
		return nil, false
	}
	a, ok := p.drawn.(*answer)
	return a, ok
}

// foldable reports whether a part has more than it shows.
func foldable(p *part) bool {
	switch p.drawn.(type) {
	case *call, *thought:
		return true
	}
	return false
}
