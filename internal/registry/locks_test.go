package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// lockTexts are lock files, and the packages that they have.
var lockTexts = []struct{ file, text, want string }{
	{"package-lock.json", `{"lockfileVersion":3,"packages":{"":{"name":"p","version":"1.0.0"},"node_modules/a":{"version":"1.0.0"},
"node_modules/a/node_modules/@s/b":{"version":"2.0.0"},"node_modules/alias":{"name":"c","version":"3.0.0"},"node_modules/w":{"link":true},
"packages/w":{"version":"9.0.0"}}}`, "npm:@s/b@2.0.0 npm:a@1.0.0 npm:c@3.0.0"},
	{"npm-shrinkwrap.json", `{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","dependencies":{"b":{"version":"2.0.0"}}},
"alias":{"version":"npm:@s/c@3.0.0"}}}`, "npm:@s/c@3.0.0 npm:a@1.0.0 npm:b@2.0.0"},
	{"yarn.lock", "# yarn lockfile v1\n\n\"@s/a@^1.0.0\", \"@s/a@^1.1.0\":\n  version \"1.1.0\"\n  resolved \"https://x\"\n\nb@2, b@3:\n  version \"2.0.0\"\n",
		"npm:@s/a@1.1.0 npm:b@2.0.0"},
	{"yarn.lock", "__metadata:\n  version: 6\n\n\"a@npm:^1.0.0, a@npm:^1.1.0\":\n  version: 1.1.0\n  resolution: \"a@npm:1.1.0\"\n\n" +
		"\"alias@npm:@s/b@^2\":\n  version: 2.0.0\n\n\"p@workspace:.\":\n  version: 0.0.0-use.local\n", "npm:@s/b@2.0.0 npm:a@1.1.0"},
	{"pnpm-lock.yaml", "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      a:\n        version: 1.0.0\n\npackages:\n\n  a@1.0.0:\n" +
		"    resolution: {integrity: x}\n\n  '@s/b@2.0.0':\n    resolution: {integrity: x}\n\nsnapshots:\n\n  z@9.0.0: {}\n", "npm:@s/b@2.0.0 npm:a@1.0.0"},
	{"pnpm-lock.yaml", "lockfileVersion: 5.4\n\npackages:\n\n  /a/1.0.0:\n    dev: false\n\n  /@s/b/2.0.0_c@1.0.0:\n    dev: false\n\n" +
		"  /d@3.0.0(e@1.0.0):\n    dev: false\n", "npm:@s/b@2.0.0 npm:a@1.0.0 npm:d@3.0.0"},
	{"go.sum", "m.example/A v1.0.0 h1:x=\nm.example/A v1.0.0/go.mod h1:y=\nbad line\n", "go:m.example/A@v1.0.0"},
	{"go.mod", "module p.example\n\ngo 1.21\n\nrequire a.example/a v1.0.0 // indirect\n\nrequire (\n\tb.example/b v2.0.0 // indirect\n)\n\n" +
		"replace b.example/b => c.example/c v3.0.0\n\nreplace d.example/d => ../d\n", "go:a.example/a@v1.0.0 go:b.example/b@v2.0.0 go:c.example/c@v3.0.0"},
	{"requirements-dev.txt", "# no\n-r other.txt\n--hash=sha256:1\nLeft_Pad[x]==1.0.0 \\\n    --hash=sha256:1\nb>=2 ; python_version > '3'\nc @ https://x\n" +
		"https://y\n./z\nd===3\n", "pypi:b pypi:d@3 pypi:left-pad@1.0.0"},
	{"poetry.lock", "[[package]]\nname = \"Left.Pad\"\nversion = \"1.0.0\"\n[[package]]\nname = \"b\"\nversion = \"2\"\n[package.source]\ntype = \"git\"\n",
		"pypi:left-pad@1.0.0"},
	{"uv.lock", "version = 1\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = { registry = \"https://pypi.org/simple\" }\n" +
		"sdist = { url = \"https://f.example/a-1.0.0.tar.gz\" }\n[[package]]\nname = \"p\"\nversion = \"0\"\nsource = { virtual = \".\" }\n", "pypi:a@1.0.0"},
	{"Pipfile.lock", `{"_meta":{},"default":{"A":{"version":"==1.0.0"}},"develop":{"b":{}}}`, "pypi:a@1.0.0 pypi:b"},
	{"Cargo.lock", "[[package]]\nname = \"Inflector\"\nversion = \"0.1.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n" +
		"[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n[[package]]\nname = \"g\"\nversion = \"1.0.0\"\nsource = \"git+https://x\"\n", "crates:inflector@0.1.0"},
	{"Gemfile.lock", "GIT\n  remote: https://x\n  specs:\n    own (1.0)\n\nGEM\n  remote: https://rubygems.org/\n  specs:\n    rails (7.0.0)\n" +
		"      rack (>= 2)\n    nokogiri (1.15.0-x86_64-linux)\n\nDEPENDENCIES\n    no (1)\n", "rubygems:nokogiri@1.15.0-x86_64-linux rubygems:rails@7.0.0"},
	{"gradle.lockfile", "# a comment\norg.x:y:1.0=compileClasspath\nempty=\n", "maven:org.x:y@1.0"},
	{"pom.xml", `<project><groupId>own</groupId><artifactId>own</artifactId><parent><groupId>org.p</groupId><artifactId>p</artifactId><version>1</version></parent>
<properties><v>2.0</v></properties><dependencies><dependency><groupId>org.x</groupId><artifactId>y</artifactId><version>${v}</version></dependency>
<dependency><groupId>${project.groupId}</groupId><artifactId>z</artifactId><version>${project.version}</version></dependency></dependencies>
<build><plugins><plugin><artifactId>q</artifactId><dependencies><dependency><groupId>g</groupId><artifactId>h</artifactId></dependency></dependencies></plugin></plugins></build></project>`,
		withOwn("maven:g:h maven:org.apache.maven.plugins:q maven:org.p:p@1 maven:org.x:y@2.0 maven:own:z@1")},
}

// withOwn adds Maven's own artifacts.
func withOwn(want string) string {
	all := strings.Fields(want)
	for own := range strings.FieldsSeq(mavenOwn) {
		all = append(all, "maven:org.apache.maven."+own)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// has lists what lock files have.
func has(l *Locked) string {
	var out []string
	for kind, names := range l.versions {
		for name, versions := range names {
			for _, v := range slices.Sorted(maps.Keys(versions)) {
				out = append(out, Package{string(kind), name, v}.String())
			}
			if len(versions) == 0 {
				out = append(out, Package{string(kind), name, ""}.String())
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestLocks: each form of a lock file is read, and what is the project's own, or comes from elsewhere, is left out.
func TestLocks(t *testing.T) {
	for _, tc := range lockTexts {
		var l Locked
		if l.Read("sub/"+tc.file, []byte(tc.text)); has(&l) != tc.want || len(l.Problems()) > 0 || !IsLock("sub/"+tc.file) {
			t.Errorf("%s has %s, want %s; %v", tc.file, has(&l), tc.want, l.Problems())
		}
	}
	for _, file := range []string{"main.go", "node_modules/a/package-lock.json", "x/node_modules/a/go.sum", "notes.txt", "package.json"} {
		if IsLock(file) {
			t.Errorf("%s is taken for a lock file", file)
		}
	}
	if !IsLock("requirements/dev.txt") {
		t.Error("requirements/dev.txt is none")
	}
	var l Locked
	l.Read("package-lock.json", []byte("{"))
	l.Read("poetry.lock", []byte("["))
	l.Read("pom.xml", []byte("<a>"))
	if has(&l) != "" || len(l.Problems()) != 3 {
		t.Errorf("what cannot be read has %s, %v", has(&l), l.Problems())
	}
	l.Read("uv.lock", []byte(lockTexts[10].text))
	if !l.HasVersion(PyPI, Asked{ByURL: true}, "https://f.example/a-1.0.0.tar.gz") || l.HasVersion(PyPI, Asked{ByURL: true}, "https://f.example/b-1.0.0.tar.gz") {
		t.Error("the addresses of uv.lock")
	}
}

// FuzzLocks: no text ends the program, and a lock file that cannot be read has no packages.
func FuzzLocks(f *testing.F) {
	for _, tc := range lockTexts {
		f.Add(tc.file, tc.text)
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		var l Locked
		l.Read(file, []byte(text))
		if len(l.Problems()) > 0 && has(&l) != "" {
			t.Error(fmt.Sprint(l.Problems(), has(&l)))
		}
	})
}
