package material

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// Context is what a person or an orchestrating agent gives a feature to be read (row C33 of the requirements).
type Context struct {
	Documentation []Document `json:"documentation,omitempty"`
	Prepared      []Prepared `json:"prepared,omitempty"`
}

// The types of documents.
const (
	Whole   = "file"
	URL     = "url"     // it is named, and not fetched
	Snippet = "snippet" // the section of a file
)

// Document is a document that matters for a feature.
type Document struct {
	Type      string `json:"type"`
	Path      string `json:"path"` // in the project, or the address
	Title     string `json:"title,omitempty"`
	Relevance string `json:"relevance,omitempty"`
	Section   string `json:"section,omitempty"` // heading in Markdown
}

// Priority says what goes first when there is not room for all.
type Priority string

// The priorities.
const (
	Required    Priority = "required"
	Recommended Priority = "recommended"
	Optional    Priority = "optional"
)

// Prepared is a text for a feature.
type Prepared struct {
	Key      string   `json:"key"`
	Content  string   `json:"content"`
	Source   string   `json:"source,omitempty"`
	Priority Priority `json:"priority"`
	Tokens   int      `json:"tokenEstimate,omitzero"` // for people; the bounds are in characters
}

// The bounds of a context.
const (
	maxEntries = 50
	maxContent = 20000 // characters
	maxShort   = 500   // characters of a title and the like
)

// Parse reads a context as JSON. protocolBindings are refused, because nothing would follow them.
func Parse(data []byte) (Context, error) {
	var c struct {
		Context
		Bindings jsontext.Value `json:"protocolBindings"`
	}
	if err := json.Unmarshal(data, &c, json.RejectUnknownMembers(true)); err != nil {
		return Context{}, fmt.Errorf("it is no context: %s", text.Truncate(text.Flatten(err.Error()), 500))
	}
	if len(c.Bindings) > 0 {
		return Context{}, text.Hinted(fmt.Errorf("it has protocolBindings: %s", plan.NoProtocols), "remove them")
	}
	return c.Context, c.Check()
}

// From is the context with who gave it, where it does not say itself.
func (c Context) From(by string) Context {
	out := Context{slices.Clone(c.Documentation), slices.Clone(c.Prepared)}
	for i := range out.Documentation {
		d := &out.Documentation[i]
		d.Relevance = cmp.Or(d.Relevance, by+" named it for this feature")
	}
	for i := range out.Prepared {
		p := &out.Prepared[i]
		p.Source = cmp.Or(p.Source, by)
	}
	return out
}

// Empty reports whether nothing is given.
func (c Context) Empty() bool { return len(c.Documentation) == 0 && len(c.Prepared) == 0 }

// With returns the context with what is new: a document of the same path and section, and a text of the same key, takes the place of the
// one before.
func (c Context) With(more Context) Context {
	out := Context{slices.Clone(c.Documentation), slices.Clone(c.Prepared)}
	for _, d := range more.Documentation {
		if i := slices.IndexFunc(out.Documentation, func(o Document) bool { return o.Path == d.Path && o.Section == d.Section }); i >= 0 {
			out.Documentation[i] = d
			continue
		}
		out.Documentation = append(out.Documentation, d)
	}
	for _, p := range more.Prepared {
		if i := slices.IndexFunc(out.Prepared, func(o Prepared) bool { return o.Key == p.Key }); i >= 0 {
			out.Prepared[i] = p
			continue
		}
		out.Prepared = append(out.Prepared, p)
	}
	return out
}

// Check refuses what cannot be given, with the reason.
func (c Context) Check() error {
	if n := len(c.Documentation) + len(c.Prepared); n > maxEntries {
		return fmt.Errorf("the context has %d entries, and %d is the limit", n, maxEntries)
	}
	for i, d := range c.Documentation {
		what := fmt.Sprintf("documentation %d", i+1)
		switch d.Type {
		case Whole, Snippet:
			if !plan.IsFile(d.Path) {
				return text.Hinted(fmt.Errorf("%s: %q is not a path in the project", what, text.TruncateRunes(d.Path, 64)),
					"write it relative to the project")
			}
			if d.Type == Snippet && d.Section == "" {
				return text.Hinted(fmt.Errorf("%s: a snippet needs a section", what), "name its heading, or use the type file")
			}
		case URL:
			if u, err := url.Parse(d.Path); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
				return fmt.Errorf("%s: %q is not an address of the web", what, text.TruncateRunes(d.Path, 64))
			}
		default:
			return fmt.Errorf("%s: the type %q is not one of file, url, snippet", what, text.TruncateRunes(d.Type, 64))
		}
		if err := short(what, d.Path, d.Title, d.Relevance, d.Section); err != nil {
			return err
		}
	}
	for i, p := range c.Prepared {
		what := fmt.Sprintf("prepared %d", i+1)
		switch n := utf8.RuneCountInString(p.Content); {
		case strings.TrimSpace(p.Key) == "" || strings.TrimSpace(p.Content) == "":
			return fmt.Errorf("%s: it needs a key and a content", what)
		case n > maxContent:
			return fmt.Errorf("%s: its content has %d characters, and %d is the limit", what, n, maxContent)
		case p.Priority != Required && p.Priority != Recommended && p.Priority != Optional:
			return fmt.Errorf("%s: the priority %q is not one of required, recommended, optional", what, text.TruncateRunes(string(p.Priority), 64))
		case p.Tokens < 0:
			return fmt.Errorf("%s: its tokenEstimate is negative", what)
		}
		if err := short(what, p.Key, p.Source); err != nil {
			return err
		}
	}
	return nil
}

// short refuses titles and the like that are too long or no text.
func short(what string, values ...string) error {
	for _, v := range values {
		if utf8.RuneCountInString(v) > maxShort || !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			return fmt.Errorf("%s: %q… is too long, or not text", what, text.TruncateRunes(cmp.Or(v, "?"), 32))
		}
	}
	return nil
}
