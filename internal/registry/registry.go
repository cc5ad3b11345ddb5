// Package registry knows the registries from which package managers fetch: their hosts, the requests that fetching needs, and the lock
// files that say which packages a project has.
//
// A registry is a channel out. A name that nobody registered reaches the registry, and with Go's whoever the name points to; a query, a
// header or an upload carries what one likes. So [Kind.Read] takes apart the path of a request and writes it anew: what it does not
// understand as the fetching of one package is refused, and nothing of the command's own text is left but names, which the caller compares
// with those of the lock files.
package registry

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"mycelium/internal/lazy"
)

// Kind is the protocol that a registry speaks.
type Kind string

// The kinds.
const (
	Go     Kind = "go"       // a proxy of modules (go help goproxy), and the database of checksums
	NPM    Kind = "npm"      // npm, yarn, pnpm
	PyPI   Kind = "pypi"     // the simple index (PEP 503, PEP 691), for pip, poetry and uv
	Crates Kind = "crates"   // the sparse index of Cargo (RFC 2789), and downloads
	Gems   Kind = "rubygems" // the compact index of Bundler
	Maven  Kind = "maven"    // the layout of Maven's repositories, for Gradle too
)

// Registry is a registry, or a family of them that one package manager uses.
type Registry struct {
	Name string `json:"name"`
	Like Kind   `json:"like"`
	// Hosts are its hosts, each with the path below which the registry lies if that is not the whole host, and with its port if that is
	// not 443: npm.corp.example:8443/api/npm. The index is at the first one.
	Hosts []string `json:"hosts"`
}

// Shipped are the registries that this program knows, one for each kind, under the name of the kind.
func Shipped() []Registry {
	return []Registry{
		{string(Go), Go, []string{"proxy.golang.org", "sum.golang.org"}},
		{string(NPM), NPM, []string{"registry.npmjs.org", "registry.yarnpkg.com"}},
		{string(PyPI), PyPI, []string{"pypi.org", "files.pythonhosted.org"}},
		{string(Crates), Crates, []string{"index.crates.io", "static.crates.io", "crates.io"}},
		{string(Gems), Gems, []string{"index.rubygems.org", "rubygems.org"}},
		{string(Maven), Maven, []string{"repo.maven.apache.org/maven2", "repo1.maven.org/maven2", "plugins.gradle.org/m2"}},
	}
}

// Kinds lists the kinds.
func Kinds() (out []string) {
	for _, r := range Shipped() {
		out = append(out, r.Name)
	}
	return out
}

// Find returns the registries that a name opens: for that of a kind the shipped one and all of one's own that are like it, so that what
// opens npm opens a company's mirror of npm too.
func Find(name string, own []Registry) (out []Registry) {
	for _, r := range slices.Concat(Shipped(), own) {
		if r.Name == name || string(r.Like) == name {
			out = append(out, r)
		}
	}
	return out
}

// Same reports whether two registries are the same.
func (r Registry) Same(o Registry) bool {
	return r.Name == o.Name && r.Like == o.Like && slices.Equal(r.Hosts, o.Hosts)
}

// In reports whether the registry is one of others.
func (r Registry) In(others []Registry) bool { return slices.ContainsFunc(others, r.Same) }

// Join returns the registries of two lists, each once.
func Join(a, b []Registry) []Registry {
	out := slices.Clone(a)
	for _, r := range b {
		if !r.In(out) {
			out = append(out, r)
		}
	}
	return out
}

// Names returns the names of registries.
func Names(all []Registry) (out []string) {
	for _, r := range all {
		out = append(out, r.Name)
	}
	return out
}

// Check says what is wrong with a registry that a person wrote. checkHost says what is wrong with a host.
func (r Registry) Check(checkHost func(host string) error) error {
	switch {
	case slices.Contains(Kinds(), r.Name):
		return fmt.Errorf("%s is the name of a shipped registry", r.Name)
	case !slices.Contains(Kinds(), string(r.Like)):
		return fmt.Errorf("like is %q; write one of %s", string(r.Like), strings.Join(Kinds(), ", "))
	case len(r.Hosts) == 0:
		return errors.New("it names no host")
	}
	for _, s := range r.Hosts {
		host, below := Place(s)
		if err := checkHost(host); err != nil {
			return err
		}
		if strings.HasPrefix(host, "*") {
			return fmt.Errorf("host %q: the host of a registry is one name", s)
		}
		for _, part := range parts(below) {
			if !isWord(part) {
				return fmt.Errorf("host %q: %q is no part of a path that a registry can have", s, part)
			}
		}
	}
	return nil
}

// Place splits a host of a registry from the path below which it lies: "" or /api/npm.
func Place(s string) (host, below string) {
	host, below, ok := strings.Cut(strings.TrimSuffix(s, "/"), "/")
	if ok {
		below = "/" + below
	}
	return host, below
}

func parts(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(path, "/"), "/")
}

// Package is what people are asked for: a package of a registry, and a version where the registry does not list it. As a text it is
// npm:left-pad, or go:example.com/m@v0.0.0-20200101000000-abcdefabcdef.
type Package struct{ Registry, Name, Version string }

func (p Package) String() string {
	if p.Version != "" {
		return p.Registry + ":" + p.Name + "@" + p.Version
	}
	return p.Registry + ":" + p.Name
}

// packageForm is a registry, a colon and a name, and a version after the last @ that does not begin the name.
var packageForm = lazy.Regexp(`^([a-z0-9-]{1,64}):(@?[A-Za-z0-9][A-Za-z0-9._~/:-]{0,400})(?:@([A-Za-z0-9._+~!-]{1,128}))?$`)

// ParsePackage reads the text of a package.
func ParsePackage(s string) (Package, error) {
	m := packageForm().FindStringSubmatch(s)
	if m == nil {
		return Package{}, fmt.Errorf("package %q: write the registry and the name, as in npm:left-pad or go:golang.org/x/text@v0.3.0", s)
	}
	return Package{m[1], m[2], m[3]}, nil
}

// Asked is what a request asks a registry for.
type Asked struct {
	Package string // in its one form; empty: a part of the index that names no package
	Version string // empty: the index of the package
	Path    string // of the request, as this package writes it
	// ByURL says that the path has parts which only the index knows, such as the hash of a file. Then [Kind.Lists] decides.
	ByURL bool
}

// ErrForm is the error for a request that is not one of the forms of a registry.
var ErrForm = errors.New("the request has no form in which a package is fetched")

// form is what the table of kinds has for each kind.
type form struct {
	read   func(p []string, known func(name string) bool) (Asked, bool)
	index  func(name string) string                         // the path of the index of a package
	lists  func(index []byte, page *url.URL, a asking) bool // whether the index has a version, or the address of a file
	needs  func(a Asked) reader                             // of an answer that lists dependencies; nil for other answers
	accept []string                                         // media types that it knows beside */*, the preferred ones first
}

// asking is a question to the index of a package.
type asking struct {
	Asked
	url string // of the request, without a query
}

var forms = map[Kind]form{
	Go:     {read: readGo, index: indexGo, lists: listsGo, needs: needsGo},
	NPM:    {read: readNPM, index: indexNPM, lists: listsNPM, needs: needsNPM, accept: []string{"application/vnd.npm.install-v1+json", "application/json"}},
	PyPI:   {read: readPyPI, index: indexPyPI, lists: listsPyPI, needs: needsPyPI, accept: []string{"application/vnd.pypi.simple.v1+json", "text/html"}},
	Crates: {read: readCrates, index: indexCrates, lists: listsCrates, needs: needsCrates},
	Gems:   {read: readGems, index: indexGems, lists: listsGems, needs: needsGems},
	Maven:  {read: readMaven, index: indexMaven, lists: listsMaven, needs: needsMaven},
}

// mostPath bounds the path of a request, in bytes.
const mostPath = 2048

// Read reads the target of a request, which is the path below that of the registry as it stands in the first line. known says whether a
// name is one that the caller knows: the names of some files can be split in two ways. The error is [ErrForm].
func (k Kind) Read(target string, known func(name string) bool) (Asked, error) {
	f, ok := forms[k]
	rest, absolute := strings.CutPrefix(target, "/")
	if !ok || !absolute || len(target) > mostPath {
		return Asked{}, ErrForm
	}
	p := strings.Split(rest, "/")
	for i, part := range p {
		plain, ok := unescaped(part)
		if !ok {
			return Asked{}, ErrForm
		}
		p[i] = plain
	}
	if a, ok := f.read(p, known); ok {
		return a, nil
	}
	return Asked{}, ErrForm
}

// Index returns the path of the index of a package, in which [Kind.Lists] looks.
func (k Kind) Index(name string) string { return forms[k].index(name) }

// Lists reports whether the index of a package has what is asked for. page is the address of the index, target that of the request.
func (k Kind) Lists(index []byte, page *url.URL, a Asked, target string) bool {
	return forms[k].lists(index, page, asking{a, target})
}

// Accept returns the header Accept for a request: the media types of the registry's protocol among those that the command takes. What the
// command wrote does not leave.
func (k Kind) Accept(asked []string) string {
	for _, t := range forms[k].accept {
		if slices.ContainsFunc(asked, func(s string) bool { return strings.Contains(s, t) }) {
			return t + ", */*;q=0.1"
		}
	}
	return "*/*"
}

// escapes are the escapes that clients use in a path of a registry. Every other one is refused.
var escapes = strings.NewReplacer("%2f", "/", "%2F", "/", "%40", "@", "%2b", "+", "%2B", "+", "%21", "!")

// unescaped reads a part of a path. It refuses what no name or version of a registry has.
func unescaped(part string) (string, bool) {
	plain := escapes.Replace(part)
	for i := range len(plain) {
		if c := plain[i]; !letter(c) && !digit(c) && !strings.ContainsRune("-._~!@+/", rune(c)) {
			return "", false
		}
	}
	return plain, plain != "." && plain != ".."
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// isWord reports whether a text is a plain part of a path, such as a name or a version.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && !digit(c) && !strings.ContainsRune("-._~+", rune(c)) {
			return false
		}
	}
	return s != "" && s != "." && s != ".." && len(s) <= 214 //nolint:mnd // the longest name of npm
}
