// Package scan looks for poison in the definitions of servers: hidden and confusable characters, orders to the model, interference with the
// tools of other servers, secrets, shell payloads, and requests for data that a tool does not need. It scans every text of a schema.
//
// It is pure: no I/O, no clock, no state. A definition has the same findings on every machine, and the time of a scan depends only on its
// length. A scan finds patterns, not intentions: a definition without findings may still be harmful.
package scan

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/credential"
	"mycelium/internal/text"
)

// Version is the version of the rules. It changes when a definition may have other findings than before.
const Version = 3

// Severity says what a finding does: a Hard one keeps the item in quarantine until a person accepts it, a Soft one is shown.
type Severity string

// The severities.
const (
	Soft Severity = "soft"
	Hard Severity = "hard"
)

// The families of findings.
const (
	Hidden      = "hidden"      // invisible characters
	Confusable  = "confusable"  // characters that look like others
	Instruction = "instruction" // orders to the model
	Shadow      = "shadow"      // interference with the tools of other servers
	Secret      = "secret"      // keys and passwords
	Shell       = "shell"       // harmful commands
	Exfil       = "exfil"       // asks for or sends data that the tool does not need
	Schema      = "schema"      // a definition too long or deep for people, or text in the wrong place
)

// Finding is a suspicious part of a definition.
type Finding struct {
	Family   string   `json:"family"`
	Severity Severity `json:"severity"`
	Where    string   `json:"where"`   // path of the member: inputSchema.properties.path.description
	Excerpt  string   `json:"excerpt"` // with invisible characters shown, at most 120 characters
	Why      string   `json:"why"`
}

// Context has the names of the server's items and of other servers' items.
type Context struct {
	Own    []string // the names of all items of the same server
	Others []string // the names of items of other servers, without prefix
}

// maxDepth bounds the nesting of a definition.
const maxDepth = 64

// Rules are the compiled rules. Compiling takes one to two milliseconds, so do it before the first scan and keep them. They are immutable.
type Rules struct {
	classes  map[string]class
	payloads []payload
	inHeader *regexp.Regexp
	query    *regexp.Regexp
	picture  *regexp.Regexp
}

// New compiles the rules.
func New() *Rules {
	r := &Rules{classes: words(), payloads: payloads()}
	r.inHeader = regexp.MustCompile(`(?i)` + credential.NamePattern + `["']?\s*[:=]\s*["']?([A-Za-z0-9+/_-]{20,})`)
	// A URL with a placeholder for the model in its query, and a picture with one in its address.
	r.query = regexp.MustCompile(`https?://[^\s"')]*[?&=/][^\s"')]*?=?(\{[^}]*\}|<[^>]*>|\[\[[^\]]*\]\]|[A-Z]{3,}_[A-Z_]{3,})`)
	r.picture = regexp.MustCompile(`!\[[^\]]*\]\(https?://[^)]*[{<$]`)
	return r
}

// Scanner scans the definitions of one server. It is immutable.
type Scanner struct {
	*Rules
	own, others map[string]bool
}

// Server returns a scanner for the definitions of one server.
func (r *Rules) Server(c Context) *Scanner {
	s := &Scanner{Rules: r, own: map[string]bool{}, others: map[string]bool{}}
	for _, n := range c.Own {
		s.own[strings.ToLower(n)] = true
	}
	for _, n := range c.Others {
		if n = strings.ToLower(n); !s.own[n] {
			s.others[n] = true
		}
	}
	return s
}

// Definition scans a raw definition.
func (s *Scanner) Definition(raw []byte) []Finding {
	w := &walk{Scanner: s, params: map[string]bool{}, values: map[string]bool{}}
	w.collect(raw)
	d := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := w.value(d, "", "", 0); err != nil {
		w.add(Schema, Hard, "", text.Prefix(string(raw), 80), "the definition cannot be read: "+err.Error())
	}
	slices.SortStableFunc(w.found, func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) }) // hard before soft
	return w.found
}

// HasHard reports whether a finding is hard.
func HasHard(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Hard })
}

// walk is the scan of one definition.
type walk struct {
	*Scanner
	params map[string]bool // names that the definition itself declares
	values map[string]bool // values that it declares: those of its enums
	found  []Finding
}

// maxFindings bounds the findings of one definition.
const maxFindings = 20

// maxExcerpt bounds the excerpt of a finding, in characters.
const maxExcerpt = 120

func (w *walk) add(family string, severity Severity, where, excerpt, why string) {
	if len(w.found) >= maxFindings {
		return
	}
	excerpt = text.TruncateRunes(strings.Join(strings.Fields(text.Flatten(credential.Mask(excerpt))), " "), maxExcerpt)
	f := Finding{family, severity, where, excerpt, why}
	if !slices.ContainsFunc(w.found, func(o Finding) bool { return o.Family == family && o.Where == where && o.Why == why }) {
		w.found = append(w.found, f)
	}
}

// collect records the names of members, which are not references to tools, and the values of enums.
func (w *walk) collect(raw []byte) {
	d := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return
		}
		if k, n := d.StackIndex(d.StackDepth()); k == '{' && n%2 == 1 && t.Kind() == '"' {
			w.params[strings.ToLower(t.String())] = true
		} else if k == '[' && t.Kind() == '"' && strings.Contains(string(d.StackPointer()), "/enum/") {
			w.values[strings.ToLower(t.String())] = true
		}
		if d.StackDepth() > maxDepth+1 {
			return
		}
	}
}

// value scans one JSON value. member is the name of the nearest member.
func (w *walk) value(d *jsontext.Decoder, path, member string, depth int) error {
	if depth > maxDepth {
		w.add(Schema, Hard, path, "", "the definition is nested more than "+strconv.Itoa(maxDepth)+" levels deep")
		return d.SkipValue()
	}
	switch d.PeekKind() {
	case '{':
		return w.object(d, path, member, depth)
	case '[':
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for i := 0; d.PeekKind() != ']'; i++ {
			if err := w.value(d, path+"["+strconv.Itoa(i)+"]", member, depth+1); err != nil {
				return err
			}
		}
		_, err := d.ReadToken()
		return err
	case '"':
		t, err := d.ReadToken()
		if err == nil {
			w.text(t.String(), path, member)
		}
		return err
	default:
		_, err := d.ReadToken()
		return err
	}
}

func (w *walk) object(d *jsontext.Decoder, path, member string, depth int) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := t.String()
		at := strings.TrimPrefix(path+"."+key, ".")
		w.key(key, at)
		inner := key
		if member == "properties" || member == "$defs" || member == "definitions" {
			inner = "" // the name of a property does not describe its schema
		}
		if err := w.value(d, at, inner, depth+1); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// Lengths in bytes of texts that people do not read to the end.
const (
	longText = 8 << 10
	longKey  = 80
)

// key scans the name of a member.
func (w *walk) key(key, path string) {
	w.characters(key, path)
	if len(key) > longKey {
		w.add(Schema, Soft, path, key, "a name of "+strconv.Itoa(len(key))+" bytes")
	}
	if strings.ContainsAny(key, "_- ") && len(key) > 16 {
		spaced := strings.NewReplacer("_", " ", "-", " ").Replace(key)
		(&passage{walk: w, where: path, raw: spaced, place: inKey}).prose()
	}
}

// text scans one string.
func (w *walk) text(s, path, member string) {
	w.characters(s, path)
	if len(s) > longText {
		w.add(Schema, Soft, path, text.Prefix(s, 200), "a text of "+strconv.Itoa(len(s))+" bytes")
	}
	t := &passage{walk: w, where: path, raw: s, place: placeOf(path, member), member: member}
	if len(s) >= 3 {
		t.secrets()
		t.commands()
		t.prose()
	}
}

// place is the kind of a string.
type place uint8

const (
	inProse place = iota // a description of the item
	inParam              // a description in a schema
	inData               // default, enum, pattern, _meta … which should not contain prose
	inKey                // the name of a member
)

func placeOf(path, member string) place {
	switch {
	case path == "description" || path == "title" || path == "name":
		return inProse
	case (member == "description" || member == "title") && (strings.HasPrefix(path, "inputSchema.") || strings.HasPrefix(path, "arguments[")):
		return inParam
	}
	return inData
}
