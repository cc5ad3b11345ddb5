package yamlfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// SetPath puts a value in the place of a key below mappings, such as server.addr, or adds the key. value is YAML text of one line; an
// empty one takes the key away, with the mappings above it that have no other key. The other keys keep their bytes, and comments stay as
// with [SetKey]. If the file has a form in which this cannot be done, SetPath returns an error and no text.
func SetPath(data []byte, path []string, value string) ([]byte, error) {
	name := strings.Join(path, ".")
	var before, after, want map[string]any
	if p := Decode(name, data, &before); len(p) > 0 {
		return nil, fmt.Errorf("%s: the file does not load as it is: %s", name, p[0].Message)
	}
	if p := Decode(name, []byte("v: "+value), &want); len(p) > 0 || value != "" && (want["v"] == nil || strings.Contains(value, "\n")) {
		return nil, fmt.Errorf("%s: %q is no value of one line", name, value)
	}
	byHand := fmt.Errorf("%s: the file cannot be changed in the form that it has; change it by hand", name)
	expected, ok := withPath(before, path, want["v"])
	if !ok {
		return nil, byHand
	}
	out, err := setPath(data, path, value)
	if err != nil {
		return nil, byHand
	}
	if p := Decode(name, out, &after); len(p) > 0 || len(after)+len(expected) > 0 && !reflect.DeepEqual(after, expected) {
		return nil, byHand
	}
	return out, nil
}

// withPath returns a mapping with another value at a path; nil takes it away. It is false if something above is no mapping.
func withPath(m map[string]any, path []string, value any) (map[string]any, bool) {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) > 1 {
		sub, ok := out[path[0]].(map[string]any)
		if !ok && out[path[0]] != nil {
			return nil, false
		}
		if sub, ok = withPath(sub, path[1:], value); !ok {
			return nil, false
		}
		if value = any(sub); len(sub) == 0 {
			value = nil
		}
	}
	if out[path[0]] = value; value == nil {
		delete(out, path[0])
	}
	return out, true
}

// setPath is SetPath for a text that is decoded again afterwards.
func setPath(data []byte, path []string, value string) ([]byte, error) {
	key := path[0]
	text, crlf, err := linesOf(data)
	if err != nil {
		return nil, err
	}
	from, to := span(text, key)
	if from < 0 || len(path) == 1 {
		return SetKey(data, key, entryAt(path, value))
	}
	if _, inline, _ := strings.Cut(bare(text[from]), ":"); strings.TrimSpace(inline) != "" {
		changed, ok := setFlow(strings.TrimSpace(inline), path[1:], value)
		if !ok {
			return nil, fmt.Errorf("%s: no mapping in a form that can be changed", key)
		}
		if changed == "{}" {
			return SetKey(data, key, nil)
		}
		return SetKey(data, key, []string{Text(key) + ": " + changed})
	}
	indent, flush, inner := inside(text[from+1 : to])
	changed, err := setPath(unlines(inner, false), path[1:], value)
	if err != nil {
		return nil, err
	}
	if keys := Keys(changed); len(keys) == 0 {
		return SetKey(data, key, nil)
	}
	lines, _, err := linesOf(changed)
	if err != nil {
		return nil, err
	}
	for i, l := range lines {
		if l != "" && !slices.Contains(flush, l) {
			lines[i] = indent + l
		}
	}
	return unlines(slices.Concat(text[:from+1], lines, text[to:]), crlf), nil
}

// entryAt is the lines of a value below mappings that are not there yet; an empty value has none.
func entryAt(path []string, value string) (lines []string) {
	if value == "" {
		return nil
	}
	for i, key := range path {
		lines = append(lines, strings.Repeat("  ", i)+Text(key)+":")
	}
	lines[len(lines)-1] += " " + value
	return lines
}

// inside is a block without its indentation, and the comments in it that begin the line.
func inside(block []string) (indent string, flush, inner []string) {
	indent = "  "
	if i := slices.IndexFunc(block, func(l string) bool { return bare(l) != "" }); i >= 0 {
		indent = block[i][:len(block[i])-len(strings.TrimLeft(block[i], " "))]
	}
	for _, l := range block {
		cut, ok := strings.CutPrefix(l, indent)
		if !ok && strings.HasPrefix(l, "#") {
			flush = append(flush, l)
		}
		inner = append(inner, cut)
	}
	return indent, flush, inner
}

// setFlow is setPath for a mapping between braces.
func setFlow(flow string, path []string, value string) (string, bool) {
	if !strings.HasPrefix(flow, "{") || !strings.HasSuffix(flow, "}") {
		return "", false
	}
	parts, ok := splitFlow(flow[1 : len(flow)-1])
	if !ok {
		return "", false
	}
	at := slices.IndexFunc(parts, func(p string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(p), ":")
		return name == path[0] || strings.Trim(name, `"'`) == path[0]
	})
	entry := value
	if len(path) > 1 {
		inner := "{}"
		if at >= 0 {
			_, v, _ := strings.Cut(parts[at], ":")
			inner = strings.TrimSpace(v)
		}
		if entry, ok = setFlow(inner, path[1:], value); !ok {
			return "", false
		}
		if entry == "{}" {
			entry = ""
		}
	}
	switch {
	case entry == "" && at >= 0:
		parts = slices.Delete(parts, at, at+1)
	case at >= 0:
		parts[at] = Text(path[0]) + ": " + entry
	case entry != "":
		parts = append(parts, Text(path[0])+": "+entry)
	}
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return "{" + strings.Join(parts, ", ") + "}", true
}

// splitFlow splits the inside of braces at the commas that are in no quotes and no further braces or brackets.
func splitFlow(s string) (parts []string, ok bool) {
	depth, start := 0, 0
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == '#' || c == '\n':
			return nil, false
		case c == ',' && depth == 0:
			parts, start = append(parts, s[start:i]), i+1
		}
	}
	if strings.TrimSpace(s[start:]) != "" {
		parts = append(parts, s[start:])
	}
	return parts, depth == 0 && quote == 0
}
