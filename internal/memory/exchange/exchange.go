// Package exchange reads and writes the memory files of other tools: the Markdown of Claude Code, Codex and Gemini CLI, and the lines of
// the reference MCP server for memory.
package exchange

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/memory"
	"mycelium/internal/text"
)

// Formats are the tools whose files are read and written, sorted. It is a new list each time.
func Formats() []string { return []string{"claude", "codex", "gemini", "mcp"} }

// Check returns an error that names the formats, for one that is not among them.
func Check(format string) error {
	if slices.Contains(Formats(), format) {
		return nil
	}
	err := fmt.Errorf("format %q: not one of %s", format, strings.Join(Formats(), ", "))
	if near := text.Nearest(format, Formats()); near != "" {
		return text.Hinted(err, "did you mean "+near+"?")
	}
	return err
}

// Note is one thing that a file remembers.
type Note struct {
	Content string
	Type    string // of this program; "": the file does not say
	Tags    []string
	Source  string // the tool, the file and the heading
}

// geminiSection is the heading below which Gemini CLI keeps what it was told to remember, in GEMINI.md (its tool save_memory).
const geminiSection = "Gemini Added Memories"

// Read reads a file of a tool. name is the file's name, for the source of the notes. In Markdown every item of a list and every paragraph
// is a note; a file that begins with front matter, as those in Claude Code's folder of memories do, is one note.
func Read(format, name string, data []byte) ([]Note, error) {
	if err := Check(format); err != nil {
		return nil, err
	}
	if format == "mcp" {
		return readGraph(name, data)
	}
	source := format + ":" + path.Base(name)
	body := memory.Clean(string(data))
	if n, ok := topic(body, source); ok {
		return []Note{n}, nil
	}
	notes := readMarkdown(body, source)
	if format == "gemini" && strings.Contains(body, "## "+geminiSection) {
		notes = slices.DeleteFunc(notes, func(n Note) bool { return n.Source != source+"#"+geminiSection })
	}
	return notes, nil
}

// topic reads a file with front matter. Its type says what kind of memory Claude Code took it for.
func topic(body, source string) (Note, bool) {
	rest, ok := strings.CutPrefix(body, "---\n")
	if !ok {
		return Note{}, false
	}
	front, content, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return Note{}, false
	}
	n := Note{Content: memory.Clean(content), Source: source}
	for line := range strings.SplitSeq(front, "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(key) {
		case "name":
			n.Tags = []string{text.Prefix(value, memory.MaxTag)}
		case "type":
			n.Type = typeOf(value)
		case "description":
			if n.Content == "" {
				n.Content = memory.Clean(value)
			}
		}
	}
	return n, n.Content != ""
}

func typeOf(word string) string {
	switch word = strings.ToLower(word); word {
	case "user":
		return "preference"
	case "feedback":
		return "learned"
	case "reference":
		return "fact"
	}
	if slices.Contains(memory.Types(), word) {
		return word
	}
	return ""
}

// readMarkdown divides a text into its paragraphs and the items of its lists. What is indented belongs to the item above it, and a fenced
// block to what stands before it.
func readMarkdown(body, source string) []Note {
	var notes []Note
	heading, kind, open, fence := "", "", false, ""
	add := func(line string, starts bool) {
		if starts || !open || len(notes) == 0 {
			n := Note{Source: source, Type: kind}
			if heading != "" {
				n.Source += "#" + heading
			}
			notes, open = append(notes, n), true
		}
		notes[len(notes)-1].Content += line + "\n"
	}
	gap := ""
	for line := range strings.SplitSeq(body, "\n") {
		bare := strings.TrimSpace(line)
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		switch item, isItem := itemOf(line); {
		case fence != "":
			add(gap+unindent(line), false)
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
			fence = bare[:3]
			add(gap+unindent(line), false)
		case bare == "":
			if open {
				gap += "\n"
			}
			continue
		case strings.HasPrefix(bare, "<!--") && strings.HasSuffix(bare, "-->"):
			open = false
		case strings.HasPrefix(line, "#") && strings.HasPrefix(strings.TrimLeft(line, "#"), " "):
			heading, open = strings.TrimSpace(strings.TrimLeft(line, "#")), false
			kind = typeOf(strings.TrimSuffix(heading, "s"))
		case isItem:
			add(item, true)
		case indented && open:
			add(gap+unindent(line), false)
		default:
			add(line, gap != "")
		}
		gap = ""
	}
	for i := range notes {
		notes[i].Content = memory.Clean(notes[i].Content)
	}
	return slices.DeleteFunc(notes, func(n Note) bool { return n.Content == "" })
}

// itemOf returns the text of an item of a list that is not indented.
func itemOf(line string) (string, bool) {
	for _, mark := range []string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return rest, true
		}
	}
	return "", false
}

// unindent removes the two spaces by which a line belongs to the item above it.
func unindent(line string) string {
	if rest, ok := strings.CutPrefix(line, "  "); ok {
		return rest
	}
	return strings.TrimPrefix(line, "\t")
}

// line is a line of the reference MCP server for memory (@modelcontextprotocol/server-memory): an entity with observations, or a relation.
type line struct {
	Type         string   `json:"type"`
	Name         string   `json:"name,omitzero"`
	EntityType   string   `json:"entityType,omitzero"`
	Observations []string `json:"observations,omitempty"`
	From         string   `json:"from,omitzero"`
	To           string   `json:"to,omitzero"`
	RelationType string   `json:"relationType,omitzero"`
}

func readGraph(name string, data []byte) ([]Note, error) {
	var notes []Note
	source := "mcp:" + path.Base(name)
	for i, raw := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, fmt.Errorf("line %d is no entity and no relation in JSON", i+1)
		}
		switch l.Type {
		case "entity":
			for _, o := range l.Observations {
				content := memory.Clean(o)
				if l.EntityType != entityType {
					content = memory.Clean(l.Name + ": " + o)
				}
				notes = append(notes, Note{Content: content, Type: typeOf(l.EntityType), Source: source})
			}
		case "relation":
			notes = append(notes, Note{Content: memory.Clean(l.From + " " + l.RelationType + " " + l.To), Type: "fact", Source: source})
		default:
			return nil, fmt.Errorf("line %d has the type %q, and is no entity and no relation", i+1, text.Prefix(l.Type, 40))
		}
	}
	return notes, nil
}
