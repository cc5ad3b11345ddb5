package skill

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/yamlfile"
)

// page is the front matter and the body of a SKILL.md.
type page struct {
	front []byte // YAML, after empty lines so that its lines are the lines of the file; nil: no front matter
	body  string
}

var errUnclosed = errors.New(`the front matter that begins on line 1 is never closed`)

// parsePage splits a SKILL.md. Front matter begins with a line "---" at the start of the file and ends with the next line "---" or "...".
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

// lateFront returns the line of a "---" after only empty lines and comments, or 0.
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

// FrontMatter returns the front matter of a SKILL.md as JSON. It is an error if there is none or it cannot be parsed.
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
