package policy

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern is a compiled name pattern: an exact server__name, or one with "*" for any text, anchored at both ends.
// The zero Pattern matches nothing.
type Pattern struct {
	text  string
	parts []string // what stands between the stars; one part: no star
	item  Item     // of an exact pattern
}

// ParsePattern compiles a pattern.
func ParsePattern(s string) (Pattern, error) {
	if s == "" {
		return Pattern{}, errors.New("pattern: empty; write server__tool, server__* or *")
	}
	parts := strings.Split(s, "*")
	if len(parts) == 1 {
		it, err := ParseTool(s)
		if err != nil {
			return Pattern{}, err
		}
		return Pattern{text: s, parts: parts, item: it}, nil
	}
	for i := range len(s) {
		if s[i] != '*' && !nameByte(s[i]) {
			return Pattern{}, fmt.Errorf("pattern %q: %q is not allowed; a pattern has the characters of a tool name, and \"*\" for any text", s, s[i:min(i+4, len(s))])
		}
	}
	return Pattern{text: s, parts: parts}, nil
}

// parseText compiles a pattern of what refuses, which may also be over the URIs of resources: server__uri.
func parseText(s string) (Pattern, error) {
	p, err := ParsePattern(s)
	if err == nil {
		return p, nil
	}
	server, name, found := strings.Cut(s, separator)
	odd := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || unicode.Is(unicode.Cf, r) || r == utf8.RuneError })
	if !found || name == "" || odd >= 0 || !strings.Contains(name, ":") || !validServer(server) && !strings.Contains(server, "*") {
		return Pattern{}, err
	}
	return Pattern{text: s, parts: strings.Split(s, "*"), item: Item{Server: server, Name: name}}, nil
}

// String is the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Match reports whether the pattern matches the text form of the item.
func (p Pattern) Match(it Item) bool {
	switch len(p.parts) {
	case 0:
		return false
	case 1:
		return it.Server == p.item.Server && it.Name == p.item.Name
	}
	return matchStars(p.parts, it.String())
}

// matchStars matches a text that was split at its stars, anchored at both ends.
func matchStars(parts []string, s string) bool {
	last := len(parts) - 1
	if last == 0 {
		return s == parts[0]
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, mid := range parts[1:last] {
		i := strings.Index(s, mid)
		if i < 0 {
			return false
		}
		s = s[i+len(mid):]
	}
	return strings.HasSuffix(s, parts[last])
}

// Exact returns the one tool that the pattern can match, if it has no "*".
func (p Pattern) Exact() (Item, bool) {
	if len(p.parts) != 1 {
		return Item{}, false
	}
	return p.item, true
}

// Server is the one server whose items the pattern can match, or empty.
func (p Pattern) Server() string {
	if len(p.parts) == 1 {
		return p.item.Server
	}
	if server, _, found := strings.Cut(p.parts[0], separator); found && len(p.parts) > 0 {
		return server
	}
	return ""
}
