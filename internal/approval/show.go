package approval

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ShowArgs is what a request would do, whole, for people: a command as it stands, an edit as a diff, anything else as indented JSON
// with its numbers and their order untouched. Nothing in it hides; see [Visible]. diff tells surfaces which colours fit.
func ShowArgs(r Request) (text string, diff bool) {
	switch r.Tool {
	case "agent__Bash":
		if text, ok := showBash(r.Args); ok {
			return text, false
		}
	case "agent__Edit", "agent__MultiEdit", "agent__Write":
		if text, ok := showEdit(r.Args); ok {
			return text, true
		}
	}
	return showJSON(r.Args), false
}

// showBash shows the command first and then what else there is.
func showBash(args []byte) (string, bool) {
	var a struct {
		Command string                    `json:"command"`
		Rest    map[string]jsontext.Value `json:",inline"`
	}
	if json.Unmarshal(args, &a) != nil || a.Command == "" {
		return "", false
	}
	delete(a.Rest, "description") // the agent's own words for it: they are no part of what runs
	text := Visible(a.Command)
	if len(a.Rest) > 0 {
		b, err := json.Marshal(a.Rest, json.Deterministic(true))
		if err != nil {
			return "", false
		}
		text += "\n" + showJSON(b)
	}
	return text, true
}

type change struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// showEdit shows one edit or several of one file, or a file's new content.
func showEdit(args []byte) (string, bool) {
	var a struct {
		Path    string  `json:"file_path"`
		Content *string `json:"content"`
		change  `json:",inline"`
		Edits   []change                  `json:"edits"`
		Rest    map[string]jsontext.Value `json:",inline"`
	}
	if json.Unmarshal(args, &a) != nil || a.Path == "" || len(a.Rest) > 0 {
		return "", false
	}
	var b strings.Builder
	if a.Content != nil {
		fmt.Fprintf(&b, "write %s\n", OneLine(a.Path))
		b.WriteString(Diff("", *a.Content))
	}
	if a.Old != "" || a.New != "" {
		a.Edits = append(a.Edits, a.change)
	}
	for _, e := range a.Edits {
		verb := "edit"
		if e.All {
			verb = "edit everywhere in"
		}
		fmt.Fprintf(&b, "%s %s\n", verb, OneLine(a.Path))
		b.WriteString(Diff(e.Old, e.New))
	}
	return strings.TrimSuffix(b.String(), "\n"), b.Len() > 0
}

// showJSON indents a value and writes strings with their own characters where they show.
func showJSON(args []byte) string {
	if len(args) == 0 {
		return ""
	}
	b, err := jsontext.AppendFormat(nil, args, jsontext.WithIndent("  "), jsontext.PreserveRawStrings(false), jsontext.EscapeForHTML(false),
		jsontext.SpaceAfterColon(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return Visible(string(args))
	}
	return Visible(string(b))
}

// Bounds of a diff: beyond them the old lines are followed by the new ones.
const (
	diffCells   = 1 << 18
	diffContext = 2 // equal lines around a change
)

// Diff shows by lines how one text becomes another, each line with its mark: space, - or +. Long runs of equal lines are left out and
// counted. Nothing in it hides.
func Diff(old, now string) string {
	a, b := lines(old), lines(now)
	var head, tail int
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var d diffText
	d.same = append(d.same, a[:head]...)
	d.middle(a[head:len(a)-tail], b[head:len(b)-tail])
	d.same = append(d.same, a[len(a)-tail:]...)
	d.flush(true)
	return d.b.String()
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// diffText writes a diff and keeps back equal lines until it knows whether they are near a change.
type diffText struct {
	b       strings.Builder
	same    []string
	changed bool
}

func (d *diffText) line(mark, s string) {
	d.flush(false)
	d.changed = true
	d.b.WriteString(mark + Visible(s) + "\n")
}

// flush writes the equal lines that are near a change.
func (d *diffText) flush(end bool) {
	before, after := diffContext, diffContext
	if !d.changed {
		before = 0
	}
	if end {
		after = 0
	}
	if left := len(d.same) - before - after; left > 1 {
		for _, s := range d.same[:before] {
			d.b.WriteString("  " + Visible(s) + "\n")
		}
		fmt.Fprintf(&d.b, "  … %d lines as they are\n", left)
		d.same = d.same[len(d.same)-after:]
	}
	for _, s := range d.same {
		d.b.WriteString("  " + Visible(s) + "\n")
	}
	d.same = nil
}

// middle is the part that differs: the longest common subsequence of its lines stays.
func (d *diffText) middle(a, b []string) {
	if len(a)*len(b) > diffCells {
		for _, s := range a {
			d.line("- ", s)
		}
		for _, s := range b {
			d.line("+ ", s)
		}
		return
	}
	width := len(b) + 1
	best := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			d.same = append(d.same, a[i])
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			d.line("- ", a[i])
			i++
		default:
			d.line("+ ", b[j])
			j++
		}
	}
	for ; i < len(a); i++ {
		d.line("- ", a[i])
	}
	for ; j < len(b); j++ {
		d.line("+ ", b[j])
	}
}
