package swarm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/lazy"
	"mycelium/internal/tmux"
)

// TestPainted: of what a program prints, colours and text come through, whatever else it is; each line stands alone.
func TestPainted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                                  "plain",
		"\x1b[1m\x1b[31mred\x1b[0m x":            "\x1b[0;1m\x1b[0;1;31mred\x1b[0m x",
		"\x1b[38;2;1;2;3ma\x1b[39mb":             "\x1b[0;38;2;1;2;3ma\x1b[0mb",
		"\x1b[38;5;200;4ma":                      "\x1b[0;4;38;5;200ma\x1b[0m",
		"\x1b[38;2;300;2;3mx":                    "\x1b[0mx",
		"\x1b[4:3ma\x1b[24mb":                    "\x1b[0;4:3ma\x1b[0mb",
		"\x0elqk\x0fq":                           "┌─┐q",
		"\x1b]52;c;aGk=\x07x":                    `]52;c;aGk=\x07x`,
		"\x1b]8;;https://evil.example\x1b\\link": `]8;;https://evil.example\link`,
		"\x1b[2Jx\x1b[5;5Hy":                     "2Jx5;5Hy",
		"\x1b":                                   "",
		"\x1b[":                                  "",
		"\x1b[3":                                 "3",
		"a\u202eb\x00":                           `a\u202eb\x00`,
		"\x9b31mx":                               `\x9b31mx`,
		"\x1b[" + strings.Repeat("1;", 100) + "1mx": "\x1b[0mx",
	} {
		if got := painted([]string{in})[0]; got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	two := painted([]string{"\x1b[31mred", "still", "\x1b[0mnot"})
	if want := []string{"\x1b[0;31mred\x1b[0m", "\x1b[0;31mstill\x1b[0m", "\x1b[0;31m\x1b[0mnot"}; !slices.Equal(two, want) {
		t.Errorf("lines are %q", two)
	}
	if got := unpainted(two[0]); got != "red" {
		t.Errorf("without colours: %q", got)
	}
}

// paper is a terminal that does what a stream may ask of one, and nothing else.
type paper struct {
	t    *testing.T
	rows []string
	gone []string
	y    int
}

var step = lazy.Regexp(`^(?:\x1b\[\?7l|\x1b\[(\d+);(\d+)H|\x1b\[2K|\x1b\[\?25[hl]|\r\n|\n|[^\x1b\r\n]+)`)

func (p *paper) down() {
	if p.y++; p.y == len(p.rows) {
		p.gone, p.rows, p.y = append(p.gone, p.rows[0]), append(p.rows[1:], ""), p.y-1
	}
}

func (p *paper) draw(out output) {
	p.t.Helper()
	if out.Whole {
		p.rows, p.gone, p.y = make([]string, out.Rows), nil, 0
	}
	for data := out.Data; data != ""; {
		m := step().FindStringSubmatch(data)
		if m == nil {
			p.t.Fatalf("a terminal is asked for %q", data)
		}
		data = data[len(m[0]):]
		switch {
		case m[1] != "":
			_, _ = fmt.Sscan(m[1], &p.y)
			p.y--
		case strings.HasSuffix(m[0], "2K"):
			p.rows[p.y] = ""
		case strings.HasSuffix(m[0], "\n"):
			p.down()
		case m[0][0] != '\x1b':
			p.rows[p.y] += m[0]
		}
	}
}

// TestDrawing: whatever a terminal does between two looks, who gets the pieces sees the same as it, also above the screen.
func TestDrawing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		rows := 3 + r.IntN(3)
		var all []string // every line that the terminal has
		for range rows {
			all = append(all, "")
		}
		d, p := &drawing{}, &paper{t: t}
		for look := range 30 {
			for range r.IntN(8) { // it prints, or changes a line of its screen
				if r.IntN(2) == 0 {
					all = append(all, fmt.Sprint("line ", r.IntN(100)))
				} else {
					all[len(all)-1-r.IntN(rows)] = fmt.Sprint("now ", r.IntN(5))
				}
			}
			kept := min(len(all)-rows, 20)
			shot := tmux.Shot{Columns: 80, Rows: rows, Scrolled: len(all) - rows, Lines: slices.Clone(all[len(all)-rows-kept:]), Cursor: true}
			out, changed := d.next(shot)
			if !changed && look == 0 {
				t.Fatal("the first look shows nothing")
			}
			if changed {
				p.draw(out)
			}
			got := slices.Concat(p.gone, p.rows)
			n := min(len(got), len(shot.Lines))
			if !slices.Equal(got[len(got)-n:], shot.Lines[len(shot.Lines)-n:]) {
				t.Fatalf("seed %d, look %d: the reader sees\n%q\nwant\n%q", seed, look, got, shot.Lines)
			}
		}
		if _, changed := d.next(d.shot); changed {
			t.Error("what has not changed is sent again")
		}
	}
}
