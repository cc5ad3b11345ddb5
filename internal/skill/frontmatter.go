package skill

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/yamlfile"
)

// page is a SKILL.md taken apart.
type page struct {
	front []byte // the YAML, with empty lines in front so that its lines are those of the file; nil: no front matter
	body  string
}

var errUnclosed = errors.New(`the front matter that begins on line 1 is never closed`)

// parsePage takes a SKILL.md apart. Front matter begins with a line "---" at the very start of the file and ends with the next
// line "---" or "...".
func parsePage(data []byte) (page, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return page{body: trimBody(data)}, nil
	}
	front := []byte("\n")
	for len(rest) > 0 {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		switch string(bytes.TrimRight(line, " \t\r")) {
		case "---", "...":
			return page{front: front, body: trimBody(after)}, nil
		}
		front = append(front, line...)
		front = append(front, '\n')
		if !found {
			break
		}
		rest = after
	}
	return page{}, errUnclosed
}

// lateFront returns the line of a "---" that only empty lines and comments precede; 0: there is none.
func lateFront(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		switch line = bytes.TrimSpace(line); {
		case string(line) == "---" && n > 1:
			return n
		case len(line) > 0 && line[0] != '#':
			return 0
		}
	}
	return 0
}

func trimBody(b []byte) string {
	s := strings.ReplaceAll(string(b), "\r\n", "\n")
	s = strings.TrimRight(strings.TrimLeft(s, "\n"), " \t\n")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return s + "\n"
}

// FrontMatter is the YAML at the start of a SKILL.md, as JSON; an error if there is none or it cannot be read.
func FrontMatter(page []byte) ([]byte, error) {
	p, err := parsePage(page)
	if err != nil {
		return nil, err
	}
	if p.front == nil {
		return nil, errors.New("it has no front matter")
	}
	var m map[string]any
	for _, pr := range yamlfile.Decode(pageFile, p.front, &m) {
		if !pr.Warning {
			return nil, errors.New(pr.Message)
		}
	}
	return json.Marshal(m, json.Deterministic(true))
}
