package policy

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"mycelium/internal/policy/globs"
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
			return Pattern{}, fmt.Errorf("pattern %q: %q is not allowed; a pattern has the characters of a tool name, and \"*\" for any text", s,
				s[i:min(i+4, len(s))])
		}
	}
	return Pattern{text: s, parts: parts}, nil
}

// parseText compiles a pattern of a rule or a deny list. It may also be about the URIs of resources: server__uri.
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

// matchStars reports whether a pattern that was split at its stars matches a text from end to end.
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

// Server is the only server whose items the pattern can match, or empty.
func (p Pattern) Server() string {
	if len(p.parts) == 1 {
		return p.item.Server
	}
	if server, _, found := strings.Cut(p.parts[0], separator); found && len(p.parts) > 0 {
		return server
	}
	return ""
}

// matcher is a compiled [Value]: exactly one of the three kinds.
type matcher struct {
	literal string
	glob    *glob
	regex   *regexp.Regexp
}

func (m *matcher) match(s string) bool {
	switch {
	case m.glob != nil:
		return m.glob.match(s)
	case m.regex != nil:
		return m.regex.MatchString(s)
	}
	return s == m.literal
}

// compileValue compiles a pattern. search leaves a regular expression unanchored, as the older pattern form has it in rules that refuse.
func compileValue(v Value, search bool) (matcher, error) {
	switch {
	case v.Glob != nil && v.Literal == nil && v.Regex == nil:
		g, err := compileGlob(*v.Glob)
		return matcher{glob: g}, err
	case v.Regex != nil && v.Literal == nil && v.Glob == nil:
		re, err := compileRegex(*v.Regex, search)
		return matcher{regex: re}, err
	case v.Literal != nil && v.Glob == nil && v.Regex == nil:
		return matcher{literal: *v.Literal}, nil
	}
	return matcher{}, errors.New("a pattern is exactly one of literal, glob and regex")
}

// compileRegex compiles a regular expression that matches the whole value, newlines included.
func compileRegex(s string, search bool) (*regexp.Regexp, error) {
	re, err := regexp.Compile(s) // first as it stands, so that "a)(b" is an error
	if err == nil && !search {
		re, err = regexp.Compile(`\A(?:` + s + `)\z`)
	}
	if err != nil {
		return nil, fmt.Errorf("regex %q: %w", s, err)
	}
	return re, nil
}

// glob is a doublestar pattern. prefix, suffix and within are text that every match has; they reject most values cheaply. top is the
// pattern without "/**" at its end, if that comes after a star: "a*/**" matches "a" itself, which doublestar misses where the star has
// no character left to match.
type glob struct{ pattern, prefix, suffix, within, top string }

func compileGlob(s string) (*glob, error) {
	if !doublestar.ValidatePattern(s) {
		return nil, fmt.Errorf("glob %q: %w", s, doublestar.ErrBadPattern)
	}
	g := &glob{pattern: s}
	if top := s; strings.HasSuffix(s, "/**") {
		for strings.HasSuffix(top, "/**") {
			top = strings.TrimSuffix(top, "/**")
		}
		if strings.HasSuffix(top, "*") || strings.HasSuffix(top, "}") {
			g.top = top
		}
	}
	if strings.ContainsAny(s, `\{}`) {
		return g, nil // the ends are perhaps not literal
	}
	first := strings.IndexAny(s, "*?[")
	if first < 0 {
		g.prefix = s
		return g, nil
	}
	// "a/**" matches "a", and "**/b" matches "b": a match need not have a slash that stands beside two stars.
	g.prefix = s[:first]
	if strings.HasPrefix(s[first:], "**") {
		g.prefix = strings.TrimSuffix(g.prefix, "/")
	}
	last := strings.LastIndexAny(s, "*?]")
	g.suffix = s[last+1:]
	if strings.HasSuffix(s[:last+1], "**") {
		g.suffix = strings.TrimPrefix(g.suffix, "/")
	}
	if !strings.Contains(s, "[") {
		for mid := range strings.FieldsFuncSeq(s[first:last+1], func(r rune) bool { return r == '*' || r == '?' || r == '/' }) {
			if len(mid) > len(g.within) {
				g.within = mid
			}
		}
	}
	return g, nil
}

func (g *glob) match(s string) bool {
	return strings.HasPrefix(s, g.prefix) && strings.HasSuffix(s, g.suffix) && strings.Contains(s, g.within) &&
		(doublestar.MatchUnvalidated(g.pattern, s) || g.top != "" && doublestar.MatchUnvalidated(g.top, s))
}

// pathMatcher is a compiled pattern over paths. A path has several forms: as written, cleaned, resolved. A pattern that begins with "**" is
// compared with each form as it stands; other patterns are made absolute.
type pathMatcher struct {
	matcher
	written  matcher // a relative pattern as it was written, for the form as written
	rel      bool
	project  bool // a relative pattern that begins at the project folder
	dotted   bool // it says so with "./": the form as written counts only where no other is known
	anywhere bool // the pattern begins with "**/": it matches a path if it matches the path's end
	never    bool // the pattern depends on a folder that is not known, so it never allows
}

// places are the folders from which relative patterns start.
type places struct {
	dir, home  string
	foldedHome string   // home, as base constraints compare paths
	trees      []string // other folders of the project: see [Facts.Worktrees]
}

// with returns the places of a call.
func (pl places) with(f *Facts) places {
	pl.trees = f.Worktrees
	return pl
}

func (pl places) compile(v Value, search bool) (pathMatcher, error) {
	m, err := compileValue(v, search)
	if err != nil || m.regex != nil {
		return pathMatcher{matcher: m}, err
	}
	text, isGlob := m.literal, m.glob != nil
	if isGlob {
		text = m.glob.pattern
	}
	rest, home := strings.CutPrefix(text, "~/")
	switch {
	case strings.HasPrefix(text, "/") || isGlob && strings.HasPrefix(text, "**"):
		return pathMatcher{matcher: m, anywhere: isGlob && strings.HasPrefix(text, "**/")}, nil
	case home:
		return pl.rooted(pl.home, rest, isGlob, m)
	case isGlob && strings.HasPrefix(text, "{") && mixedBrace.MatchString(text):
		return pathMatcher{}, fmt.Errorf("glob %q: a brace that mixes starting points; write one pattern each", text)
	}
	pm, err := pl.rooted(pl.dir, text, isGlob, m)
	pm.project, pm.dotted = true, strings.HasPrefix(text, "./")
	return pm, err
}

// mixedBrace matches an alternative that does not start from the project folder.
var mixedBrace = regexp.MustCompile(`[{,](/|\*\*|~/)`)

// rooted makes a pattern absolute. If the folder is not known, a rule that refuses matches anywhere and a rule that allows matches nothing.
func (pl places) rooted(root, rest string, isGlob bool, written matcher) (pathMatcher, error) {
	pm := pathMatcher{written: written, rel: true, never: root == ""}
	var err error
	switch {
	case root == "":
		pm.glob, err = compileGlob("**/" + strings.TrimPrefix(rest, "./"))
		if !isGlob {
			pm.glob, err = compileGlob("**/" + globs.Quote(rest))
		}
	case isGlob:
		pm.glob, err = compileGlob(path.Join(globs.Quote(root), rest))
	default:
		pm.literal = path.Join(root, rest)
	}
	return pm, err
}

// matchForm matches an absolute form of a path. In another folder of the project, a pattern that begins at the project is compared with
// the path that the form stands for. A regular expression may also match the form relative to the project. tops says whether such a folder
// itself may match, and not only what is below it.
func (m *pathMatcher) matchForm(pl *places, form string, tops bool) bool {
	if m.match(form) {
		return true
	}
	if m.regex != nil && m.matchBelow(pl.dir, form) {
		return true
	}
	for _, tree := range pl.trees {
		rest, below := strings.CutPrefix(form, tree)
		switch {
		case !below || rest == "" && !tops || rest != "" && rest[0] != '/':
		case m.regex != nil && m.matchBelow(tree, form), m.project && pl.dir != "" && m.match(pl.dir+rest):
			return true
		}
	}
	return false
}

// matchBelow matches a path relative to a folder.
func (m *pathMatcher) matchBelow(dir, form string) bool {
	return dir != "" && len(form) > len(dir)+1 && form[len(dir)] == '/' && form[:len(dir)] == dir && m.match(form[len(dir)+1:])
}

// anyForm reports whether the pattern matches any form of the path. A rule that refuses asks this.
func (m *pathMatcher) anyForm(pl *places, f *Facts, p *Path) bool {
	if p.Pattern && m.meets(pl, f, p) {
		return true
	}
	clean := p.Clean
	if clean == "" {
		clean = cleanPath(f.Dir, p.Raw)
	}
	if (!m.anywhere || !endsIn(p.Clean, p.Raw)) && m.match(p.Raw) || m.rel && (clean == "" || !m.dotted) && m.written.match(p.Raw) {
		return true
	}
	if rest, ok := strings.CutPrefix(p.Raw, "~/"); ok && pl.home != "" && m.matchForm(pl, path.Join(pl.home, rest), true) {
		return true
	}
	if clean != "" && m.matchForm(pl, clean, true) {
		return true
	}
	return p.Resolved != "" && p.Resolved != clean && m.matchForm(pl, p.Resolved, true)
}

// allForms reports whether the pattern matches every form of the path. A rule that allows asks this. A path whose links could not be
// resolved has a form that is not known, so it does not match. The form as written is not judged: the cleaned form is the same place.
// Who may delete everything in the project may not therefore delete a working tree of it.
func (m *pathMatcher) allForms(pl *places, p *Path) bool {
	tops := p.Access != Delete
	if m.never || p.Clean == "" || p.Resolved == "" || !m.matchForm(pl, p.Clean, tops) {
		return false
	}
	return p.Resolved == p.Clean || m.matchForm(pl, p.Resolved, tops)
}

// endsIn reports whether the last components of a path are those of another.
func endsIn(s, end string) bool {
	n := len(s) - len(end)
	return n == 0 && s == end || n > 0 && s[n-1] == '/' && s[n:] == end
}
