package registry

import (
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/lazy"
)

// The readers of the paths of each kind. The parts of a path have only the characters that [unescaped] lets through; an empty last part
// is a slash at the end. Each reader returns a path of its own, made of what it understood.

// Go: https://go.dev/ref/mod#goproxy-protocol, and #checksum-database for what is below /sumdb/NAME, or on the database's own host.
func readGo(p []string, _ func(string) bool) (Asked, bool) {
	if len(p) > 2 && p[0] == "sumdb" && p[1] == sums {
		a, ok := readSums(p[2:])
		a.Path = "/sumdb/" + sums + a.Path
		return a, ok
	}
	if a, ok := readSums(p); ok {
		return a, true
	}
	n := len(p)
	if n > 1 && p[n-1] == "@latest" {
		name, ok := module(p[:n-1])
		return Asked{Package: name, Path: "/" + escaped(name) + "/@latest"}, ok
	}
	if n < 3 || p[n-2] != "@v" {
		return Asked{}, false
	}
	name, ok := module(p[:n-2])
	if p[n-1] == "list" {
		return Asked{Package: name, Path: indexGo(name)}, ok
	}
	for _, end := range []string{".info", ".mod", ".zip"} {
		if raw, is := strings.CutSuffix(p[n-1], end); is {
			version, good := capitals(raw)
			return Asked{Package: name, Version: version, Path: "/" + escaped(name) + "/@v/" + escaped(version) + end}, ok && good && isWord(version)
		}
	}
	return Asked{}, false
}

// sums is the one database of checksums that there is. A proxy answers for it below /sumdb.
const sums = "sum.golang.org"

// The tiles of the database of checksums are numbered in threes of digits, of which all but the last begin with x (go.dev/design/25530-sumdb).
var tile = lazy.Regexp(`^tile/8/(?:[0-7]|data)/(?:x[0-9]{3}/)?[0-9]{3}(?:\.p/([0-9]{1,3}))?$`)

func readSums(p []string) (Asked, bool) {
	joined := strings.Join(p, "/")
	switch {
	case joined == "supported", joined == "latest":
		return Asked{Path: "/" + joined}, true
	case p[0] == "tile":
		m := tile().FindStringSubmatch(joined)
		if m == nil {
			return Asked{}, false
		}
		n, _ := strconv.Atoi(m[1])
		return Asked{Path: "/" + joined}, n < 256 && (n == 0) == (m[1] == "") //nolint:mnd // a whole tile
	case p[0] == "lookup":
		name, version, ok := strings.Cut(strings.Join(p[1:], "/"), "@")
		name, good := module(parts(name))
		version, fine := capitals(version)
		return Asked{Package: name, Version: version, Path: "/lookup/" + escaped(name) + "@" + escaped(version)}, ok && good && fine && isWord(version)
	}
	return Asked{}, false
}

func indexGo(name string) string { return "/" + escaped(name) + "/@v/list" }

// module reads the path of a module, in which an exclamation mark stands before each capital letter.
func module(p []string) (string, bool) {
	name, ok := capitals(strings.Join(p, "/"))
	ok = ok && name != "" && len(name) <= 400 //nolint:mnd // a bound only: a path of a package on a host
	for _, part := range p {
		plain, _ := capitals(part)
		ok = ok && isWord(plain)
	}
	return name, ok && len(p) > 0
}

func capitals(s string) (string, bool) {
	var out []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			return "", false
		}
		if c == '!' {
			if i++; i == len(s) || s[i] < 'a' || s[i] > 'z' {
				return "", false
			}
			c = s[i] - 0x20
		}
		out = append(out, c)
	}
	return string(out), true
}

func escaped(s string) string {
	var out []byte
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			out = append(out, '!', c+0x20)
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

// npm: https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md. Files are NAME/-/BASE-VERSION.tgz.
func readNPM(p []string, _ func(string) bool) (Asked, bool) {
	if slices.Equal(p, []string{"-", "npm", "v1", "keys"}) {
		return Asked{Path: "/-/npm/v1/keys"}, true
	}
	p = strings.Split(strings.Join(p, "/"), "/") // @scope%2fname is one part, and is read as two
	name, base := p[0], p[0]
	if strings.HasPrefix(name, "@") {
		if len(p) < 2 || !isWord(name[1:]) {
			return Asked{}, false
		}
		name, base = name+"/"+p[1], p[1]
		p = p[1:]
	}
	if !isWord(base) || base == "-" {
		return Asked{}, false
	}
	switch {
	case len(p) == 1:
		return Asked{Package: name, Path: indexNPM(name)}, true
	case len(p) == 2 && isWord(p[1]) && p[1] != "-":
		return Asked{Package: name, Version: p[1], Path: indexNPM(name) + "/" + p[1]}, true
	case len(p) == 3 && p[1] == "-":
		version, ok := strings.CutPrefix(p[2], base+"-")
		version, is := strings.CutSuffix(version, ".tgz")
		return Asked{Package: name, Version: version, Path: "/" + name + "/-/" + base + "-" + version + ".tgz"}, ok && is && isWord(version)
	}
	return Asked{}, false
}

func indexNPM(name string) string { return "/" + strings.Replace(name, "/", "%2f", 1) }

// PyPI: https://packaging.python.org/specifications/simple-repository-api, and PyPI's own JSON. Where files lie only the index says.
func readPyPI(p []string, known func(string) bool) (Asked, bool) {
	n := len(p)
	if p[n-1] == "" {
		p, n = p[:n-1], n-1
	}
	for _, part := range p {
		if !isWord(part) {
			return Asked{}, false
		}
	}
	switch {
	case n == 2 && p[0] == "simple":
		name := pythonName(p[1])
		return Asked{Package: name, Path: indexPyPI(name)}, name != ""
	case n == 3 && p[0] == "pypi" && p[2] == "json":
		name := pythonName(p[1])
		return Asked{Package: name, Path: "/pypi/" + name + "/json"}, name != ""
	case n < 2:
		return Asked{}, false
	}
	name, ok := pythonFile(p[n-1], known)
	path := "/" + strings.ReplaceAll(strings.Join(p, "/"), "+", "%2B") // some stores take a plus for a space
	return Asked{Package: name, Path: path, ByURL: true}, ok
}

func indexPyPI(name string) string { return "/simple/" + name + "/" }

var separators = lazy.Regexp(`[-_.]+`)

// pythonName is the one form of a name (PEP 503).
func pythonName(s string) string {
	s = strings.ToLower(separators().ReplaceAllString(s, "-"))
	if strings.ContainsAny(s, "~+") {
		return ""
	}
	return s
}

// pythonFile returns the name of the package of a file: a wheel (PEP 427), the source, or the metadata of one of them (PEP 658).
func pythonFile(file string, known func(string) bool) (string, bool) {
	file = strings.TrimSuffix(file, ".metadata")
	if wheel, ok := strings.CutSuffix(file, ".whl"); ok {
		name, _, ok := strings.Cut(wheel, "-")
		return pythonName(name), ok && pythonName(name) != ""
	}
	for _, end := range []string{".tar.gz", ".zip", ".tar.bz2", ".tgz"} {
		if stem, ok := strings.CutSuffix(file, end); ok {
			name, _, ok := splitFile(stem, func(s string) bool { return known(pythonName(s)) })
			return pythonName(name), ok && pythonName(name) != ""
		}
	}
	return "", false
}

// splitFile splits NAME-VERSION at a hyphen before a digit: where the name is known, else at the first one.
func splitFile(stem string, known func(string) bool) (name, version string, ok bool) {
	for i := 1; i+1 < len(stem); i++ {
		if stem[i] != '-' || !digit(stem[i+1]) {
			continue
		}
		if at := stem[:i]; known(at) {
			return at, stem[i+1:], true
		} else if !ok {
			name, version, ok = at, stem[i+1:], true
		}
	}
	return name, version, ok
}

// Cargo: https://doc.rust-lang.org/cargo/reference/registry-index.html. Files are below the dl of config.json, which is /crates at
// static.crates.io, or come by the API, which redirects there.
func readCrates(p []string, _ func(string) bool) (Asked, bool) {
	n := len(p)
	name := strings.ToLower(p[n-1])
	switch {
	case n == 1 && p[0] == "config.json":
		return Asked{Path: "/config.json"}, true
	case n <= 3 && isCrate(name) && "/"+strings.ToLower(strings.Join(p, "/")) == indexCrates(name):
		return Asked{Package: name, Path: indexCrates(name)}, true
	}
	below := "/crates/"
	if n > 2 && p[0] == "api" && p[1] == "v1" {
		p, n, below = p[2:], n-2, "/api/v1/crates/"
	}
	if n < 3 || p[0] != "crates" || !isCrate(p[1]) {
		return Asked{}, false
	}
	name = strings.ToLower(p[1])
	if n == 4 && p[3] == "download" {
		return Asked{Package: name, Version: p[2], Path: below + p[1] + "/" + p[2] + "/download"}, isWord(p[2])
	}
	version, ok := strings.CutPrefix(p[2], p[1]+"-")
	version, is := strings.CutSuffix(version, ".crate")
	return Asked{Package: name, Version: version, Path: "/crates/" + p[1] + "/" + p[1] + "-" + version + ".crate"},
		n == 3 && below == "/crates/" && ok && is && isWord(version)
}

func indexCrates(name string) string {
	switch n := len(name); n {
	case 0, 1, 2:
		return "/" + strconv.Itoa(n) + "/" + name
	case 3:
		return "/3/" + name[:1] + "/" + name
	}
	return "/" + name[:2] + "/" + name[2:4] + "/" + name
}

func isCrate(s string) bool { return isWord(s) && len(s) <= 64 && !strings.ContainsAny(s, ".~+") }

// RubyGems: https://guides.rubygems.org/rubygems-org-compact-index-api, files, and the index of old.
func readGems(p []string, known func(string) bool) (Asked, bool) {
	joined := strings.Join(p, "/")
	last := p[len(p)-1]
	switch {
	case slices.Contains([]string{"versions", "names", "specs.4.8.gz", "latest_specs.4.8.gz", "prerelease_specs.4.8.gz"}, joined):
		return Asked{Path: "/" + joined}, true
	case len(p) == 2 && p[0] == "info":
		return Asked{Package: last, Path: indexGems(last)}, isWord(last)
	}
	for _, of := range []struct{ below, end string }{{"gems/", ".gem"}, {"quick/Marshal.4.8/", ".gemspec.rz"}} {
		stem, below := strings.CutPrefix(joined, of.below)
		stem, ends := strings.CutSuffix(stem, of.end)
		if below && ends && isWord(stem) {
			name, version, ok := splitFile(stem, known)
			return Asked{Package: name, Version: version, Path: "/" + of.below + stem + of.end}, ok
		}
	}
	return Asked{}, false
}

func indexGems(name string) string { return "/info/" + name }

// classifiers are those of files beside the main one that are fetched for a build. A classifier is a free word, so only these pass.
var classifiers = lazy.Regexp(`^(?:sources|javadoc|tests|test-sources|all|shaded|jakarta|jre|no_aop|classes|` +
	`(?:linux|osx|macos|windows|win32)-(?:x86_64|x86_32|x64|arm64|aarch_64)(?:-fedora)?)$`)

// fileEnds are the ends of the files of an artifact, and sumEnds what may follow them.
var (
	fileEnds = []string{".jar", ".pom", ".module", ".war", ".aar", ".zip", ".exe", ".klib", ".tar.gz"}
	sumEnds  = []string{".sha1", ".md5", ".sha256", ".sha512", ".asc"}
)

// Maven: https://maven.apache.org/repository/layout.html. A package is GROUP:ARTIFACT.
func readMaven(p []string, _ func(string) bool) (Asked, bool) {
	n := len(p)
	for _, part := range p {
		if !isWord(part) {
			return Asked{}, false
		}
	}
	file, sum := p[n-1], ""
	for _, end := range sumEnds {
		if stem, ok := strings.CutSuffix(file, end); ok {
			file, sum = stem, end
			break
		}
	}
	switch {
	case n >= 3 && file == "maven-metadata.xml":
		name := strings.Join(p[:n-2], ".") + ":" + p[n-2]
		return Asked{Package: name, Path: indexMaven(name) + sum}, !slices.ContainsFunc(p[:n-2], dotted)
	case n < 4 || slices.ContainsFunc(p[:n-3], dotted):
		return Asked{}, false
	}
	artifact, version := p[n-3], p[n-2]
	a := Asked{Package: strings.Join(p[:n-3], ".") + ":" + artifact, Version: version, Path: "/" + strings.Join(p[:n-1], "/") + "/" + file + sum}
	rest, ok := strings.CutPrefix(file, artifact+"-"+version)
	if !ok {
		return Asked{}, false
	}
	for _, end := range fileEnds {
		if classifier, is := strings.CutSuffix(rest, end); is {
			word, has := strings.CutPrefix(classifier, "-")
			return a, classifier == "" || has && classifiers().MatchString(word)
		}
	}
	return Asked{}, false
}

// dotted reports whether a part of the path of a group has a dot: a group a.b lies in a/b, so that such a part could mean two.
func dotted(part string) bool { return strings.Contains(part, ".") }

func indexMaven(name string) string {
	group, artifact, _ := strings.Cut(name, ":")
	return "/" + strings.ReplaceAll(group, ".", "/") + "/" + artifact + "/maven-metadata.xml"
}
