// Package memory keeps what agents remember between sessions: one Markdown file a role, which a person can read and edit, a search over
// it, and the built-in server mycelium-memory.
//
// The Markdown is the only truth. The index in the database is derived from it, and is made anew where a file has changed. What a role may
// read follows from the memory policy of its skills (policy.RoleView). The role itself comes with the scope of a call, never as an
// argument.
package memory

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mycelium/internal/text"
)

// The bounds of one entry and of one file.
const (
	MaxContent = 32 << 10 // bytes of the text of an entry that is saved
	MaxTags    = 32       // tags of an entry
	MaxTag     = 64       // bytes of a tag
	MaxSource  = 1 << 10  // bytes of a source
	MaxFile    = 16 << 20 // bytes of the file of a role
)

// Context is the type of an entry that says none.
const Context = "context"

// Types are the types of entries, in the order in which they are listed (requirements, A25). It is a new list each time.
func Types() []string { return []string{"fact", "preference", Context, "episode", "learned"} }

// titleOf is the heading of the section of a type.
func titleOf(kind string) string {
	switch kind {
	case "fact":
		return "Facts"
	case "preference":
		return "Preferences"
	case "episode":
		return "Episodes"
	case "learned":
		return "Learned"
	}
	return "Context"
}

// typeOf is the type of the entries below a heading, and whether it is the heading of a type.
func typeOf(title string) (string, bool) {
	for _, kind := range Types() {
		if strings.EqualFold(title, titleOf(kind)) || strings.EqualFold(title, kind) {
			return kind, true
		}
	}
	return Context, false
}

// Entry is one thing that a role remembers.
type Entry struct {
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	Type    string    `json:"type"`
	Content string    `json:"content"`
	Tags    []string  `json:"tags,omitempty"`
	Source  string    `json:"source,omitzero"`    // where it comes from, in the words of whoever saved it
	Created time.Time `json:"createdAt,omitzero"` // zero: a person wrote it and said no time
	Line    int       `json:"-"`                  // of its heading in the file, from 1
}

// newID makes the id of an entry.
func newID() string { return "mem_" + strings.ToLower(rand.Text()[:12]) }

// Clean returns the text of an entry in the form in which it is kept: valid UTF-8, lines that end with a line feed, and no space around
// it.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Trim(s, " \t\n")
}

// CleanTags returns tags without repetitions, in lower case and sorted.
func CleanTags(tags []string) []string {
	var out []string
	for _, t := range tags {
		if t = strings.ToLower(strings.Join(strings.Fields(strings.ToValidUTF8(t, "\uFFFD")), " ")); t != "" {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// New makes an entry of what somebody wants to keep. The error says what cannot be kept.
func New(content, kind string, tags []string, source string, now time.Time) (Entry, error) {
	e := Entry{ID: newID(), Type: kind, Content: Clean(content), Tags: CleanTags(tags), Source: Clean(source),
		Created: now.UTC().Truncate(time.Millisecond)}
	if e.Type == "" {
		e.Type = Context
	}
	switch {
	case e.Content == "":
		return e, fmt.Errorf("there is no text to remember")
	case len(e.Content) > MaxContent:
		return e, fmt.Errorf("the text has %d bytes, and a memory has at most %d: save its parts, or the path of a file",
			len(e.Content), MaxContent)
	case !slices.Contains(Types(), e.Type):
		return e, fmt.Errorf("type %q: not one of %s", text.Prefix(kind, 40), strings.Join(Types(), ", "))
	case len(e.Tags) > MaxTags:
		return e, fmt.Errorf("there are %d tags, and a memory has at most %d", len(e.Tags), MaxTags)
	case len(e.Source) > MaxSource:
		return e, fmt.Errorf("the source has %d bytes, and it has at most %d", len(e.Source), MaxSource)
	}
	for _, t := range e.Tags {
		if len(t) > MaxTag {
			return e, fmt.Errorf("the tag %q has more than %d bytes", text.Prefix(t, 40), MaxTag)
		}
	}
	return e, nil
}

// Problem is a part of a file that is no entry. The part stays in the file as it is.
type Problem struct {
	Role    string `json:"role"`
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Message string `json:"message"`
}

// validID reports whether an id may stand in a heading.
func validID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// graphic reports whether a text can stand in a line as it is.
func graphic(s string) bool {
	return utf8.ValidString(s) && !text.HasHidden(s) && strings.TrimSpace(s) == s
}
