package registry

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"mycelium/internal/lazy"
	"mycelium/internal/rawjson"
)

// Locked are the packages of lock files, or the dependencies that a registry lists ([Locked.Learn]). The zero value has none.
type Locked struct {
	versions map[Kind]map[string]map[string]bool // kind, name, version
	urls     map[string]bool                     // of files, as uv.lock has them
	problems []string
}

// lockFiles are the files that say which packages a project has, by their names.
var lockFiles = map[string]reader{
	"package-lock.json":   lockNPM,
	"npm-shrinkwrap.json": lockNPM,
	"yarn.lock":           lockYarn,
	"pnpm-lock.yaml":      lockPNPM,
	"go.sum":              lockGoSum,
	"go.mod":              lockGoMod,
	"go.work.sum":         lockGoSum,
	"poetry.lock":         lockPython,
	"uv.lock":             lockPython,
	"pdm.lock":            lockPython,
	"Pipfile.lock":        lockPipfile,
	"Cargo.lock":          lockCargo,
	"Gemfile.lock":        lockGems,
	"gradle.lockfile":     lockGradle,
	"pom.xml":             lockMaven,
}

// reader adds the packages that a text names.
type reader func(l *Locked, data []byte) error

// readerOf returns the reader of a lock file by its path; nil: it is none.
func readerOf(file string) reader {
	base := path.Base(file)
	if read, ok := lockFiles[base]; ok {
		return read
	}
	if strings.HasSuffix(base, ".txt") && (strings.Contains(base, "requirements") || path.Base(path.Dir(file)) == "requirements") {
		return lockRequirements
	}
	return nil
}

// IsLock reports whether a file of a project is one that [Locked.Read] reads. One that lies in what a package manager fetched says
// nothing of the project.
func IsLock(file string) bool {
	return readerOf(file) != nil && !strings.Contains("/"+file, "/node_modules/")
}

// Read adds the packages of a lock file. What it cannot read has no packages, and [Locked.Problems] says so.
func (l *Locked) Read(file string, data []byte) {
	var one Locked
	if read := readerOf(file); read == nil {
		return
	} else if err := read(&one, data); err != nil {
		l.problems = append(l.problems, fmt.Sprintf("%s cannot be read (%v)", file, err))
		return
	}
	l.join(&one)
}

// join adds the packages of another.
func (l *Locked) join(one *Locked) {
	for kind, names := range one.versions {
		for name, versions := range names {
			l.add(kind, name, "")
			for v := range versions {
				l.add(kind, name, v)
			}
		}
	}
	for u := range one.urls {
		l.addURL(u)
	}
}

// Fail notes that lock files could not be read.
func (l *Locked) Fail(err error) { l.problems = append(l.problems, err.Error()) }

// Problems says which lock files could not be read.
func (l *Locked) Problems() []string { return l.problems }

// Has reports whether a package is in a lock file.
func (l *Locked) Has(k Kind, name string) bool { return l.versions[k][name] != nil }

// HasVersion reports whether this version is in a lock file, or the address of this file.
func (l *Locked) HasVersion(k Kind, a Asked, url string) bool {
	if a.ByURL {
		return l.urls[url] || l.urls[strings.TrimSuffix(url, ".metadata")]
	}
	return l.versions[k][a.Package][a.Version]
}

func (l *Locked) addURL(u string) {
	if l.urls == nil {
		l.urls = map[string]bool{}
	}
	l.urls[u] = true
}

// add adds a package, and a version if it is known.
func (l *Locked) add(k Kind, name, version string) {
	if l.versions == nil {
		l.versions = map[Kind]map[string]map[string]bool{}
	}
	if l.versions[k] == nil {
		l.versions[k] = map[string]map[string]bool{}
	}
	if l.versions[k][name] == nil {
		l.versions[k][name] = map[string]bool{}
	}
	if version != "" {
		l.versions[k][name][version] = true
	}
}

// npmName is a name of npm, with its scope.
var npmName = lazy.Regexp(`^(?:@[A-Za-z0-9._~-]+/)?[A-Za-z0-9][A-Za-z0-9._~-]*$`)

func (l *Locked) addNPM(name, version string) {
	if npmName().MatchString(name) {
		l.add(NPM, name, version)
	}
}

var errNotJSON = errors.New("it is not JSON of this form")

// lockNPM reads versions 1 to 3 of package-lock.json: packages by the folder in which they lie, or dependencies in dependencies. A folder
// that is an alias has the true name beside it.
func lockNPM(l *Locked, data []byte) error {
	var doc struct {
		Packages map[string]struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Link    bool   `json:"link"`
		} `json:"packages"`
		Dependencies map[string]any `json:"dependencies"`
	}
	if err := rawjson.Decode(data, &doc); err != nil {
		return errNotJSON
	}
	const folder = "node_modules/"
	for at, p := range doc.Packages {
		if i := strings.LastIndex(at, folder); i >= 0 && !p.Link {
			l.addNPM(cmp.Or(p.Name, at[i+len(folder):]), p.Version)
		}
	}
	var walk func(map[string]any)
	walk = func(all map[string]any) {
		for name, v := range all {
			one, _ := v.(map[string]any)
			version, _ := one["version"].(string)
			if alias, ok := strings.CutPrefix(version, "npm:"); ok {
				name, version = cutVersion(alias)
			}
			l.addNPM(name, version)
			below, _ := one["dependencies"].(map[string]any)
			walk(below)
		}
	}
	walk(doc.Dependencies)
	return nil
}

// cutVersion cuts NAME@VERSION, where the name may begin with an @.
func cutVersion(s string) (name, version string) {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// lockYarn reads both forms of yarn.lock. A line without space before it names a package by what is wanted of it, "a@^1, b@npm:a@2:"; the
// lines below it have its version, and in the newer form its resolution.
func lockYarn(l *Locked, data []byte) error {
	var names []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			names = names[:0]
			for one := range strings.SplitSeq(strings.TrimSuffix(line, ":"), ",") {
				one = strings.Trim(strings.TrimSpace(one), `"`)
				at := strings.IndexByte(strings.TrimPrefix(one, "@"), '@')
				if at < 0 {
					continue
				}
				at += len(one) - len(strings.TrimPrefix(one, "@"))
				name, wanted := one[:at], one[at+1:]
				if alias, ok := strings.CutPrefix(wanted, "npm:"); ok && strings.Contains(alias, "@") {
					name, _ = cutVersion(alias)
				}
				if !strings.Contains(wanted, "workspace:") && !strings.Contains(wanted, "file:") && !strings.Contains(wanted, "link:") {
					names = append(names, name)
				}
			}
		case strings.HasPrefix(line, "  version"):
			version := strings.Trim(strings.TrimLeft(strings.TrimPrefix(line, "  version"), ": "), `"`)
			for _, name := range names {
				l.addNPM(name, version)
			}
		}
	}
	return nil
}

// pnpmKey is a key of the map packages: '@scope/name@1.0.0(peer@2)', /name@1.0.0, or /name/1.0.0 of old.
var pnpmKey = lazy.Regexp(`^  '?/?((?:@[^/@'\s]+/)?[^/@'\s]+)[@/]([^('\s:]+)[^:]*'?:`)

func lockPNPM(l *Locked, data []byte) error {
	in := false
	for line := range strings.Lines(string(data)) {
		if line[0] != ' ' && strings.TrimSpace(line) != "" {
			in = strings.HasPrefix(line, "packages:")
		}
		if m := pnpmKey().FindStringSubmatch(line); in && m != nil {
			version, _, _ := strings.Cut(m[2], "_") // of old: 1.0.0_peer@2
			l.addNPM(m[1], version)
		}
	}
	return nil
}

// lockGoSum reads MODULE VERSION[/go.mod] HASH.
func lockGoSum(l *Locked, data []byte) error {
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 { //nolint:mnd // see above
			l.add(Go, f[0], strings.TrimSuffix(f[1], "/go.mod"))
		}
	}
	return nil
}

// lockGoMod reads the lines require and replace.
func lockGoMod(l *Locked, data []byte) error {
	block := ""
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == ")":
			block = ""
		case len(f) > 1 && f[1] == "(":
			block = f[0]
		case block != "":
			addGoMod(l, block, f)
		default:
			addGoMod(l, f[0], f[1:])
		}
	}
	return nil
}

func addGoMod(l *Locked, block string, f []string) {
	switch {
	case block == "require" && len(f) == 2: //nolint:mnd // MODULE VERSION
		l.add(Go, f[0], f[1])
	case block == "replace" && len(f) > 2 && f[len(f)-3] == "=>": // … => MODULE VERSION
		l.add(Go, f[len(f)-2], f[len(f)-1])
	}
}

// requirement is the name at the beginning of a line of requirements.txt (PEP 508), and an exact version.
var requirement = lazy.Regexp(`^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:(===?)\s*([A-Za-z0-9.!+_-]+))?\s*(.*)$`)

func lockRequirements(l *Locked, data []byte) error {
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", " ")) {
		m := requirement().FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || strings.HasPrefix(m[4], "@") || strings.HasPrefix(m[4], ":") { // name @ https://…, or a line that is an address
			continue
		}
		l.add(PyPI, pythonName(m[1]), m[3])
	}
	return nil
}

// lockPython reads the tables package of poetry.lock, uv.lock and pdm.lock. One with a source that is no registry is not asked for.
func lockPython(l *Locked, data []byte) error {
	type file struct {
		URL string `toml:"url"`
	}
	var doc struct {
		Package []struct {
			Name    string         `toml:"name"`
			Version string         `toml:"version"`
			Source  map[string]any `toml:"source"`
			Sdist   file           `toml:"sdist"`
			Wheels  []file         `toml:"wheels"`
		} `toml:"package"`
	}
	if err := toml.Unmarshal(data, &doc); err != nil {
		return errors.New("it is not TOML of this form")
	}
	for _, p := range doc.Package {
		_, registry := p.Source["registry"]
		if kind, _ := p.Source["type"].(string); len(p.Source) > 0 && !registry && kind != "legacy" {
			continue
		}
		if name := pythonName(p.Name); name != "" {
			l.add(PyPI, name, p.Version)
		}
		for _, f := range append(p.Wheels, p.Sdist) {
			if f.URL != "" {
				l.addURL(f.URL)
			}
		}
	}
	return nil
}

func lockPipfile(l *Locked, data []byte) error {
	var doc map[string]map[string]any
	if err := rawjson.Decode(data, &doc); err != nil {
		return errNotJSON
	}
	for _, section := range []string{"default", "develop"} {
		for name, v := range doc[section] {
			one, _ := v.(map[string]any)
			version, _ := one["version"].(string)
			if name = pythonName(name); name != "" {
				l.add(PyPI, name, strings.TrimPrefix(version, "=="))
			}
		}
	}
	return nil
}

// lockCargo reads the tables package. Those of the project itself have no source.
func lockCargo(l *Locked, data []byte) error {
	var doc struct {
		Package []struct {
			Name    string `toml:"name"`
			Version string `toml:"version"`
			Source  string `toml:"source"`
		} `toml:"package"`
	}
	if err := toml.Unmarshal(data, &doc); err != nil {
		return errors.New("it is not TOML of this form")
	}
	for _, p := range doc.Package {
		if strings.HasPrefix(p.Source, "registry+") || strings.HasPrefix(p.Source, "sparse+") {
			l.add(Crates, strings.ToLower(p.Name), p.Version)
		}
	}
	return nil
}

// gem is a line of the section specs of Gemfile.lock.
var gem = lazy.Regexp(`^    ([A-Za-z0-9][A-Za-z0-9._-]*) \(([A-Za-z0-9._-]+)\)$`)

func lockGems(l *Locked, data []byte) error {
	in := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' {
			in = line == "GEM"
		}
		if m := gem().FindStringSubmatch(line); in && m != nil {
			l.add(Gems, m[1], m[2])
		}
	}
	return nil
}

// lockGradle reads GROUP:ARTIFACT:VERSION=CONFIGURATIONS.
func lockGradle(l *Locked, data []byte) error {
	for line := range strings.Lines(string(data)) {
		at, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if p := strings.Split(at, ":"); len(p) == 3 && line[0] != '#' { //nolint:mnd // see above
			l.add(Maven, p[0]+":"+p[1], p[2])
		}
	}
	return nil
}

// element is an element of XML.
type element struct {
	XMLName xml.Name
	Text    string    `xml:",chardata"`
	Below   []element `xml:",any"`
}

// text is what stands in an element below; "" if there is none.
func (e *element) text(name string) string {
	for _, b := range e.Below {
		if b.XMLName.Local == name {
			return strings.TrimSpace(b.Text)
		}
	}
	return ""
}

// mavenOwn are artifacts of org.apache.maven that Maven fetches although no file names them: the plugins that it binds to the phases of a
// project (https://maven.apache.org/ref/3.9.9/maven-core/default-bindings.html), and the providers with which the plugin for tests runs them
// (https://maven.apache.org/surefire/maven-surefire-plugin/examples/providers.html).
const mavenOwn = "plugins:maven-clean-plugin plugins:maven-resources-plugin plugins:maven-compiler-plugin plugins:maven-surefire-plugin " +
	"plugins:maven-jar-plugin plugins:maven-install-plugin plugins:maven-deploy-plugin plugins:maven-site-plugin plugins:maven-war-plugin " +
	"plugins:maven-ear-plugin plugins:maven-ejb-plugin plugins:maven-rar-plugin plugins:maven-plugin-plugin " +
	"surefire:surefire-junit3 surefire:surefire-junit4 surefire:surefire-junit47 surefire:surefire-junit-platform surefire:surefire-testng"

// lockMaven reads a pom.xml, and adds Maven's own artifacts.
func lockMaven(l *Locked, data []byte) error {
	for own := range strings.FieldsSeq(mavenOwn) {
		l.add(Maven, "org.apache.maven."+own, "")
	}
	return readPOM(l, data)
}

// readPOM reads the artifacts that a POM names: the parent, dependencies, plugins and extensions. A group or a version may be a property of
// the file.
func readPOM(l *Locked, data []byte) error {
	var doc element
	if err := xml.Unmarshal(data, &doc); err != nil {
		return errors.New("it is not XML of this form")
	}
	values := map[string]string{}
	for _, b := range doc.Below {
		for _, p := range b.Below {
			if b.XMLName.Local == "properties" {
				values["${"+p.XMLName.Local+"}"] = strings.TrimSpace(p.Text)
			}
		}
	}
	for _, key := range []string{"groupId", "version"} {
		value := doc.text(key)
		for _, b := range doc.Below {
			if b.XMLName.Local == "parent" {
				value = cmp.Or(value, b.text(key))
			}
		}
		values["${project."+key+"}"] = value
	}
	var walk func(element)
	walk = func(e element) {
		group, artifact, version := e.text("groupId"), e.text("artifactId"), e.text("version")
		if e.XMLName.Local == "plugin" {
			group = cmp.Or(group, "org.apache.maven.plugins")
		}
		if e.XMLName.Local != doc.XMLName.Local && group != "" && artifact != "" { // not the project itself
			l.add(Maven, cmp.Or(values[group], group)+":"+artifact, cmp.Or(values[version], version))
		}
		for _, b := range e.Below {
			walk(b)
		}
	}
	walk(doc)
	return nil
}
