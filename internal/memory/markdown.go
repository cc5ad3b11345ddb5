package memory

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Doc is the file of a role, cut into blocks: the head, headings, entries, and text that is none of these. Every block keeps its bytes, so
// that a file which is read and written has lost nothing.
type Doc struct {
	Role     string
	Problems []Problem
	blocks   []block
}

// block is a part of a file, whole lines.
type block struct {
	text  string
	line  int    // of its first line, from 1
	kind  kind   // what its first line says it is
	title string // of a section
	entry *Entry // nil: no entry, or one that is broken
}

type kind uint8

const (
	loose kind = iota // text without a heading
	head
	section
	entry
)

// The lines that give a file its structure.
const (
	headMark    = "# Memory:"
	sectionMark = "## "
	entryMark   = "### ["
	metaMark    = "<!-- {"
	metaEnd     = "-->"
	modified    = "> Last modified: "
	total       = "> Total entries: "
)

// meta is the hidden comment of an entry.
type meta struct {
	CreatedAt string   `json:"createdAt,omitzero"` // RFC 3339
	Type      string   `json:"type,omitzero"`
	Tags      []string `json:"tags,omitempty"`
	Source    string   `json:"source,omitzero"`
}

// Parse reads the file of a role. It takes any text: what it does not understand becomes a problem and stays.
func Parse(role string, data []byte) *Doc {
	d := &Doc{Role: role}
	d.cut(string(data))
	seen := map[string]bool{}
	in := Context
	for i := range d.blocks {
		b := &d.blocks[i]
		switch b.kind {
		case head:
			d.looseIn(b, headLine)
		case section:
			in, _ = typeOf(b.title)
			d.looseIn(b, func(n int, _ string) bool { return n == 0 })
		case loose:
			d.looseIn(b, func(int, string) bool { return false })
		case entry:
			e, err := parseEntry(b.text, in)
			if err == nil && seen[e.ID] {
				err = fmt.Errorf("the id %s stands twice", e.ID)
			}
			if err != nil {
				d.problem(b.line, "this entry is not recalled: "+err.Error())
				continue
			}
			seen[e.ID] = true
			e.Role, e.Line = role, b.line
			b.entry = &e
		}
	}
	return d
}

func (d *Doc) problem(line int, message string) {
	d.Problems = append(d.Problems, Problem{Role: d.Role, Line: line, Message: message})
}

// looseIn reports the first line of a block that belongs to no entry. known says which lines, by number from 0, belong to the block.
func (d *Doc) looseIn(b *block, known func(n int, line string) bool) {
	for n, line := range strings.Split(b.text, "\n") {
		if strings.TrimSpace(line) != "" && !known(n, line) {
			d.problem(b.line+n, "this text belongs to no entry, and is not recalled")
			return
		}
	}
}

func headLine(_ int, line string) bool {
	return strings.HasPrefix(line, headMark) || strings.HasPrefix(line, ">")
}

// cut divides a file into its blocks.
func (d *Doc) cut(data string) {
	closed := false // the comment of an entry has come: what follows is not of the entry
	n, begin, at := 0, 0, 0
	for line := range strings.Lines(data) {
		n++
		bare := strings.TrimRight(line, "\r\n")
		k, title, starts := loose, "", n == 1
		switch {
		case n == 1 && strings.HasPrefix(bare, headMark):
			k = head
		case strings.HasPrefix(bare, sectionMark) || bare == "##":
			k, title, starts = section, strings.TrimSpace(strings.TrimPrefix(bare, "##")), true
		case strings.HasPrefix(bare, entryMark):
			k, starts = entry, true
		case closed && strings.TrimSpace(bare) != "":
			starts = true
		}
		if starts {
			d.blocks = append(d.blocks, block{line: n, kind: k, title: title})
			closed, begin = false, at
		}
		at += len(line)
		b := &d.blocks[len(d.blocks)-1]
		b.text = data[begin:at]
		closed = closed || b.kind == entry && strings.HasPrefix(bare, metaMark)
	}
}

// parseEntry reads an entry. preset is the type that its section gives.
func parseEntry(raw, preset string) (Entry, error) {
	lines := strings.Split(strings.ReplaceAll(strings.ToValidUTF8(raw, "\uFFFD"), "\r\n", "\n"), "\n")
	e := Entry{Type: preset}
	id, ok := strings.CutSuffix(strings.TrimRight(strings.TrimPrefix(lines[0], entryMark), " \t"), "]")
	if !ok || !validID(id) {
		return e, fmt.Errorf("its heading is not of the form ### [mem_x], with letters, digits, _ and -")
	}
	e.ID = id
	var content []string
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, metaMark) {
			content = append(content, unescape(line))
			continue
		}
		if err := e.read(line); err != nil {
			return e, err
		}
		break
	}
	if e.Content = Clean(strings.Join(content, "\n")); e.Content == "" {
		return e, fmt.Errorf("it has no text")
	}
	return e, nil
}

// read reads the hidden comment of an entry. Members that it does not know are a later version's, or a person's.
func (e *Entry) read(line string) error {
	raw, ok := strings.CutSuffix(strings.TrimRight(line, " \t"), metaEnd)
	var m meta
	if err := json.Unmarshal([]byte(strings.TrimPrefix(raw, "<!--")), &m); err != nil || !ok {
		return fmt.Errorf("its comment, <!-- {…} -->, is no valid JSON on one line")
	}
	if m.Type != "" {
		e.Type = m.Type
	}
	if !slices.Contains(Types(), e.Type) {
		return fmt.Errorf("its type %q is not one of %s", e.Type, strings.Join(Types(), ", "))
	}
	if m.CreatedAt != "" {
		t, err := time.Parse(time.RFC3339, m.CreatedAt)
		if err != nil {
			return fmt.Errorf("its createdAt %q is no time such as 2026-01-31T09:00:00Z", m.CreatedAt)
		}
		e.Created = t.UTC()
	}
	e.Tags, e.Source = CleanTags(m.Tags), Clean(m.Source)
	return nil
}

// escape keeps a line of an entry's text from being read as structure: it begins with a backslash then, which Markdown does not show.
func escape(line string) string {
	if structural(strings.TrimLeft(line, `\`)) {
		return `\` + line
	}
	return line
}

// unescape undoes escape.
func unescape(line string) string {
	if rest, ok := strings.CutPrefix(line, `\`); ok && structural(strings.TrimLeft(rest, `\`)) {
		return rest
	}
	return line
}

func structural(line string) bool {
	return strings.HasPrefix(line, sectionMark) || line == "##" || strings.HasPrefix(line, entryMark) || strings.HasPrefix(line, metaMark)
}

// render is an entry as it stands in a file.
func render(e Entry) (string, error) {
	m := meta{Type: e.Type, Tags: e.Tags, Source: e.Source}
	if !e.Created.IsZero() {
		m.CreatedAt = e.Created.UTC().Format(time.RFC3339Nano)
	}
	raw, err := json.Marshal(m, jsontext.EscapeForHTML(true)) // no text of an entry ends the comment
	if err != nil {
		return "", fmt.Errorf("write a memory: %w", err)
	}
	var b strings.Builder
	b.WriteString(entryMark + e.ID + "]\n")
	for line := range strings.SplitSeq(e.Content, "\n") {
		b.WriteString(escape(line) + "\n")
	}
	b.WriteString("<!-- " + string(raw) + " " + metaEnd + "\n")
	return b.String(), nil
}

// Add adds entries, each at the end of the section of its type.
func (d *Doc) Add(now time.Time, entries ...Entry) error {
	if len(d.blocks) == 0 {
		name := d.Role
		if !graphic(name) || strings.HasPrefix(name, `"`) {
			name = strconv.Quote(name)
		}
		d.blocks = append(d.blocks, block{kind: head, text: headMark + " " + name + "\n\n" + modified + "\n" + total + "\n"})
	}
	for _, e := range entries {
		raw, err := render(e)
		if err != nil {
			return err
		}
		e.Role = d.Role
		at := d.place(e.Type)
		b := block{kind: entry, text: d.gap(at) + raw, entry: &e}
		if at < len(d.blocks) {
			b.text += "\n"
		}
		d.blocks = slices.Insert(d.blocks, at, b)
	}
	d.stamp(now)
	return nil
}

// place returns where the next entry of a type goes, and makes the section if there is none.
func (d *Doc) place(kind string) int {
	at, in := -1, false
	for i, b := range d.blocks {
		if b.kind == section {
			of, known := typeOf(b.title)
			in = known && of == kind
		}
		if in {
			at = i + 1
		}
	}
	if at < 0 {
		at = len(d.blocks)
		d.blocks = append(d.blocks, block{kind: section, title: titleOf(kind), text: d.gap(at) + sectionMark + titleOf(kind) + "\n"})
		at++
	}
	return at
}

// gap is what has to stand between the block before a place and a new one, so that an empty line divides them.
func (d *Doc) gap(at int) string {
	before := d.blocks[at-1].text
	switch {
	case strings.HasSuffix(before, "\n\n") || strings.HasSuffix(before, "\n\r\n"):
		return ""
	case strings.HasSuffix(before, "\n"):
		return "\n"
	}
	return "\n\n"
}

// stamp brings the head up to date, if the file has one.
func (d *Doc) stamp(now time.Time) {
	b := &d.blocks[0]
	if b.kind != head {
		return
	}
	var out strings.Builder
	for line := range strings.Lines(b.text) {
		switch {
		case strings.HasPrefix(line, strings.TrimSpace(modified)):
			line = modified + now.UTC().Format("2006-01-02T15:04:05.000Z") + "\n"
		case strings.HasPrefix(line, strings.TrimSpace(total)):
			line = total + strconv.Itoa(len(d.Entries())) + "\n"
		}
		out.WriteString(line)
	}
	b.text = out.String()
}

// Entries returns the entries, in the order of the file.
func (d *Doc) Entries() []Entry {
	var out []Entry
	for _, b := range d.blocks {
		if b.entry != nil {
			out = append(out, *b.entry)
		}
	}
	return out
}

// Bytes returns the file.
func (d *Doc) Bytes() []byte {
	var out bytes.Buffer
	for _, b := range d.blocks {
		out.WriteString(b.text)
	}
	return out.Bytes()
}

// titled returns the role that the first line of a file names, or "".
func titled(data []byte) string {
	line, _, _ := strings.Cut(string(data), "\n")
	name, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), headMark+" ")
	if !ok {
		return ""
	}
	if unquoted, err := strconv.Unquote(name); err == nil {
		return unquoted
	}
	return name
}
