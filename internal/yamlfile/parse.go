package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"mycelium/internal/policy"
)

// The bounds of a document, far above what people write. The parser recurses for nesting, and in a block map for every key, in quadratic
// time: without bounds, a file of 1 MiB could take minutes or overflow the stack.
const (
	maxNesting  = 64      // maps and lists inside one another
	maxRun      = 64      // "- - - -", tags and anchors in a row
	maxKeys     = 5000    // keys of one block map
	maxEmpty    = 1000    // list entries without a value
	maxMarks    = 8       // "---", "..." and "%YAML"
	maxExpanded = 100_000 // values that aliases add
)

// document is a parsed file of one document, with its aliases resolved.
type document struct {
	root    ast.Node // nil: empty
	targets map[*ast.AliasNode]ast.Node
}

// parse parses the text of a file.
func parse(data []byte) (*document, *policy.Problem) {
	text, prob := plainText(data)
	if prob != nil {
		return nil, prob
	}
	file, prob := parseText(text)
	if prob != nil {
		return nil, prob
	}
	doc := &document{targets: map[*ast.AliasNode]ast.Node{}}
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.DirectiveType {
			continue
		}
		if doc.root != nil {
			return nil, manyDocuments(lineOf(d.Body))
		}
		doc.root = d.Body
	}
	if doc.root == nil {
		return doc, nil
	}
	return doc, doc.link()
}

func manyDocuments(line int) *policy.Problem {
	return &policy.Problem{Line: line, Message: "the file has more than one document (separated by ---)",
		Hint: "put each document into a file of its own"}
}

// plainText checks that the data is UTF-8 without control characters, and not too long.
func plainText(data []byte) (string, *policy.Problem) {
	if len(data) > MaxSize {
		return "", &policy.Problem{Message: fmt.Sprintf("the file is too large: %d bytes, the limit is %d", len(data), MaxSize),
			Hint: "split it, or check that it is the file you mean"}
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return "", &policy.Problem{Line: 1, Message: "the file is UTF-16, not UTF-8", Hint: "save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors write a byte order mark
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return "", &policy.Problem{Line: line, Message: fmt.Sprintf("the file is not valid UTF-8 (byte 0x%02x)", data[i]),
				Hint: "save it as UTF-8"}
		case r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f:
			return "", &policy.Problem{Line: line, Message: fmt.Sprintf("the file has a control character (U+%04X)", r),
				Hint: `remove it, or write it as an escape in a double-quoted text ("\u0007")`}
		case r == '\ufeff':
			return "", &policy.Problem{Line: line, Message: "the file has a byte order mark (U+FEFF) that is not at its start",
				Hint: "remove it; it is invisible in most editors"}
		case r == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			return "", &policy.Problem{Line: line, Message: "a line ends with a carriage return alone",
				Hint: "save the file with line feeds (LF) as line ends"}
		case r == '\n':
			line++
		}
		i += n
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

// parseText checks the bounds and calls the parser. It turns errors and panics of the parser into problems.
func parseText(text string) (file *ast.File, prob *policy.Problem) {
	defer func() {
		if r := recover(); r != nil {
			file, prob = nil, &policy.Problem{Message: "the file cannot be read as YAML", Hint: "check its indentation, quotes and brackets"}
		}
	}()
	if trimmed := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		text = untab(text)
	}
	tokens := lexer.Tokenize(text)
	if prob := bounded(tokens); prob != nil {
		return nil, prob
	}
	// The decoder reports duplicate keys, all of them at once.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxProblem(text, err)
	}
	return file, nil
}

// untab turns tabs in the indentation of JSON into spaces. Block YAML does not allow them, and JSON often has them.
func untab(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = strings.ReplaceAll(line[:len(line)-len(rest)], "\t", " ") + rest
	}
	return strings.Join(lines, "\n")
}

// bounded returns a problem if parsing would cost too much.
func bounded(tokens token.Tokens) *policy.Problem {
	depth, run, line, marks, empties := 0, 0, 0, 0, 0
	var maps blockMaps
	for _, tk := range tokens {
		if tk.Position.Line != line {
			line = tk.Position.Line
			if tk.Type != token.TagType || tk.Prev == nil || tk.Prev.Type != token.TagType {
				run = 0
			}
		}
		switch tk.Type {
		case token.DocumentHeaderType, token.DocumentEndType, token.DirectiveType:
			if marks++; marks > maxMarks {
				return manyDocuments(line)
			}
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth, run = max(depth-1, 0), 0
		case token.CollectEntryType:
			run = 0
		case token.SequenceEntryType:
			run++
			maps.close(tk.Position.Column)
			if tk.Prev != nil && tk.Prev.Type == token.SequenceEntryType && tk.Prev.Position.Line != line {
				if empties++; empties > maxEmpty {
					return &policy.Problem{Line: line, Message: fmt.Sprintf("a list has more than %d entries without a value", maxEmpty)}
				}
			}
		case token.AnchorType, token.TagType, token.AliasType, token.MappingKeyType:
			run++
		case token.MappingValueType:
			run++
			if depth == 0 && tk.Prev != nil && maps.key(tk.Prev.Position.Column) > maxKeys {
				return &policy.Problem{Line: line, Message: fmt.Sprintf("a map has more than %d keys", maxKeys), Hint: "split the file"}
			}
		default: // the cost of a scalar is its length
		}
		if depth > maxNesting || run > maxRun {
			return &policy.Problem{Line: line, Message: fmt.Sprintf("the file nests deeper than %d levels", maxNesting)}
		}
	}
	return nil
}

// blockMaps counts the keys of the open block maps, by the column of each; the innermost is last.
type blockMaps []struct{ column, keys int }

// close closes the maps right of a column.
func (b *blockMaps) close(column int) {
	for len(*b) > 0 && (*b)[len(*b)-1].column > column {
		*b = (*b)[:len(*b)-1]
	}
}

// key counts a key, and returns the number of keys of its map.
func (b *blockMaps) key(column int) int {
	b.close(column)
	if len(*b) == 0 || (*b)[len(*b)-1].column < column {
		*b = append(*b, struct{ column, keys int }{column: column})
	}
	last := &(*b)[len(*b)-1]
	last.keys++
	return last.keys
}

// syntaxProblem makes a problem for people from an error of the parser.
func syntaxProblem(text string, err error) *policy.Problem {
	p := &policy.Problem{Message: "the file cannot be read as YAML", Hint: "check its indentation, quotes and brackets"}
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return p
	}
	msg := ye.GetMessage()
	if tk := ye.GetToken(); tk != nil && tk.Position != nil {
		p.Line = tk.Position.Line
	}
	if n := tabLine(text, p.Line); n > 0 {
		return &policy.Problem{Line: n, Message: "a tab is used for indentation",
			Hint: "YAML indents with spaces only; replace the tab by spaces"}
	}
	line := lineText(text, p.Line)
	switch {
	case strings.Contains(msg, "undefined alias name"), strings.Contains(line, "*]"), strings.Contains(line, "*,"):
		p.Message, p.Hint = "a * outside quotes begins a YAML alias", `write it in quotes: "*"`
	case strings.Contains(msg, "is a reserved character"):
		p.Message, p.Hint = "a value begins with a character that YAML reserves (@ or `)", "put the value in quotes"
	case strings.Contains(msg, "mapping value is not allowed"):
		p.Message, p.Hint = "a colon is where no key can begin",
			"put the value in quotes if the colon belongs to it; else check the indentation"
	case strings.Contains(msg, "end token"), strings.Contains(msg, "could not find flow"), strings.Contains(msg, "could not find map value"):
		p.Message, p.Hint = "a bracket or brace is opened here and never closed", "add the missing ] or }"
	case strings.Contains(msg, "quoted"):
		p.Message, p.Hint = "a quoted text is never closed", "add the missing quote"
	case strings.Contains(msg, "non-map value"), strings.Contains(msg, "could not find expected"):
		p.Message, p.Hint = "a line is neither a key with a colon nor part of the value above it", "write key: value, or check the indentation"
	case strings.Contains(msg, "pre-defined"), strings.Contains(msg, "value is not allowed"):
		p.Message, p.Hint = "a value is where no value can be", "check the indentation of this line and the one above"
	default:
		first, _, _ := strings.Cut(msg, "\n")
		p.Message = "the file cannot be read as YAML: " + first
	}
	return p
}

// tabLine returns the line at or just before the error that has a tab in its indentation, or 0.
func tabLine(text string, line int) int {
	for n := line; n > 0 && n >= line-1; n-- {
		s := lineText(text, n)
		if strings.Contains(s[:len(s)-len(strings.TrimLeft(s, " \t"))], "\t") {
			return n
		}
	}
	return 0
}

// lineText returns line n, from 1, of a text; "" if the text is shorter.
func lineText(text string, n int) string {
	for ; n > 1; n-- {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return ""
		}
		text = rest
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r")
}

// linker resolves aliases.
type linker struct {
	doc     *document
	anchors map[string]ast.Node
	sizes   map[ast.Node]int // anchored node → values in it, with its aliases expanded
	added   int              // values that aliases have added
	prob    *policy.Problem
}

// link resolves the aliases of a document in order, and bounds the values that they add. Otherwise ten lines of aliases to aliases
// ("billion laughs") would become a billion values.
func (doc *document) link() *policy.Problem {
	l := &linker{doc: doc, anchors: map[string]ast.Node{}, sizes: map[ast.Node]int{}}
	l.walk(doc.root, 0)
	return l.prob
}

// walk returns the number of values of a node.
func (l *linker) walk(n ast.Node, depth int) int {
	if l.prob != nil || n == nil {
		return 0
	}
	if depth > 2*maxNesting {
		l.prob = &policy.Problem{Line: lineOf(n), Message: fmt.Sprintf("the file nests deeper than %d levels", 2*maxNesting)}
		return 0
	}
	size := 1
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			size += l.walk(v.Key, depth+1) + l.walk(v.Value, depth+1)
		}
	case *ast.MappingValueNode:
		size += l.walk(n.Key, depth+1) + l.walk(n.Value, depth+1)
	case *ast.MappingKeyNode:
		size += l.walk(n.Value, depth+1)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			size += l.walk(v, depth+1)
		}
	case *ast.TagNode:
		size += l.walk(n.Value, depth+1)
	case *ast.AnchorNode:
		// Define the anchor after its value, so that no alias contains itself.
		size += l.walk(n.Value, depth+1)
		l.anchors[tokenText(n.Name)] = n.Value
		l.sizes[n.Value] = size
	case *ast.AliasNode:
		return l.alias(n)
	}
	return size
}

func (l *linker) alias(n *ast.AliasNode) int {
	name := tokenText(n.Value)
	target, ok := l.anchors[name]
	if !ok {
		l.prob = &policy.Problem{Line: lineOf(n), Message: fmt.Sprintf("the alias %q has no anchor: there is no %q before it", "*"+name,
			"&"+name), Hint: fmt.Sprintf("if you mean the text, write it in quotes: %q", "*"+name)}
		return 0
	}
	l.doc.targets[n] = target
	l.added += l.sizes[target]
	if l.added > maxExpanded {
		l.prob = &policy.Problem{Line: lineOf(n), Message: fmt.Sprintf("aliases expand to more than %d values", maxExpanded),
			Hint: "write the values out, or use fewer aliases of aliases"}
	}
	return l.sizes[target]
}

// resolve returns the node behind anchors and aliases.
func (doc *document) resolve(n ast.Node) ast.Node {
	for range 2 * maxNesting {
		switch x := n.(type) {
		case *ast.AnchorNode:
			n = x.Value
		case *ast.AliasNode:
			n = doc.targets[x]
		default:
			return n
		}
	}
	return nil
}

// tokenText returns the text of a scalar node.
func tokenText(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

// lineOf returns the line of a node, from 1; 0 if it is unknown. The line of a map or list is the line of its first entry.
func lineOf(n ast.Node) int {
	switch x := n.(type) {
	case nil:
		return 0
	case *ast.MappingNode:
		if !x.IsFlowStyle && len(x.Values) > 0 {
			return lineOf(x.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return lineOf(x.Key)
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return 0
	}
	return tk.Position.Line
}
