package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/scan"
)

// The difference of two definitions, for people: each member on a line of its own, with its path; texts of several lines as several
// lines; what cannot be seen is made visible.

// diffContext is how many unchanged lines stand around a change.
const diffContext = 2

// definitionDiff compares two definitions. was nil: every line is new.
func definitionDiff(was, is []byte) []string {
	var a []string
	if was != nil {
		a = definitionLines(was)
	}
	return lineDiff(a, definitionLines(is))
}

// definitionLines is a definition as lines, its members sorted.
func definitionLines(raw []byte) []string {
	var v any
	keepNumbers := json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, into *any) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		n, err := d.ReadValue()
		*into = number(n)
		return err
	}))
	if err := json.Unmarshal(raw, &v, keepNumbers); err != nil {
		return strings.Split(scan.Visible(string(raw)), "\\u000a")
	}
	return flatten("", v, nil)
}

// number is a JSON number as it is written.
type number string

func flatten(path string, v any, out []string) []string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return append(out, path+": {}")
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = flatten(strings.TrimPrefix(path+"."+scan.Visible(k), "."), v[k], out)
		}
	case []any:
		if len(v) == 0 {
			return append(out, path+": []")
		}
		for i, e := range v {
			out = flatten(fmt.Sprintf("%s[%d]", path, i), e, out)
		}
	case string:
		for line := range strings.SplitSeq(v, "\n") {
			out = append(out, path+": "+scan.Visible(line))
		}
	case nil:
		out = append(out, path+": null")
	default:
		out = append(out, fmt.Sprintf("%s: %v", path, v))
	}
	return out
}

// maxDiff bounds the lines of either side that are compared one by one: the table has the product of both.
const maxDiff = 2000

// lineDiff marks lines that went with "- ", that came with "+ ", and shows some of those that stayed.
func lineDiff(a, b []string) []string {
	if len(a) > maxDiff || len(b) > maxDiff {
		return append(prefixed("- ", a), prefixed("+ ", b)...)
	}
	common := make([][]int, len(a)+1) // length of the longest common subsequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var all []string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			all = append(all, "- "+a[i])
			i++
		default:
			all = append(all, "+ "+b[j])
			j++
		}
	}
	return around(all)
}

func prefixed(mark string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = mark + l
	}
	return out
}

// around leaves out what is far from every change.
func around(all []string) []string {
	near := make([]bool, len(all))
	for i, l := range all {
		if l[0] == ' ' {
			continue
		}
		for k := max(0, i-diffContext); k <= min(len(all)-1, i+diffContext); k++ {
			near[k] = true
		}
	}
	var out []string
	for i, l := range all {
		switch {
		case near[i]:
			out = append(out, l)
		case i == 0 || near[i-1]:
			out = append(out, "  …")
		}
	}
	return out
}
