package guard

import (
	"fmt"
	"unicode/utf8"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// minCut is the least of a text that is worth keeping, in bytes. A text that would become shorter is left out.
const minCut = 64

// shorten cuts an answer: its content to MaxBytes, and its other members together to MaxBytes. Members of the protocol stay.
func (w *guarding) shorten(raw []byte) ([]byte, error) {
	members, ok := rawjson.Fields(raw)
	if !ok {
		return nil, errUnreadable
	}
	var kept []rawjson.Field
	left, rest, dropped := w.MaxBytes, w.MaxBytes, 0
	for _, m := range members {
		switch p := ofResult(whole, []byte(m.Name)); {
		case p == keep:
		case p == blocks && m.Value[0] == '[':
			if len(m.Value) <= left {
				left -= len(m.Value)
			} else {
				m.Value = w.cutBlocks(m.Name, m.Value, left)
				left = 0
			}
		default:
			if m.Value = w.cutMember(m, rest); m.Value == nil {
				dropped++
				continue
			}
			rest -= len(m.Token) + len(m.Value)
		}
		kept = append(kept, m)
	}
	if dropped > 0 {
		w.cut = true
		note := fmt.Sprintf("[left out by the gateway: %d members of the result, beyond the limit of %d bytes]", dropped, w.MaxBytes)
		kept = addNote(kept, note)
	}
	return rawjson.Object(kept...), nil
}

// cutMember returns as much of a member's value as fits into most bytes together with its name, or nil.
func (w *guarding) cutMember(m rawjson.Field, most int) []byte {
	most -= len(m.Token)
	switch {
	case len(m.Value) <= most:
		return m.Value
	case m.Name == "message" && m.Value[0] == '"' && most >= minCut: // of an error
		return w.cutText(m.Value, most)
	}
	return w.cutStrings(m.Value, most)
}

// cutStrings shortens the long strings of a value. It returns nil if the value then still does not fit.
func (w *guarding) cutStrings(value []byte, room int) []byte {
	most := room / 8
	out, err := replaceStrings(value, func(p part, _ []byte) part { return p }, func(s string, _ part) (string, bool) {
		if len(s) <= most {
			return s, false
		}
		return cutTo(s, most), true
	})
	if err != nil || len(out) > room {
		return nil
	}
	w.cut = true
	return out
}

// cutBlocks keeps the blocks that fit, cuts the first text that does not fit, and puts a note in the place of other blocks.
func (w *guarding) cutBlocks(key string, array []byte, left int) []byte {
	w.cut = true
	dropped, bytes := 0, 0
	var out [][]byte
	var last []byte
	for b := range rawjson.Elements(array) {
		path, text := textOf(b)
		switch {
		case len(b) <= left:
			out = append(out, b)
			left -= len(b)
			continue
		case text == nil && left > maxNote:
			note := noteBlock(key, b, fmt.Sprintf("[left out by the gateway: %d bytes that are no text, of at most %d]", len(b), w.MaxBytes))
			out = append(out, note)
			left -= len(note)
			continue
		case text != nil && left-(len(b)-len(text)) >= minCut:
			out = append(out, rawjson.Replace(b, w.cutText(text, left-(len(b)-len(text))), path...))
			left = 0
			continue
		}
		dropped, bytes, last = dropped+1, bytes+len(b), b
	}
	if dropped > 0 {
		note := fmt.Sprintf("[left out by the gateway: %d more parts of %d bytes, beyond the limit of %d]", dropped, bytes, w.MaxBytes)
		out = append(out, noteBlock(key, last, note))
	}
	return rawjson.Array(out)
}

// cutText returns a JSON string of at most most bytes, and the words that say how much was cut.
func (w *guarding) cutText(token []byte, most int) []byte {
	w.cut = true
	s := string(rawjson.Unquote(token))
	room := most - 2 // without the quotes
	for i, r := range s {
		if room -= jsonSize(r); room < 0 {
			return rawjson.Quote(cutTo(s, i))
		}
	}
	return rawjson.Quote(s)
}

// jsonSize returns how many bytes a character takes in a JSON string, at most.
func jsonSize(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\t', r == '\r':
		return 2
	case r < ' ', r == utf8.RuneError:
		return 6
	}
	return utf8.RuneLen(r)
}

// cutTo returns the first n bytes of a text or less, whole characters only, and the words that say how much was cut.
func cutTo(s string, n int) string {
	kept := text.Prefix(s, n)
	if kept == s {
		return s
	}
	return fmt.Sprintf("%s\n[cut by the gateway: %d of %d bytes]", kept, len(kept), len(s))
}
