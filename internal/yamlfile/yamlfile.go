// Package yamlfile reads the YAML and JSON files that people write, strictly: an unknown or doubled key, or a value of the wrong
// type, is a problem that names file, line and, where one is near, the key that was meant.
//
// The syntax is parsed by goccy/go-yaml; values are placed by this package, because people need every problem of a file at once,
// in words, with the line, and because nothing in a file may cost more than its size: files, nesting, and what aliases expand to
// are bounded. JSON is read as the subset of YAML that it is.
//
// A field takes the name in its yaml tag ("-" hides it, ",inline" spreads an embedded struct), or its own in lower case. Numbers
// become int64, uint64 or float64 where the target is any. A text field takes a number or a boolean as it is written, so that
// "version: 1.10" stays 1.10. A key without a value (null) counts as absent. A type with a method
// UnmarshalYAML(func(any) error) error decodes itself, and what it decodes is as strict as the rest; encoding.TextUnmarshaler
// and time.Duration ("30s") work on text.
package yamlfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"mycelium/internal/policy"
)

// MaxSize is the largest file that is read, in bytes. Files that people write are a thousand times smaller; the bound is there so
// that a file that is not one of them costs nothing.
const MaxSize = 1 << 20

// Decode reads one document into a struct. What it cannot place it reports; into is then only partly filled and must not be used.
// An empty document leaves into as it is. file is the path as shown to people. into must be a non-nil pointer. What into holds
// already stays unless the document has a key for it, so defaults may be set beforehand.
func Decode(file string, data []byte, into any) []policy.Problem {
	return DecodeAliases(file, data, nil, into)
}

// DecodeAliases is Decode with other spellings of keys: aliases maps a spelling (allowed-roles) to the key that it stands for
// (allowedRoles). It counts only where a struct knows the key and does not know the spelling, so free maps keep their keys. A
// map that has both is a problem.
func DecodeAliases(file string, data []byte, aliases map[string]string, into any) []policy.Problem {
	f, problems := Read(file, data)
	if problems != nil {
		return problems
	}
	return f.Decode(aliases, into)
}

// File is a document that was parsed once, for those who decode it and want its keys and lines too.
type File struct {
	name string
	doc  *document
}

// Read parses a document. It returns a problem and no File where the text cannot be read.
func Read(file string, data []byte) (*File, []policy.Problem) {
	doc, prob := parse(data)
	if prob != nil {
		prob.File = file
		return nil, []policy.Problem{*prob}
	}
	return &File{file, doc}, nil
}

// Decode is DecodeAliases of the document.
func (f *File) Decode(aliases map[string]string, into any) []policy.Problem {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return []policy.Problem{{File: f.name,
			Message: fmt.Sprintf("cannot decode into a %T: a non-nil pointer is needed (a fault of this program)", into)}}
	}
	if f.doc.root == nil {
		return nil
	}
	d := &decoder{doc: f.doc, aliases: aliases}
	d.value(f.doc.root, target.Elem(), "")
	for i := range d.problems {
		d.problems[i].File = f.name
	}
	return d.problems
}

// Keys returns the keys of the document's outermost map and their lines (from 1); none where that is no map.
func (f *File) Keys() map[string]int {
	keys := map[string]int{}
	if f.doc.root == nil {
		return keys
	}
	d := &decoder{doc: f.doc}
	entries, _ := d.entries(f.doc.root, "")
	for _, e := range entries {
		keys[e.key] = e.line
	}
	return keys
}

// Line is the function Line for the document.
func (f *File) Line(path string) int {
	steps, ok := splitPath(path)
	if !ok || f.doc.root == nil {
		return 0
	}
	return f.doc.line(steps)
}

// Line returns the line (from 1) of a YAML path such as "$.allowedTools[2]" in a document; 0 if it is not there. A key that
// contains a dot or a bracket is written in quotes: $.'a.b'. The line of a map entry is that of its key. Whoever asks for many
// lines reads the document once with Read.
func Line(data []byte, path string) int {
	f, problems := Read("", data)
	if problems != nil {
		return 0
	}
	return f.Line(path)
}

// line follows steps from the root.
func (doc *document) line(steps []pathStep) int {
	d := &decoder{doc: doc}
	node, line := doc.root, lineOf(doc.root)
	for _, step := range steps {
		node = doc.resolve(node)
		if step.index >= 0 {
			seq, ok := node.(*ast.SequenceNode)
			if !ok || step.index >= len(seq.Values) {
				return 0
			}
			node = seq.Values[step.index]
			line = lineOf(node)
			continue
		}
		entries, _ := d.entries(node, "")
		i := slices.IndexFunc(entries, func(e entry) bool { return e.key == step.key })
		if i < 0 {
			return 0
		}
		node, line = entries[i].value, entries[i].line
	}
	return line
}

// pathStep is one step of a path: a key, or an index where index is not negative.
type pathStep struct {
	key   string
	index int
}

// splitPath reads "$.a.'b.c'[2]".
func splitPath(path string) ([]pathStep, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, false
	}
	var steps []pathStep
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, ".'"):
			key, after, ok := strings.Cut(rest[2:], "'")
			if !ok {
				return nil, false
			}
			steps, rest = append(steps, pathStep{key: key, index: -1}), after
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			if end == 0 {
				return nil, false
			}
			steps, rest = append(steps, pathStep{key: rest[1 : end+1], index: -1}), rest[end+1:]
		case rest[0] == '[':
			digits, after, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.Atoi(digits)
			if !ok || err != nil || n < 0 {
				return nil, false
			}
			steps, rest = append(steps, pathStep{index: n}), after
		default:
			return nil, false
		}
	}
	return steps, true
}

// Keys returns the keys of a document's outermost map and their lines (from 1). It is empty for whatever cannot be read.
func Keys(data []byte) map[string]int {
	f, problems := Read("", data)
	if problems != nil {
		return map[string]int{}
	}
	return f.Keys()
}
