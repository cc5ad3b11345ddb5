// Package review is what there is to know about the reviews of a session of the swarm: what a reviewer is asked, what it finds, when a
// review is due, and how what was found becomes features. The driver of the session runs the reviewers.
package review

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// File is the file in its working tree into which a reviewer writes what it has found. It is the only one that it may write. No worker
// knows its name, so that none can commit findings of its own before the reviewer begins.
func File(r *book.Review) string {
	return ".swarm-review-" + strconv.FormatInt(r.Began.UnixMilli(), 36) + ".json"
}

// Type is a type of reviews.
type Type struct {
	Name       string
	Looks      string // what it looks for, in words
	Categories []Category
	Other      string // the category of issues whose own is none of these
}

// Category is what an issue is about.
type Category struct{ Name, Means string }

// Types are all types of reviews, with the categories of requirements, C89.
func Types() []Type {
	return []Type{
		{"code", "what is wrong in the code itself", []Category{
			{"bug", "it does something else than it should"}, {"security", "it can be abused"}, {"style", "it is hard to read, or unlike the rest"},
			{"performance", "it is slower than it need be, where that matters"}, {"test-coverage", "nothing would notice if it broke"},
			{"maintainability", "it will be hard to change"}}, "maintainability"},
		{"architecture", "how the parts fit together", []Category{
			{"coupling", "parts know too much of each other"}, {"abstraction", "one is missing, leaks, or is in the way"},
			{"pattern", "it departs from how this project does such things"}, {"scalability", "it will not bear more"},
			{"consistency", "the features solve one thing in several ways"}, {"complexity", "it is more involved than the task"}}, "consistency"},
	}
}

// Names are the names of the types.
func Names() (out []string) {
	for _, t := range Types() {
		out = append(out, t.Name)
	}
	return out
}

// typeOf is the type of a name; the zero value if there is none.
func typeOf(name string) Type {
	if i := slices.Index(Names(), name); i >= 0 {
		return Types()[i]
	}
	return Type{}
}

// The bounds of findings: more is no review that a person reads.
const (
	MaxFile   = 1 << 20 // bytes
	maxIssues = 500
	maxSays   = 4000 // bytes of one text
	maxPath   = 512  // bytes, as in a plan
)

// Parse reads the findings of a reviewer of a type, which worked in a folder. What is clear although it is not as it should be is mended,
// and notes say so. The error is for the reviewer: it says what to write instead.
func Parse(kind, folder string, b []byte) (f book.Findings, notes []string, err error) {
	p := parser{Type: typeOf(kind), folder: folder}
	if len(b) > MaxFile {
		return f, nil, fmt.Errorf("it has %d bytes, and %d is the limit", len(b), MaxFile)
	}
	if b = p.unwrapped(b); len(b) == 0 {
		return f, nil, errors.New("it is empty")
	}
	if err := rawjson.Decode(b, &f); err != nil {
		return book.Findings{}, nil, fmt.Errorf("it is not the JSON that was asked for: %w", err)
	}
	if err := p.mend(&f); err != nil {
		return book.Findings{}, nil, err
	}
	return f, p.notes, nil
}

type parser struct {
	Type
	folder string
	notes  []string
}

// note notes something once.
func (p *parser) note(format string, args ...any) {
	if n := text.Cell(fmt.Sprintf(format, args...), 200); !slices.Contains(p.notes, n) && len(p.notes) < 20 {
		p.notes = append(p.notes, n)
	}
}

// unwrapped is the object alone: models like to put a fence of Markdown and a sentence around it.
func (p *parser) unwrapped(b []byte) []byte {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	from, to := bytes.IndexByte(b, '{'), bytes.LastIndexByte(b, '}')
	if from < 0 || to < from || from == 0 && to == len(b)-1 || jsontext.Value(b).IsValid() {
		return b
	}
	p.note("there was text around the JSON")
	return b[from : to+1]
}

// mend makes findings what they should be, or says why it cannot.
func (p *parser) mend(f *book.Findings) error {
	f.Summary = p.said("summary", f.Summary)
	f.Severity = book.Severity(word(string(f.Severity)))
	switch {
	case f.Summary == "":
		return errors.New("summary: it is empty; say in two sentences what you found")
	case !slices.Contains(book.Severities(), f.Severity):
		return fmt.Errorf("severity: %q is not one of %s", text.Cell(string(f.Severity), 40), joined(book.Severities()))
	case len(f.Issues) > maxIssues:
		return fmt.Errorf("issues: there are %d, and %d is the limit; keep the worst", len(f.Issues), maxIssues)
	case len(f.Recommendations) > maxIssues:
		return fmt.Errorf("recommendations: there are %d, and %d is the limit", len(f.Recommendations), maxIssues)
	}
	for i := range f.Issues {
		if err := p.issue(&f.Issues[i]); err != nil {
			return fmt.Errorf("issues[%d]: %w", i, err)
		}
	}
	for i, r := range f.Recommendations {
		f.Recommendations[i] = p.said("a recommendation", r)
	}
	f.Recommendations = slices.DeleteFunc(f.Recommendations, func(r string) bool { return r == "" })
	if f.Severity == book.Clean && slices.ContainsFunc(f.Issues, func(i book.Issue) bool { return i.Severity == book.Error }) {
		f.Severity = book.Moderate
		p.note("the severity was clean, with an issue that is an error: taken for moderate")
	}
	return nil
}

func (p *parser) issue(i *book.Issue) error {
	i.Severity, i.Feature = book.Level(word(string(i.Severity))), ""
	if !slices.Contains(book.Levels(), i.Severity) {
		return fmt.Errorf("severity: %q is not one of %s", text.Cell(string(i.Severity), 40), joined(book.Levels()))
	}
	if i.Message = p.said("a message", i.Message); i.Message == "" {
		return errors.New("message: it is empty")
	}
	i.Suggestion = p.said("a suggestion", i.Suggestion)
	was := i.Category
	i.Category = word(i.Category)
	if !slices.ContainsFunc(p.Categories, func(c Category) bool { return c.Name == i.Category }) {
		p.note("the category %q is not one of this review: taken for %s", was, p.Other)
		i.Category = p.Other
	}
	i.File = p.file(i.File)
	if i.Line < 0 || i.File == "" {
		i.Line = 0
	}
	return nil
}

// file is the path of a file from the folder of the project; "" where there is none.
func (p *parser) file(said string) string {
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	at := said
	if filepath.IsAbs(at) && p.folder != "" {
		if rel, err := filepath.Rel(p.folder, at); err == nil {
			at = rel
		}
	}
	at = path.Clean(filepath.ToSlash(at))
	if path.IsAbs(at) || at == "." || at == ".." || strings.HasPrefix(at, "../") || len(at) > maxPath || text.HasHidden(at) {
		p.note("the file %q is not in the project: left out", said)
		return ""
	}
	return at
}

// said is a text within its bound.
func (p *parser) said(what, s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxSays {
		p.note("%s was shortened to %d bytes", what, maxSays)
		s = text.Truncate(s, maxSays)
	}
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}

// word is a word of a list as the list has it.
func word(s string) string {
	return strings.Join(policy.NameWords(strings.ToLower(strings.TrimSpace(s))), "-")
}

func joined[T ~string](all []T) string {
	var out []string
	for _, s := range all {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}
