package base

import (
	"bytes"
	"strings"
	"testing"

	"mycelium/internal/text"
)

// Columns are left out from the highest number on, then the widest cells are cut, and what may never be cut stays whole.
func TestTableLayout(t *testing.T) {
	columns := []Column{{Name: "ID"}, {Name: "WHO", Least: 4, Drop: 1}, {Name: "WHAT", Least: 6}, {Name: "WHY", Least: 5, Drop: 2}}
	natural := []int{8, 10, 20, 30}
	for _, c := range []struct {
		limit int
		want  []int
	}{
		{0, []int{8, 10, 20, 30}},
		{80, []int{8, 10, 20, 30}},
		{50, []int{8, 10, 13, 13}},
		{29, []int{8, 4, 6, 5}},
		{28, []int{8, 8, 8, -1}},
		{20, []int{8, -1, 10, -1}},
		{3, []int{8, -1, 6, -1}},
	} {
		got := layout(columns, natural, c.limit)
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("layout(%d) = %v, want %v", c.limit, got, c.want)
				break
			}
		}
	}
}

// Where the output is no terminal, a table is plain and whole, with Japanese in columns and what would hide made visible.
func TestTableOnAPipe(t *testing.T) {
	var out bytes.Buffer
	a := &App{Out: &out}
	long := strings.Repeat("x", 300)
	a.Table(Column{Name: "A", Least: 2}, Column{Name: "B", Paint: func(string) Colour { return Red }}).
		Print([]string{"日本", "deny"}, []string{"a\x1b[2J", long})
	want := "A         B\n日本      deny\na\\x1b[2J  " + long + "\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A value that is wrapped loses no character.
func TestWrapAt(t *testing.T) {
	for _, s := range []string{"one two three four five six seven", strings.Repeat("語", 40), strings.Repeat("x", 70),
		"a " + strings.Repeat("界", 30)} {
		var lines []string
		for rest := s; rest != ""; {
			line := wrapAt(rest, 20)
			if line == "" || text.Width(line) > 20 {
				t.Fatalf("%q does not fit", line)
			}
			lines = append(lines, line)
			rest = strings.TrimLeft(rest[len(line):], " ")
		}
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(s, " ", "") {
			t.Errorf("%q became %q", s, lines)
		}
	}
}

// narrow is the output of a terminal of 30 cells.
type narrow struct{ bytes.Buffer }

func (*narrow) Width() int { return 30 }

// On a terminal a text goes on below its own beginning, whole words of it; on a pipe it is one line.
func TestHang(t *testing.T) {
	const said = "skills: 6 skills use what is not on this machine"
	out := &narrow{}
	Hang(&App{Out: out}, "\x1b[33m!\x1b[0m ", 2, said)
	if got, want := out.String(), "\x1b[33m!\x1b[0m skills: 6 skills use what is\n  not on this machine\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var pipe bytes.Buffer
	Hang(&App{Out: &pipe}, "! ", 2, said)
	if got, want := pipe.String(), "! "+said+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
