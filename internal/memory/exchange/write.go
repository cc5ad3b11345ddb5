package exchange

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/memory"
)

// The lines around what Merge writes into the Markdown file of another tool.
const (
	begin = "<!-- mycelium memory: begin -->"
	end   = "<!-- mycelium memory: end -->"
)

// entityType is the type of an entity that stands for one memory of this program.
const entityType = "mycelium memory"

// Write writes entries in the form of a tool: Markdown with an item an entry, or the lines of the MCP server.
func Write(format string, entries []memory.Entry) ([]byte, error) {
	if err := Check(format); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if format == "mcp" {
		for _, e := range entries {
			raw, err := json.Marshal(line{Type: "entity", Name: e.ID, EntityType: entityType, Observations: []string{e.Content}})
			if err != nil {
				return nil, fmt.Errorf("write %s: %w", e.ID, err)
			}
			b.Write(append(raw, '\n'))
		}
		return b.Bytes(), nil
	}
	b.WriteString(begin + "\n")
	if format == "gemini" {
		b.WriteString("\n## " + geminiSection + "\n\n")
	}
	for _, kind := range memory.Types() {
		titled := format == "gemini"
		for _, e := range entries {
			if e.Type != kind {
				continue
			}
			if !titled {
				b.WriteString("\n## " + strings.ToUpper(kind[:1]) + kind[1:] + "\n\n")
				titled = true
			}
			b.WriteString("- " + strings.ReplaceAll(strings.ReplaceAll(e.Content, "\n", "\n  "), "\n  \n", "\n\n") + "\n")
		}
	}
	b.WriteString("\n" + end + "\n")
	return b.Bytes(), nil
}

// Merge puts what Write wrote into a file that exists already. In Markdown it replaces what an earlier Merge has put there, and nothing
// else; lines of the MCP server are added unless they are there.
func Merge(format string, existing, written []byte) []byte {
	if format == "mcp" {
		out := bytes.Clone(existing)
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, '\n')
		}
		for l := range bytes.Lines(written) {
			if !bytes.Contains(append([]byte("\n"), existing...), append([]byte("\n"), l...)) {
				out = append(out, l...)
			}
		}
		return out
	}
	from, to := bytes.Index(existing, []byte(begin)), bytes.Index(existing, []byte(end))
	if from >= 0 && to > from {
		rest := bytes.TrimPrefix(existing[to+len(end):], []byte("\n"))
		return append(append(bytes.Clone(existing[:from]), written...), rest...)
	}
	out := bytes.Clone(existing)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return append(out, written...)
}
