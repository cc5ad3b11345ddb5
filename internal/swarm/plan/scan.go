package plan

import (
	"strings"
)

// kind is what a block of Markdown is.
type kind uint8

const (
	paragraph kind = iota // a line of text
	heading
	numbered
	bulleted
	fence // a line of a code block
)

// block is one line of a Markdown text, or an item of a list with the lines that continue it.
type block struct {
	kind   kind
	line   int // from 1
	depth  int // of an item or a line: 0 is not nested in an item
	level  int // of a heading: the number of its #
	number string
	check  bool // it has a checkbox
	done   bool // which is ticked
	text   string
	raw    string // as it is written, without what the item around it is indented by
}

// scan divides a text into its lines. It knows what a plan is written with: headings, lists, checkboxes, code blocks and front matter;
// the rest is text.
func scan(s string) []block {
	var out []block
	var open []int // the columns at which the content of the items around begins
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	quote, skip, blank := "", frontMatter(lines), false
	for n, line := range lines {
		if n < skip {
			continue
		}
		indent, body := indentOf(line)
		if quote != "" {
			out = append(out, block{kind: fence, line: n + 1, depth: len(open), text: body, raw: cutIndent(line, open)})
			if strings.HasPrefix(body, quote) && strings.Trim(body, quote[:1]+" ") == "" {
				quote = ""
			}
			continue
		}
		if body == "" {
			blank = true
			continue
		}
		b := parse(body)
		b.line = n + 1
		for len(open) > 0 && indent < open[len(open)-1] && (b.kind != paragraph || blank || indent == 0 && isVerbLed(body)) {
			open = open[:len(open)-1]
		}
		blank = false
		if b.kind == heading {
			open = nil
		}
		b.depth, b.raw = len(open), cutIndent(line, open)
		if mark := body[:min(len(body), 3)]; mark == "```" || mark == "~~~" {
			quote, b.kind = mark, fence
		}
		if b.kind == numbered || b.kind == bulleted {
			open = append(open, indent+2) // two spaces are enough to belong to an item
		}
		out = append(out, b)
	}
	return out
}

// frontMatter is how many lines at the beginning are front matter.
func frontMatter(lines []string) int {
	if strings.TrimSpace(lines[0]) != "---" {
		return 0
	}
	for i, l := range lines[1:] {
		if strings.TrimSpace(l) == "---" {
			return i + 2
		}
	}
	return 0
}

// indentOf is how far a line is indented, a tab counting four, and the rest of it.
func indentOf(line string) (columns int, rest string) {
	rest = strings.TrimLeft(line, " \t　")
	for _, r := range line[:len(line)-len(rest)] {
		switch r {
		case '\t':
			columns += 4
		case '　':
			columns += 2
		default:
			columns++
		}
	}
	return columns, strings.TrimRight(rest, " \t　")
}

// cutIndent removes from a line what the item around it is indented by.
func cutIndent(line string, open []int) string {
	line = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " ")
	for i := 0; len(open) > 0 && i < open[0] && strings.HasPrefix(line, " "); i++ {
		line = line[1:]
	}
	if len(open) > 0 && len(line) > 1 && line[0] == ' ' && line[1] != ' ' { // "1. " is wider than "- "
		line = line[1:]
	}
	return line
}

// parse says what a line is, without its indentation.
func parse(body string) block {
	if text := strings.TrimLeft(body, "#"); len(text) < len(body) && len(body)-len(text) <= 6 && (text == "" || text[0] == ' ') {
		b := block{kind: heading, level: len(body) - len(text), text: strings.TrimRight(strings.TrimSpace(text), "# ")}
		b.checkbox()
		return b
	}
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "・"} {
		if text, ok := strings.CutPrefix(body, mark); ok {
			b := block{kind: bulleted, text: strings.TrimSpace(text)}
			b.checkbox()
			return b
		}
	}
	if number, text, ok := cutNumber(body); ok {
		b := block{kind: numbered, number: number, text: text}
		b.checkbox()
		return b
	}
	return block{kind: paragraph, text: body}
}

// checkbox cuts the checkbox off at the beginning of a text.
func (b *block) checkbox() {
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		if text, ok := strings.CutPrefix(b.text, box); ok && (text == "" || text[0] == ' ') {
			b.check, b.done, b.text = true, box != "[ ]", strings.TrimSpace(text)
		}
	}
}

// cutNumber cuts the number off a line such as "1. Text", "2) Text", "(3) Text" and "４．文".
func cutNumber(body string) (number, rest string, ok bool) {
	s, bracket := strings.CutPrefix(body, "(")
	var digits strings.Builder
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits.WriteRune(r)
			continue
		case r >= '０' && r <= '９':
			digits.WriteRune(r - '０' + '0')
			continue
		}
		if digits.Len() == 0 || digits.Len() > 4 {
			return "", "", false
		}
		for _, mark := range []string{". ", ") ", "．", "、", "）", ".\t", ")\t"} {
			if text, found := strings.CutPrefix(s[i:], mark); found && (!bracket || mark[0] == ')') {
				return digits.String(), strings.TrimSpace(text), true
			}
		}
		return "", "", false
	}
	return "", "", false
}
