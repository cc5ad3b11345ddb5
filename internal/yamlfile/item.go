package yamlfile

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// EditItem changes the nth mapping of the list that stands under a key of the document's first level. edit gets the mapping as a document
// of its own, and returns what it shall be; nil takes it out of the list. The rest of the file keeps its bytes. If the file has a form in
// which this cannot be done, EditItem returns an error and no text.
func EditItem(data []byte, key string, n int, edit func(item []byte) ([]byte, error)) ([]byte, error) {
	text, crlf, err := linesOf(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	byHand := fmt.Errorf("%s: the file cannot be changed in the form that it has; change it by hand", key)
	i := itemAt(text, key, n)
	if i == nil {
		return nil, byHand
	}
	was, ok := i.document(text)
	if !ok {
		return nil, byHand
	}
	item := unlines(was, crlf)
	is, err := edit(item)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(is, item) {
		return data, nil
	}
	lines, _, err := linesOf(is)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if is != nil && len(lines) == 0 {
		return nil, byHand
	}
	out := unlines(slices.Concat(text[:i.from], i.indented(lines), text[i.to:]), crlf)
	if is == nil && i.alone {
		head := slices.Clone(text[:i.from])
		head[i.head] = strings.Replace(head[i.head], key+":", key+": []", 1)
		out = unlines(slices.Concat(head, text[i.to:]), crlf)
	}
	if !onlyItem(data, out, key, n, is) {
		return nil, byHand
	}
	return out, nil
}

// item is where an item of a list stands.
type item struct {
	head     int // the line of the list's key
	from, to int // its lines
	dash     int // the column of its dash
	column   int // of its keys
	alone    bool
}

// itemAt finds the nth item of a list with one item a block; nil if the list has no such form.
func itemAt(text []string, key string, n int) *item {
	head, end := span(text, key)
	if head < 0 || bare(text[head]) != key+":" {
		return nil
	}
	found := item{head: head, from: -1, dash: -1}
	count := 0
	for l := head + 1; l < end; l++ {
		rest := strings.TrimLeft(text[l], " ")
		at := len(text[l]) - len(rest)
		if !strings.HasPrefix(rest, "- ") || found.dash >= 0 && at != found.dash {
			continue
		}
		found.dash = at
		switch count {
		case n:
			found.from, found.column = l, len(text[l])-len(strings.TrimLeft(rest[1:], " "))
		case n + 1:
			found.to = l
		}
		count++
	}
	if found.from < 0 {
		return nil
	}
	if found.to == 0 {
		found.to = end
	}
	for found.to > found.from+1 && bare(text[found.to-1]) == "" { // what stands above the next item belongs to that
		found.to--
	}
	found.alone = count == 1
	return &found
}

// document returns the item as a document; false if one of its lines stands farther left than its keys.
func (i *item) document(text []string) ([]string, bool) {
	out := slices.Clone(text[i.from:i.to])
	out[0] = out[0][i.column:]
	for n, l := range out[1:] {
		switch rest := strings.TrimLeft(l, " "); {
		case rest == "":
			out[n+1] = ""
		case len(l)-len(rest) < i.column:
			return nil, false
		default:
			out[n+1] = l[i.column:]
		}
	}
	return out, true
}

// indented returns the lines of a document as an item.
func (i *item) indented(lines []string) (out []string) {
	for n, l := range lines {
		switch {
		case n == 0:
			l = strings.Repeat(" ", i.dash) + "-" + strings.Repeat(" ", i.column-i.dash-1) + l
		case l != "":
			l = strings.Repeat(" ", i.column) + l
		}
		out = append(out, l)
	}
	return out
}

// onlyItem reports whether two texts differ in one item of a list alone, and that item is what a document says; nil: it is gone.
func onlyItem(before, after []byte, key string, n int, doc []byte) bool {
	var a, b, want map[string]any
	if len(Decode("before", before, &a))+len(Decode("after", after, &b))+len(Decode("item", doc, &want)) > 0 {
		return false
	}
	was, isList := a[key].([]any)
	is, alsoList := b[key].([]any)
	if !isList || !alsoList || n >= len(was) {
		return false
	}
	wanted := slices.Clone(was)
	if doc == nil {
		wanted = slices.Delete(wanted, n, n+1)
	} else {
		wanted[n] = want
	}
	delete(a, key)
	delete(b, key)
	return reflect.DeepEqual(a, b) && len(wanted) == len(is) && (len(is) == 0 || reflect.DeepEqual(wanted, is))
}
