package registry

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func never(string) bool { return false }

// TestRead: the requests with which package managers fetch are understood, and written as they were.
func TestRead(t *testing.T) {
	for _, tc := range []struct {
		kind          Kind
		target        string
		name, version string
		path          string // empty: as it came
	}{
		{Go, "/golang.org/x/text/@v/list", "golang.org/x/text", "", ""},
		{Go, "/golang.org/x/text/@latest", "golang.org/x/text", "", ""},
		{Go, "/github.com/!azure/azure-sdk/@v/v1.0.0.zip", "github.com/Azure/azure-sdk", "v1.0.0", ""},
		{Go, "/m.example/a/@v/v2.0.0+incompatible.mod", "m.example/a", "v2.0.0+incompatible", ""},
		{Go, "/m.example/a/@v/v0.0.0-20200101000000-abcdefabcdef.info", "m.example/a", "v0.0.0-20200101000000-abcdefabcdef", ""},
		{Go, "/sumdb/sum.golang.org/supported", "", "", ""},
		{Go, "/sumdb/sum.golang.org/lookup/golang.org/x/text@v0.3.0", "golang.org/x/text", "v0.3.0", ""},
		{Go, "/lookup/github.com/!azure/x@v0.3.0", "github.com/Azure/x", "v0.3.0", ""},
		{Go, "/tile/8/0/x123/456", "", "", ""},
		{Go, "/tile/8/data/x123/456.p/12", "", "", ""},
		{Go, "/latest", "", "", ""},
		{NPM, "/left-pad", "left-pad", "", ""},
		{NPM, "/@scope%2fpad", "@scope/pad", "", ""},
		{NPM, "/@scope%2Fpad", "@scope/pad", "", "/@scope%2fpad"},
		{NPM, "/@scope/pad", "@scope/pad", "", "/@scope%2fpad"},
		{NPM, "/%40scope/pad", "@scope/pad", "", "/@scope%2fpad"},
		{NPM, "/left-pad/latest", "left-pad", "latest", ""},
		{NPM, "/left-pad/-/left-pad-1.3.0.tgz", "left-pad", "1.3.0", ""},
		{NPM, "/@scope/pad/-/pad-1.3.0-rc.1.tgz", "@scope/pad", "1.3.0-rc.1", ""},
		{NPM, "/-/npm/v1/keys", "", "", ""},
		{PyPI, "/simple/left-pad/", "left-pad", "", ""},
		{PyPI, "/simple/Left_Pad", "left-pad", "", "/simple/left-pad/"},
		{PyPI, "/pypi/left-pad/json", "left-pad", "", ""},
		{PyPI, "/packages/aa/bb/cc/Left_Pad-1.0.0-py3-none-any.whl", "left-pad", "", ""},
		{PyPI, "/packages/aa/bb/cc/left_pad-1.0.0.tar.gz.metadata", "left-pad", "", ""},
		{PyPI, "/whl/torch-2.0.0%2Bcpu-cp311-cp311-linux_x86_64.whl", "torch", "", ""},
		{Crates, "/config.json", "", "", ""},
		{Crates, "/1/a", "a", "", ""},
		{Crates, "/3/s/syn", "syn", "", ""},
		{Crates, "/se/rd/serde_json", "serde_json", "", ""},
		{Crates, "/crates/Inflector/0.1.0/download", "inflector", "0.1.0", ""},
		{Crates, "/crates/serde/serde-1.0.0.crate", "serde", "1.0.0", ""},
		{Crates, "/api/v1/crates/serde/1.0.0/download", "serde", "1.0.0", ""},
		{Gems, "/versions", "", "", ""},
		{Gems, "/info/rails", "rails", "", ""},
		{Gems, "/gems/rails-7.0.0.gem", "rails", "7.0.0", ""},
		{Gems, "/quick/Marshal.4.8/net-http-0.1-x86_64-linux.gemspec.rz", "net-http", "0.1-x86_64-linux", ""},
		{Maven, "/org/apache/commons/commons-lang3/3.12.0/commons-lang3-3.12.0.jar", "org.apache.commons:commons-lang3", "3.12.0", ""},
		{Maven, "/org/x/y/1.0/y-1.0-sources.jar.sha1", "org.x:y", "1.0", ""},
		{Maven, "/org/x/y/maven-metadata.xml.sha256", "org.x:y", "", ""},
	} {
		a, err := tc.kind.Read(tc.target, never)
		if tc.path == "" {
			tc.path = tc.target
		}
		if err != nil || a.Package != tc.name || a.Version != tc.version || a.Path != tc.path {
			t.Errorf("%s %s: %+v, %v", tc.kind, tc.target, a, err)
		}
	}
}

// refused are requests that no package manager needs, or that could be read in two ways: those of the empty kind with every kind.
var refused = map[Kind][]string{
	"": {"", "/", "x", "//", "/.", "/..", "/a/../b", "/%2e%2e", "/a%00", "/a%25", "/a?x=secret", "/left-pad?x=secret", "/left-pad#secret", "/a;secret",
		"/simple/a/?secret", "/info/a?secret", "/config.json?secret", "/a b", "/\xff", "/" + strings.Repeat("a", mostPath)},
	NPM: {"/left-pad/", "/left-pad/-/secret-1.0.0.tgz", "/left-pad/-/left-pad-1.0.0.tgz/secret", "/-/user/org.couchdb.user:secret", "/-/secret",
		"/-/npm/v1/security/advisories/bulk", "/-/v1/search", "/@scope", "/@/x", "/@scope/@x", "/left-pad/secret/more", "https://evil.example/left-pad",
		"/left-pad/-/left-pad-.tgz", "/a%2fb%2fc", "/@a/-/b-1.tgz"},
	Go: {"/golang.org/x/text/@v/", "/golang.org/X/@v/list", "/golang.org/!/@v/list", "/golang.org/!X/@v/list", "/@v/list", "/@latest",
		"/golang.org//@v/list", "/golang.org/x/text/@v/v1.0.0.exe", "/golang.org/x/text/@v/secret", "/sumdb/secret.example/supported",
		"/sumdb/sum.golang.org/secret", "/tile/8/0/x123/x456", "/tile/8/0/123.p/0", "/tile/8/0/123.p/256", "/tile/8/0/x111/x222/003", "/tile/9/0/123",
		"/lookup/golang.org/x/text", "/lookup/golang.org/x/text@v1@secret", "/lookup/@v1.0.0"},
	PyPI: {"/simple/", "/simple/a/b/", "/simple/a%2fb/", "/simple//", "/pypi/a/json/secret", "/secret", "/packages/secret", "/packages/a/secret.whl",
		"/a.whl", "/packages/a/secret.tar.gz", "/packages/a/a-1.0.exe"},
	Crates: {"/1/ab", "/se/rd/other", "/se/rd/serde/more", "/crates/serde/1.0.0/upload", "/crates/serde/other-1.0.0.crate",
		"/api/v1/crates/serde/owners", "/api/v1/crates/serde/serde-1.0.0.crate", "/api/v1/crates", "/0/", "/secret"},
	Gems: {"/gems/rails.gem", "/info/a/b", "/api/v1/dependencies", "/gems/secret", "/secret"},
	Maven: {"/org/x/y/1.0/z-1.0.jar", "/org/x/y/1.0/y-2.0.jar", "/org/x/y/1.0/y-1.0-secret.jar", "/org/x/y/1.0/y-1.0.jar.secret",
		"/org.x/z/y/1.0/y-1.0.jar", "/maven-metadata.xml", "/secret"},
}

// TestRefused: none of these is understood.
func TestRefused(t *testing.T) {
	for _, kind := range Kinds() {
		for _, target := range slices.Concat(refused[""], refused[Kind(kind)]) {
			if a, err := Kind(kind).Read(target, never); err == nil {
				t.Errorf("%s %s is %+v", kind, target, a)
			}
		}
	}
	if _, err := Kind("other").Read("/left-pad", never); err == nil {
		t.Error("an unknown kind is read")
	}
}

// TestLists: what the index of a package has is told from what it has not.
func TestLists(t *testing.T) {
	const npm, pep691 = `{"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"dist":{}}}}`, `{"files":[{"url":"../../f/a-1.0%2Bx.tar.gz#sha256=1"}]}`
	page, err := url.Parse("https://pypi.org/simple/a/")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		kind   Kind
		index  string
		asked  Asked
		target string
		want   bool
	}{
		{Go, "v1.0.0\nv1.1.0\n", Asked{Version: "v1.1.0"}, "", true},
		{Go, "v1.0.0\nv1.1.0\n", Asked{Version: "v1"}, "", false},
		{NPM, npm, Asked{Version: "1.0.0"}, "", true},
		{NPM, npm, Asked{Version: "latest"}, "", true},
		{NPM, npm, Asked{Version: "1.0.1"}, "", false},
		{NPM, "<html>", Asked{Version: "1.0.1"}, "", false},
		{PyPI, pep691, Asked{ByURL: true}, "https://pypi.org/f/a-1.0%2Bx.tar.gz", true},
		{PyPI, pep691, Asked{ByURL: true}, "https://pypi.org/f/a-1.0%2Bx.tar.gz.metadata", true},
		{PyPI, pep691, Asked{ByURL: true}, "https://pypi.org/g/a-1.0%2Bx.tar.gz", false},
		{PyPI, pep691, Asked{Package: "a", Version: "1.0+x"}, "", true},
		{PyPI, pep691, Asked{Package: "a", Version: "2.0"}, "", false},
		{PyPI, `<a href="https://f.example/b/a-1.0-py3-none-any.whl#sha256=1">a</a>`, Asked{ByURL: true}, "https://f.example/b/a-1.0-py3-none-any.whl", true},
		{PyPI, `<b href="https://f.example/b/a-1.0-py3-none-any.whl">a</b>`, Asked{ByURL: true}, "https://f.example/b/a-1.0-py3-none-any.whl", false},
		{Crates, `{"name":"a","vers":"1.0.0"}` + "\n", Asked{Version: "1.0.0"}, "", true},
		{Crates, `{"name":"a","vers":"1.0.0"}` + "\n", Asked{Version: "1.0"}, "", false},
		{Gems, "---\n1.0.0-x86_64-linux a:>= 0|checksum:1\n", Asked{Version: "1.0.0-x86_64-linux"}, "", true},
		{Gems, "---\n1.0.0 a:>= 0|checksum:1\n", Asked{Version: "a:>="}, "", false},
		{Maven, "<metadata><versioning><versions><version>1.0</version></versions></versioning></metadata>", Asked{Version: "1.0"}, "", true},
		{Maven, "<metadata><versioning><versions><version>1.0</version></versions></versioning></metadata>", Asked{Version: "1.1"}, "", false},
	} {
		if got := tc.kind.Lists([]byte(tc.index), page, tc.asked, tc.target); got != tc.want {
			t.Errorf("%s %s %+v: %t", tc.kind, tc.index, tc.asked, got)
		}
	}
}

// TestFind: the name of a kind opens what is like it too.
func TestFind(t *testing.T) {
	own := []Registry{{"corp", NPM, []string{"npm.corp.example:8443/api/npm"}}}
	for name, want := range map[string]string{"npm": "npm corp", "corp": "corp", "go": "go", "other": ""} {
		if got := strings.Join(Names(Find(name, own)), " "); got != want {
			t.Errorf("%s opens %q", name, got)
		}
	}
	for want, r := range map[string]Registry{
		"": own[0], "shipped": {"npm", NPM, []string{"a.example"}}, "like is": {"a", "b", []string{"a.example"}}, "no host": {"a", NPM, nil},
		"one name": {"a", NPM, []string{"*.a.example"}}, "no part": {"a", NPM, []string{"a.example/a?b"}},
	} {
		if err := r.Check(func(string) error { return nil }); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}

// TestParsePackage: a package is read back as it is written.
func TestParsePackage(t *testing.T) {
	for _, p := range []Package{{"npm", "left-pad", ""}, {"npm", "@scope/pad", "1.0.0"}, {"go", "example.com/M", "v0.0.0-20200101000000-abcdefabcdef"},
		{"maven", "org.x:y", "1.0"}, {"pypi", "a", "1.0+x"}} {
		if got, err := ParsePackage(p.String()); err != nil || got != p {
			t.Errorf("%s is %+v, %v", p, got, err)
		}
	}
	for _, bad := range []string{"", "left-pad", "npm:", "NPM:a", "npm:a b", "npm:a@", "npm:../a"} {
		if p, err := ParsePackage(bad); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

// FuzzRead: what leaves is read again as the same, and has nothing that a path of a registry needs not.
func FuzzRead(f *testing.F) {
	for _, s := range append(slices.Concat(slices.Collect(maps.Values(refused))...), "/left-pad", "/@scope%2fpad", "/a/@v/v1.0.0.zip", "/lookup/a.b/c@v1.0.0", "/packages/a/a-1.0.tar.gz", "/se/rd/serde",
		"/gems/a-1.0.gem", "/org/x/y/1.0/y-1.0.jar") {
		for i := range Kinds() {
			f.Add(i, s)
		}
	}
	f.Fuzz(func(t *testing.T, i int, target string) {
		kinds := Kinds()
		kind := Kind(kinds[uint(i)%uint(len(kinds))])
		a, err := kind.Read(target, never)
		if err != nil {
			return
		}
		again, err := kind.Read(a.Path, never)
		if err != nil || again != a {
			t.Errorf("%s %q is %+v, and that is %+v, %v", kind, target, a, again, err)
		}
		u, err := url.Parse("https://host.example" + a.Path)
		if err != nil || u.Host != "host.example" || u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Path, "..") && strings.Contains(u.Path, "/../") {
			t.Errorf("%q: %v", a.Path, err)
		}
		if p := (Package{kinds[0], a.Package, a.Version}); a.Package != "" {
			if got, err := ParsePackage(p.String()); err == nil && got != p {
				t.Errorf("%s is %+v", p, got)
			}
		}
	})
}

// FuzzLists: no index ends the program.
func FuzzLists(f *testing.F) {
	f.Add(0, "v1.0.0\n")
	f.Add(1, `{"versions":{"v":{}}}`)
	f.Add(2, `{"files":[{"url":"a"}]}`)
	f.Add(2, `<a href="a-1.0.tar.gz">`)
	f.Add(3, `{"vers":"1"}`)
	f.Add(5, `<metadata><versioning><versions><version>1`)
	f.Fuzz(func(_ *testing.T, i int, index string) {
		kinds := Kinds()
		Kind(kinds[uint(i)%uint(len(kinds))]).Lists([]byte(index), &url.URL{Scheme: "https", Host: "a.example"}, Asked{Package: "a", Version: "1"}, "")
	})
}

// needs are answers of registries, and the dependencies that they list.
var needs = []struct {
	kind         Kind
	target, text string
	want         []string
}{
	{NPM, "/a", `{"name":"a","versions":{"1.0.0":{"dependencies":{"b":"^1","c":"npm:@s/d@^2","../e":"1"},"devDependencies":{"no":"1"}},
		"2.0.0":{"optionalDependencies":{"f":"1"},"peerDependencies":{"g":"1"},"dependencies":[1]}}}`, []string{"@s/d", "b", "f", "g"}},
	{NPM, "/a/1.0.0", `{"dependencies":{"b":"^1"}}`, []string{"b"}},
	{NPM, "/a/-/a-1.0.0.tgz", `{"dependencies":{"b":"^1"}}`, nil},
	{NPM, "/-/npm/v1/keys", `{"dependencies":{"b":"^1"}}`, nil},
	{NPM, "/a", `{"versions":{"1.0.0":{"dependencies":{"b":"^1"}}`, nil},
	{PyPI, "/packages/x/a-1.0-py3-none-any.whl.metadata",
		"Metadata-Version: 2.1\r\nName: a\r\nRequires-Dist: B_c[d] (>=1.0) ; extra == \"x\"\r\nrequires-dist: e\r\nRequires-Dist: f @ https://f.example/x\r\n\r\nRequires-Dist: no\n",
		[]string{"b-c", "e"}},
	{PyPI, "/packages/x/a-1.0-py3-none-any.whl", "Requires-Dist: b\n", nil},
	{PyPI, "/simple/a/", "Requires-Dist: b\n", nil},
	{PyPI, "/pypi/a/json", `{"info":{"requires_dist":["b<2","c; python_version<'3'"]}}`, []string{"b", "c"}},
	{PyPI, "/pypi/a/json", `{"info":{"requires_dist":null}}`, nil},
	{Go, "/m.example/a/@v/v1.0.0.mod", "module m.example/a\nrequire (\n\tm.example/b v1.2.3 // indirect\n)\nreplace m.example/c => m.example/d v1.0.0\n",
		[]string{"m.example/b", "m.example/b@v1.2.3", "m.example/d", "m.example/d@v1.0.0"}},
	{Go, "/m.example/a/@v/v1.0.0.info", "require m.example/b v1.2.3\n", nil},
	{Crates, "/a/b/ab", "", nil},
	{Crates, "/ab/cd/abcd", `{"name":"abcd","vers":"1.0.0","deps":[{"name":"Serde","req":"^1"},{"name":"x","package":"true-name","req":"1"},{"name":"../x"}]}` +
		"\nnot JSON\n" + `{"vers":"2.0.0","deps":[{"name":"log"}]}`, []string{"log", "serde", "true-name"}},
	{Crates, "/config.json", `{"deps":[{"name":"x"}]}`, nil},
	{Gems, "/info/a", "---\n1.0.0 b:>= 1.0&< 3,c:~> 2|checksum:abc\n1.1.0 |checksum:abc\n2.0.0-java d:>= 0,../e:>= 0|checksum:abc,ruby:>= 2\n", []string{"b", "c", "d"}},
	{Gems, "/versions", "a 1.0.0 b:>= 1|x\n", nil},
	{Maven, "/g/h/a/1.0/a-1.0.pom", `<project><parent><groupId>g.p</groupId><artifactId>p</artifactId><version>1</version></parent><dependencies><dependency>` +
		`<groupId>g.b</groupId><artifactId>b</artifactId></dependency></dependencies></project>`, []string{"g.b:b", "g.p:p", "g.p:p@1"}},
	{Maven, "/g/h/a/1.0/a-1.0.jar", `<project><parent><groupId>g.p</groupId><artifactId>p</artifactId></parent></project>`, nil},
}

// TestNeeds: dependencies are read from the answers that list them, and from no other.
func TestNeeds(t *testing.T) {
	for _, row := range needs {
		a, err := row.kind.Read(row.target, never)
		if err != nil && row.want != nil {
			t.Errorf("%s %s: %v", row.kind, row.target, err)
			continue
		}
		var l Locked
		l.Learn(row.kind, a, []byte(row.text))
		var got []string
		for name, versions := range l.versions[row.kind] {
			got = append(got, name)
			for v := range versions {
				got = append(got, name+"@"+v)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, row.want) || len(row.want) > 0 && !row.kind.Tells(a) || len(l.versions) > 1 {
			t.Errorf("%s %s: %v, want %v", row.kind, row.target, got, row.want)
		}
	}
}

// FuzzLearn: no answer ends the program, and each dependency has a name that the registry can be asked for.
func FuzzLearn(f *testing.F) {
	for _, row := range needs {
		f.Add(slices.Index(Kinds(), string(row.kind)), row.target, row.text)
	}
	f.Fuzz(func(t *testing.T, i int, target, text string) {
		kind := Kind(Kinds()[uint(i)%uint(len(Kinds()))])
		a, err := kind.Read(target, never)
		if err != nil {
			return
		}
		var l Locked
		l.Learn(kind, a, []byte(text))
		for name := range l.versions[kind] {
			if kind == Go || kind == Maven { // these read lock files too, which name what nobody can ask for
				continue
			}
			if got, err := kind.Read(kind.Index(name), never); err != nil || got.Package != name {
				t.Errorf("%s: %q is needed, and read as %+v, %v", kind, name, got, err)
			}
		}
	})
}
