package swarm

import (
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/text"
)

// pen is how characters look: what the sequence that ends with m has set.
type pen struct {
	front, back, under string // the parameters of the colours; "": the usual ones
	on                 []string
}

// maxParams bounds the parameters of one sequence.
const maxParams = 32

// String is the sequence that makes the usual pen this one.
func (p pen) String() string {
	all := slices.Concat([]string{"0"}, p.on)
	for _, c := range []string{p.front, p.back, p.under} {
		if c != "" {
			all = append(all, c)
		}
	}
	return "\x1b[" + strings.Join(all, ";") + "m"
}

// plain reports whether it is the usual pen.
func (p pen) plain() bool { return p.front == "" && p.back == "" && p.under == "" && len(p.on) == 0 }

// ends are the attributes that a parameter ends.
var ends = map[int][]string{22: {"1", "2"}, 23: {"3"}, 24: {"4", "4:1", "4:2", "4:3", "4:4", "4:5"}, 25: {"5"}, 27: {"7"}, 28: {"8"},
	29: {"9"}, 55: {"53"}}

// take takes the parameters of a sequence. What it does not know, it leaves out.
func (p *pen) take(params string) {
	all := strings.Split(params, ";")
	if len(all) > maxParams {
		return
	}
	for i := 0; i < len(all); i++ {
		n, err := strconv.Atoi(all[i])
		if all[i] == "" {
			n, err = 0, nil
		}
		if err != nil {
			p.colons(all[i])
			continue
		}
		switch {
		case n == 0:
			*p = pen{}
		case n == 38 || n == 48 || n == 58:
			used := extended(all[i+1:])
			if used == 0 {
				return // the rest of the sequence means nothing without it
			}
			p.colour(n, strings.Join(all[i:i+1+used], ";"))
			i += used
		case n >= 30 && n <= 37, n >= 90 && n <= 97:
			p.front = all[i]
		case n >= 40 && n <= 47, n >= 100 && n <= 107:
			p.back = all[i]
		case n == 39:
			p.front = ""
		case n == 49:
			p.back = ""
		case n == 59:
			p.under = ""
		case n >= 1 && n <= 9 && n != 6, n == 53:
			p.add(strconv.Itoa(n))
		case ends[n] != nil:
			p.on = slices.DeleteFunc(slices.Clone(p.on), func(a string) bool { return slices.Contains(ends[n], a) })
		}
	}
}

func (p *pen) add(a string) {
	if !slices.Contains(p.on, a) {
		p.on = append(slices.Clone(p.on), a)
	}
}

// extended is how many parameters behind 38, 48 or 58 are of its colour: 5;N or 2;R;G;B. 0: it is none.
func extended(rest []string) int {
	n := 0
	switch {
	case len(rest) > 1 && rest[0] == "5":
		n = 2
	case len(rest) > 3 && rest[0] == "2":
		n = 4
	default:
		return 0
	}
	for _, v := range rest[:n] {
		if b, err := strconv.ParseUint(v, 10, 8); err != nil || strconv.FormatUint(b, 10) != v {
			return 0
		}
	}
	return n
}

// colour sets one of the colours to its parameters.
func (p *pen) colour(which int, params string) {
	switch which {
	case 38:
		p.front = params
	case 48:
		p.back = params
	case 58:
		p.under = params
	}
}

// colons takes a parameter whose parts are joined by colons: a kind of underline, or a colour.
func (p *pen) colons(param string) {
	parts := strings.Split(param, ":")
	for _, v := range parts {
		if v != "" && strings.Trim(v, "0123456789") != "" || len(v) > 3 {
			return
		}
	}
	switch which, _ := strconv.Atoi(parts[0]); {
	case which == 4 && len(parts) == 2 && len(parts[1]) == 1 && parts[1] > "0" && parts[1] <= "5":
		p.on = slices.DeleteFunc(slices.Clone(p.on), func(a string) bool { return slices.Contains(ends[24], a) })
		p.add(param)
	case which == 4 && len(parts) == 2:
		p.take("24")
	case (which == 38 || which == 48 || which == 58) && len(parts) <= 7:
		p.colour(which, param)
	}
}

// lineDrawing are the characters of the line drawing set, from _ to ~ (VT100; xterm's DEC special graphics).
const lineDrawing = " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"

// painted makes lines of a terminal independent of each other: each begins with what the one before it had set. Only colours and text come
// out of it, whatever a program has printed: no other sequence, no control character, and what nobody sees stands as its number.
func painted(lines []string) []string {
	out := make([]string, len(lines))
	var p pen
	drawing := false
	signs := []rune(lineDrawing)
	for i, line := range lines {
		var b strings.Builder
		if !p.plain() {
			b.WriteString(p.String())
		}
		for line != "" {
			n := strings.IndexAny(line, "\x1b\x0e\x0f")
			if n < 0 {
				n = len(line)
			}
			b.WriteString(text.OneLine(drawn(line[:n], drawing, signs)))
			line = line[n:]
			switch {
			case line == "":
			case line[0] == '\x1b':
				params, rest := sequence(line)
				if line = rest; params != nil {
					p.take(*params)
					b.WriteString(p.String())
				}
			default:
				drawing, line = line[0] == '\x0e', line[1:]
			}
		}
		if !p.plain() {
			b.WriteString("\x1b[0m")
		}
		out[i] = b.String()
	}
	return out
}

// drawn is a text in which letters mean lines.
func drawn(s string, drawing bool, signs []rune) string {
	if !drawing {
		return s
	}
	return strings.Map(func(r rune) rune {
		if i := int(r - '_'); i >= 0 && i < len(signs) {
			return signs[i]
		}
		return r
	}, s)
}

// sequence takes the escape sequence at the beginning of a line. params are those of a colour; nil: it is another one, of which only what
// began it is taken, so that the rest is seen as text.
func sequence(line string) (params *string, rest string) {
	body, found := strings.CutPrefix(line, "\x1b[")
	if !found {
		return nil, line[1:]
	}
	n := 0
	for n < len(body) && (body[n] >= '0' && body[n] <= '9' || body[n] == ';' || body[n] == ':') {
		n++
	}
	if n == len(body) || body[n] != 'm' {
		return nil, body
	}
	found2 := body[:n]
	return &found2, body[n+1:]
}

// unpainted is a painted line without its colours.
func unpainted(line string) string {
	var b strings.Builder
	for {
		before, after, more := strings.Cut(line, "\x1b[")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		_, line, _ = strings.Cut(after, "m")
	}
}
