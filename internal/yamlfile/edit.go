package yamlfile

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// AddEntry adds an entry to the mapping that stands under a key of the document's first level. The rest of the file keeps its bytes. lines
// are the entry, without indentation. If the file has a form in which the entry cannot be added, AddEntry returns an error and no text.
func AddEntry(data []byte, parent, key string, lines []string) ([]byte, error) {
	text := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(bytes.TrimSpace(data)) == 0 {
		text = nil
	}
	at := slices.IndexFunc(text, func(l string) bool { return bare(l) == parent+":" || bare(l) == parent+": {}" })
	indent := "  "
	if at < 0 {
		text = append(text, parent+":")
		at = len(text) - 1
	} else {
		text[at] = strings.Replace(text[at], parent+": {}", parent+":", 1)
		for _, l := range text[at+1:] {
			if bare(l) != "" {
				if n := len(l) - len(strings.TrimLeft(l, " ")); n > 0 {
					indent = l[:n]
				}
				break
			}
		}
	}
	var entry []string
	for _, l := range lines {
		entry = append(entry, indent+l)
	}
	out := []byte(strings.Join(slices.Insert(text, at+1, entry...), "\n") + "\n")
	return out, sameBut(data, out, func(after map[string]any) bool {
		m, ok := after[parent].(map[string]any)
		_, has := m[key]
		delete(m, key)
		if len(m) == 0 {
			delete(after, parent)
		}
		return ok && has
	}, parent)
}

// AddedBy is the beginning of the comment above an entry that one of our commands added. [RemoveEntry] removes the comment too.
const AddedBy = "# Added by myc "

// RemoveEntry removes an entry of the mapping that stands under a key of the document's first level. It is the opposite of [AddEntry].
func RemoveEntry(data []byte, parent, key string) ([]byte, error) {
	text := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	top := slices.IndexFunc(text, func(l string) bool { return bare(l) == parent+":" })
	from := -1
	for i := top + 1; top >= 0 && i < len(text); i++ {
		l := strings.TrimLeft(text[i], " ")
		if bare(text[i]) != "" && len(l) == len(text[i]) {
			break // the next key of the first level
		}
		if strings.HasPrefix(l, key+":") || strings.HasPrefix(l, `"`+key+`":`) {
			from = i
			break
		}
	}
	if from < 0 {
		return nil, fmt.Errorf("%s.%s: not found in a form that can be removed", parent, key)
	}
	depth := len(text[from]) - len(strings.TrimLeft(text[from], " "))
	to := from + 1
	for to < len(text) && bare(text[to]) != "" && len(text[to])-len(strings.TrimLeft(text[to], " ")) > depth {
		to++
	}
	if from > 0 && strings.HasPrefix(strings.TrimLeft(text[from-1], " "), AddedBy) {
		from-- // what we wrote about the entry goes with it
	}
	text = slices.Delete(text, from, to)
	if top+1 >= len(text) || bare(text[top+1]) == "" || !strings.HasPrefix(text[top+1], " ") {
		text[top] = strings.Replace(text[top], parent+":", parent+": {}", 1)
	}
	out := []byte(strings.Join(text, "\n") + "\n")
	return out, sameBut(out, data, func(before map[string]any) bool {
		m, ok := before[parent].(map[string]any)
		delete(m, key)
		if len(m) == 0 {
			delete(before, parent)
		}
		return ok
	}, parent)
}

// AddItem adds a word to the list that stands under a key, at whatever depth the file has that key. The rest of the file keeps its bytes.
func AddItem(data []byte, key, item string) ([]byte, error) {
	offset := 0
	for l := range strings.Lines(string(data)) {
		if at := strings.Index(l, key+":"); at >= 0 && !strings.Contains(l[:at], "#") {
			start := offset + at + len(key) + 1
			if out := addTo(data, start, offset+len(l), item); out != nil {
				return out, listGrew(data, out, key, item)
			}
		}
		offset += len(l)
	}
	return nil, fmt.Errorf("%s: no list to which %s can be added", key, item)
}

// addTo adds an item to the list whose key ends at start, and whose line ends at end.
func addTo(data []byte, start, end int, item string) []byte {
	rest := strings.TrimLeft(string(data[start:]), " ")
	if strings.HasPrefix(rest, "[") {
		open := len(data) - len(rest)
		length := strings.IndexByte(rest, ']')
		if length < 0 {
			return nil
		}
		word := ", " + Text(item)
		if strings.TrimSpace(rest[1:length]) == "" {
			word = Text(item)
		}
		return slices.Concat(data[:open+length], []byte(word), data[open+length:])
	}
	next := string(data[end:])
	trimmed := strings.TrimLeft(next, " ")
	if !strings.HasPrefix(trimmed, "- ") {
		return nil
	}
	indent := next[:len(next)-len(trimmed)]
	return slices.Concat(data[:end], []byte(indent+"- "+Text(item)+"\n"), data[end:])
}

// listGrew checks that the only difference is one item more in the list.
func listGrew(before, after []byte, key, item string) error {
	return sameBut(before, after, func(m map[string]any) bool { return dropItem(m, key, item) }, key)
}

// dropItem removes an item from the list under a key, wherever the key is.
func dropItem(m map[string]any, key, item string) bool {
	for k, v := range m {
		switch v := v.(type) {
		case []any:
			if i := slices.Index(v, any(item)); k == key && i >= 0 {
				m[k] = slices.Delete(v, i, i+1)
				return true
			}
		case map[string]any:
			if dropItem(v, key, item) {
				return true
			}
		}
	}
	return false
}

// sameBut checks that a text is the smaller one and what drop takes away.
func sameBut(small, large []byte, drop func(map[string]any) bool, parent string) error {
	var a, b map[string]any
	if p := Decode("before", small, &a); len(p) > 0 {
		return fmt.Errorf("%s: the file does not load as it is: %s", parent, p[0].Message)
	}
	if p := Decode("after", large, &b); len(p) > 0 || !drop(b) {
		return fmt.Errorf("%s: the file cannot be changed in the form that it has; change it by hand", parent)
	}
	if m, ok := a[parent].(map[string]any); a[parent] == nil || ok && len(m) == 0 {
		delete(a, parent)
	}
	if len(a)+len(b) > 0 && !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%s: the file cannot be changed in the form that it has; change it by hand", parent)
	}
	return nil
}

// bare is a line without its comment and the space at its end.
func bare(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	line, _, _ = strings.Cut(line, " #")
	return strings.TrimRight(line, " \r")
}
