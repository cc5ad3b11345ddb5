// Package yamlfile reads and writes the YAML and JSON files that people edit. It is strict: an unknown or duplicate key, or a value of the
// wrong type, is a problem with file, line and the nearest known key.
//
// Package goccy/go-yaml parses the syntax. This package decodes the values, because people need every problem of a file at once with its
// line, and because no file may cost more than its size: the length, the nesting and the expansion of aliases are bounded. JSON is read
// as a subset of YAML.
//
// A field has the name in its yaml tag ("-" hides it, ",inline" inlines an embedded struct), or its own in lower case. In an any, numbers
// are int64, uint64 or float64. A string field accepts a number or boolean as it is written, so "version: 1.10" stays 1.10. A key without
// a value (null) is absent. A type with a method UnmarshalYAML(func(any) error) error decodes itself, as strictly;
// encoding.TextUnmarshaler and time.Duration ("30s") are decoded from text.
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

// MaxSize bounds a file, in bytes. Files that people write are a thousand times smaller.
const MaxSize = 1 << 20

// Decode reads a document into the struct that into points to. If it returns problems, the struct is incomplete and must not be used. It
// changes only the fields whose keys the document has, so defaults may be set before. file is the path as shown to people.
func Decode(file string, data []byte, into any) []policy.Problem {
	return DecodeAliases(file, data, nil, into)
}

// DecodeAliases is Decode with other spellings of keys: aliases maps a spelling (allowed-roles) to a key (allowedRoles). It applies to
// structs that have the key and not the spelling, so maps keep their keys. A document with both is a problem.
func DecodeAliases(file string, data []byte, aliases map[string]string, into any) []policy.Problem {
	f, problems := Read(file, data)
	if problems != nil {
		return problems
	}
	return f.Decode(aliases, into)
}

// File is a parsed document, for callers that need its keys and lines besides its values.
type File struct {
	name string
	doc  *document
}

// Read parses a document. It returns a problem and no File if the text cannot be parsed.
func Read(file string, data []byte) (*File, []policy.Problem) {
	doc, prob := parse(data)
	if prob != nil {
		prob.File = file
		return nil, []policy.Problem{*prob}
	}
	return &File{file, doc}, nil
}

// Decode is [DecodeAliases] for the document.
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

// Keys returns the keys of the document's outermost map and their lines, from 1. It is empty if the document is not a map.
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

// Line is the function [Line] for the document.
func (f *File) Line(path string) int {
	steps, ok := splitPath(path)
	if !ok || f.doc.root == nil {
		return 0
	}
	return f.doc.line(steps)
}

// Line returns the line, from 1, of a YAML path such as "$.allowedTools[2]" in a document; 0 if the path does not exist. A key with a dot
// or a bracket is quoted: $.'a.b'. The line of a map entry is the line of its key. For many lines, use [Read] once.
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

// pathStep is one step of a path: an index if it is not negative, otherwise a key.
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

// Keys returns the keys of a document's outermost map and their lines, from 1. It is empty if the document cannot be parsed.
func Keys(data []byte) map[string]int {
	f, problems := Read("", data)
	if problems != nil {
		return map[string]int{}
	}
	return f.Keys()
}
