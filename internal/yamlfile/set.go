package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// SetText writes key: text, at the document's first level. See [SetKey].
func SetText(data []byte, key, s string) ([]byte, error) {
	return SetKey(data, key, Entry(key, s))
}

// SetList writes a list of words under a key of the document's first level. A list that has one word a line keeps the lines of the words
// that stay, with their comments. See [SetKey].
func SetList(data []byte, key string, items []string) ([]byte, error) {
	lines := EntryOf(key, items)
	if out, ok := setItems(data, key, items); ok && onlyKey(data, out, key, lines) == nil {
		return out, nil
	}
	return SetKey(data, key, lines)
}

// Entry returns the lines of an entry that is a text. A text of several lines is a block where that keeps it as it is.
func Entry(key, s string) []string {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") {
		return []string{key + ": " + Text(s)}
	}
	lines := []string{key + ": " + map[bool]string{true: "|", false: "|-"}[body != s]}
	for l := range strings.SplitSeq(body, "\n") {
		if l != "" {
			l = "  " + l
		}
		lines = append(lines, l)
	}
	var got map[string]string
	if p := Decode(key, []byte(strings.Join(lines, "\n")+"\n"), &got); len(p) > 0 || got[key] != s {
		return []string{key + ": " + Text(s)}
	}
	return lines
}

// EntryOf returns the lines of an entry that is a list of words.
func EntryOf(key string, items []string) []string {
	words := make([]string, len(items))
	for i, it := range items {
		words[i] = Text(it)
	}
	return []string{key + ": [" + strings.Join(words, ", ") + "]"}
}

// SetKey puts lines in the place of a key of the document's first level, or at the end if the document does not have it; without lines the
// key is taken away. The other keys keep their bytes. Comments within the former value stay: the one behind the key where it is, others
// above the key. If the file has a form in which this cannot be done, SetKey returns an error and no text.
func SetKey(data []byte, key string, lines []string) ([]byte, error) {
	text, crlf, err := linesOf(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	from, to := span(text, key)
	if from < 0 {
		from, to = len(text), len(text)
	}
	lines = slices.Clone(lines)
	above, behind := comments(text[from:to])
	if behind != "" {
		if len(lines) == 0 {
			above = append(above, behind)
		} else {
			lines[0] += " " + behind
		}
	}
	out := unlines(slices.Concat(text[:from], above, lines, text[to:]), crlf)
	return out, onlyKey(data, out, key, lines)
}

// linesOf splits a text into lines without their ends, and reports whether the ends are those of Windows.
func linesOf(data []byte) (lines []string, crlf bool, err error) {
	s := string(data)
	crlf = strings.Contains(s, "\r\n")
	if crlf {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if strings.Contains(s, "\r") || crlf && strings.Count(s, "\n") != bytes.Count(data, []byte("\r\n")) {
		return nil, false, errors.New("the ends of the file's lines differ; change it by hand")
	}
	if strings.TrimSpace(s) == "" {
		return nil, crlf, nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n"), crlf, nil
}

// unlines is the inverse of linesOf.
func unlines(lines []string, crlf bool) []byte {
	end := "\n"
	if crlf {
		end = "\r\n"
	}
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l + end)
	}
	return b.Bytes()
}

// span returns the lines of a key of the first level with its value; -1 if the key is not there at the beginning of a line. Empty lines and
// comments between the value and the next key belong to that.
func span(text []string, key string) (from, to int) {
	from = slices.IndexFunc(text, func(l string) bool {
		return strings.HasPrefix(l, key+":") || strings.HasPrefix(l, `"`+key+`":`) || strings.HasPrefix(l, "'"+key+"':")
	})
	if from < 0 {
		return -1, -1
	}
	to = from + 1
	for i := to; i < len(text); i++ {
		l := text[i]
		switch {
		case strings.TrimSpace(l) == "" || l[0] == '#':
			continue
		case l[0] == ' ' || l[0] == ']' || l[0] == '}' || l == "-" || strings.HasPrefix(l, "- "):
			to = i + 1
			continue
		}
		break
	}
	return from, to
}

// comments returns the comments within an entry: those that may stand above it, and the one behind its first line. What begins with # and
// belongs to a text is none: without it, the entry says something else.
func comments(entry []string) (above []string, behind string) {
	for i, l := range entry {
		for at := range len(l) {
			if l[at] != '#' || at > 0 && l[at-1] != ' ' || !same(entry, i, strings.TrimRight(l[:at], " ")) {
				continue
			}
			if i == 0 {
				behind = l[at:]
			} else {
				above = append(above, l[at:])
			}
			break
		}
	}
	return above, behind
}

// same reports whether an entry says the same with another line in the place of one.
func same(entry []string, i int, line string) bool {
	var a, b map[string]any
	other := slices.Clone(entry)
	other[i] = line
	return len(Decode("entry", unlines(entry, false), &a))+len(Decode("entry", unlines(other, false), &b)) == 0 && reflect.DeepEqual(a, b)
}

// setItems changes the lines of a list with one word a line. It reports whether the list has that form and the words that stay keep their
// order.
func setItems(data []byte, key string, items []string) ([]byte, bool) {
	text, crlf, err := linesOf(data)
	from, to := span(text, key)
	if err != nil || from < 0 || bare(text[from]) != key+":" || len(items) == 0 {
		return nil, false
	}
	var kept []string // lines
	var have []string // their words
	last, indent := -1, "  "
	for _, l := range text[from+1 : to] {
		if bare(l) == "" {
			kept = append(kept, l)
			continue
		}
		var word []string
		if p := Decode("item", []byte(strings.TrimLeft(l, " ")), &word); len(p) > 0 || len(word) != 1 {
			return nil, false
		}
		indent = l[:len(l)-len(strings.TrimLeft(l, " "))]
		if slices.Contains(items, word[0]) && !slices.Contains(have, word[0]) {
			kept, have, last = append(kept, l), append(have, word[0]), len(kept)
		}
	}
	if len(have) > len(items) || !slices.Equal(have, items[:len(have)]) {
		return nil, false
	}
	var more []string
	for _, it := range items[len(have):] {
		more = append(more, indent+"- "+Text(it))
	}
	kept = slices.Insert(kept, last+1, more...)
	return unlines(slices.Concat(text[:from+1], kept, text[to:]), crlf), true
}

// onlyKey checks that two texts differ in one key alone, and that this key says what the lines say.
func onlyKey(before, after []byte, key string, lines []string) error {
	var a, b, want map[string]any
	if p := Decode("before", before, &a); len(p) > 0 {
		return fmt.Errorf("%s: the file does not load as it is: %s", key, p[0].Message)
	}
	p := Decode("after", after, &b)
	p = append(p, Decode("entry", unlines(lines, false), &want)...)
	if value, has := b[key]; len(p) > 0 || has != (len(lines) > 0) || !reflect.DeepEqual(value, want[key]) {
		return fmt.Errorf("%s: the file cannot be changed in the form that it has; change it by hand", key)
	}
	delete(a, key)
	delete(b, key)
	if len(a)+len(b) > 0 && !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%s: the file cannot be changed in the form that it has; change it by hand", key)
	}
	return nil
}
