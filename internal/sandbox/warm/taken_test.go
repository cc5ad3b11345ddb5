package warm

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// cached puts a module into the module cache of a home folder, as the go command does, and returns the lines of go.sum that name it.
func cached(t *testing.T, home, name, version, source string) (sums string) {
	t.Helper()
	from, dir, mod := t.TempDir(), filepath.Join(home, downloads, name, "@v"), "module "+name+"\n"
	err := os.MkdirAll(dir, 0o700)
	for file, data := range map[string]string{filepath.Join(from, "go.mod"): mod, filepath.Join(from, "x.go"): source,
		filepath.Join(dir, version+".mod"): mod, filepath.Join(dir, version+".info"): `{"Version":"v9","Time":"2026-01-02T03:04:05Z","Origin":{"URL":"x"}}`} {
		err = errors.Join(err, os.WriteFile(file, []byte(data), 0o600))
	}
	f, createErr := os.Create(filepath.Join(dir, version+".zip"))
	if err := errors.Join(err, createErr); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(zip.CreateFromDir(f, module.Version{Path: name, Version: version}, from), f.Close())
	sum, sumErr := dirhash.HashZip(f.Name(), dirhash.Hash1)
	modSum, modErr := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(mod)), nil })
	if err := errors.Join(err, sumErr, modErr); err != nil {
		t.Fatal(err)
	}
	return name + " " + version + " " + sum + "\n" + name + " " + version + "/go.mod " + modSum + "\n"
}

// integrity is how a lock file of npm names content.
func integrity(content string) string {
	sum := sha512.Sum512([]byte(content))
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// content puts content into the npm cache of a home folder, under the name of another one.
func content(t *testing.T, home, named, content string) (file string) {
	t.Helper()
	sum := sha512.Sum512([]byte(named))
	h := hex.EncodeToString(sum[:])
	file = filepath.Join(npmContent, "sha512", h[:2], h[2:4], h[4:])
	at := filepath.Join(home, ".npm/_cacache", file)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}

// files lists what commands find.
func (t Taken) files() (out []string) {
	for _, shown := range []string{t.NPM(), t.Proxy()} {
		_ = filepath.WalkDir(shown, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				out = append(out, strings.TrimPrefix(path, string(t)+"/"))
			}
			return nil
		})
	}
	return out
}

// locks are lock files by their names, as Fill reads them.
func locks(files map[string]string) func() []Lock {
	return func() (out []Lock) {
		for name, data := range files {
			out = append(out, Lock{name, []byte(data)})
		}
		return out
	}
}

// TestTaken: what lock files name is taken if it has the hash, and nothing else is.
func TestTaken(t *testing.T) {
	t.Parallel()
	home, to := t.TempDir(), Taken(filepath.Join(t.TempDir(), "taken"))
	sums := cached(t, home, "example.com/named", "v1.0.0", "package x // named")
	cached(t, home, "example.com/other", "v1.0.0", "package x // of another project")
	changed := cached(t, home, "example.com/changed", "v1.0.0", "package x")
	cached(t, home, "example.com/changed", "v1.0.0", "package x // poison")
	named, poisoned := content(t, home, "content", "content"), content(t, home, "genuine", "poison")
	content(t, home, "unnamed", "unnamed")
	files := map[string]string{"/p/go.sum": sums + changed + "example.com/absent v1.0.0 h1:AAAA\n",
		"/p/web/package-lock.json": `{"packages": {"": {"name": "p"}, "node_modules/a": {"version": "1.0.0", "integrity": "` + integrity("content") +
			`"}, "node_modules/b": {"integrity": "sha1-AAAA ` + integrity("genuine") + `?x"}}}`}
	refused, err := to.Fill(home, "/p", "first", locks(files))
	want := []string{"npm/" + named, "proxy/example.com/changed/@v/v1.0.0.info", "proxy/example.com/changed/@v/v1.0.0.mod",
		"proxy/example.com/named/@v/v1.0.0.info", "proxy/example.com/named/@v/v1.0.0.mod", "proxy/example.com/named/@v/v1.0.0.zip"}
	if got := to.files(); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v\n%q\nwant\n%q", err, got, want)
	}
	zip := filepath.Join(home, downloads, "example.com/changed/@v/v1.0.0.zip")
	if want := []string{filepath.Join(home, ".npm/_cacache", poisoned), zip}; !slices.Equal(refused, want) {
		t.Errorf("refused %q, want %q", refused, want)
	}
	if data, _ := os.ReadFile(filepath.Join(to.Proxy(), "example.com/named/@v/v1.0.0.info")); string(data) !=
		`{"Version":"v1.0.0","Time":"2026-01-02T03:04:05Z"}` {
		t.Errorf("of the version it says %s", data)
	}
	// What becomes of the original changes nothing, and nothing is read again.
	cached(t, home, "example.com/named", "v1.0.0", "package x // poison")
	if again, err := to.Fill(home, "/p", "first", nil); err != nil || !slices.Equal(again, refused) {
		t.Error(again, err)
	}
	if sum, _ := dirhash.HashZip(filepath.Join(to.Proxy(), "example.com/named/@v/v1.0.0.zip"), dirhash.Hash1); !strings.Contains(sums, sum) {
		t.Error("a copy is not what it was")
	}
	// A file that was lacking and is there is taken, and so is what another working tree names.
	cached(t, home, "example.com/changed", "v1.0.0", "package x")
	if refused, err := to.Fill(home, "/p", "first", locks(files)); err != nil || len(refused) != 1 {
		t.Error(refused, err)
	}
	if _, err := to.Fill(home, "/tree", "first", locks(map[string]string{"/tree/go.sum": cached(t, home, "example.com/tree", "v1.0.0", "package x")})); err != nil ||
		len(to.files()) != len(want)+1+3 {
		t.Error(to.files(), err)
	}
	// A person who removes the folder gets a new one.
	if err := os.RemoveAll(string(to)); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Fill(home, "/p", "first", locks(files)); err != nil || len(to.files()) == 0 {
		t.Error(to.files(), err)
	}
}

// TestTakenOddly: what is no regular file is not waited for, and a run that was killed leaves nothing that is seen.
func TestTakenOddly(t *testing.T) {
	t.Parallel()
	home, to := t.TempDir(), Taken(filepath.Join(t.TempDir(), "taken"))
	sums := cached(t, home, "example.com/a", "v1.0.0", "package x")
	zip := filepath.Join(home, downloads, "example.com/a/@v/v1.0.0.zip")
	if err := errors.Join(os.Remove(zip), os.Mkdir(zip, 0o700), os.MkdirAll(to.work(), 0o700),
		os.WriteFile(filepath.Join(to.work(), "half"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	refused, err := to.Fill(home, "/p", "x", locks(map[string]string{"go.sum": sums}))
	if err != nil || len(refused) != 1 || exists(to.work()) || len(to.files()) != 2 {
		t.Error(refused, err, to.files())
	}
}

// FuzzLists: whatever a lock file says, it names files in the caches and in the folder only.
func FuzzLists(f *testing.F) {
	f.Add("example.com/A v1.0.0 h1:x=\nexample.com/a v1.0.0/go.mod h1:x=\n")
	f.Add("../../etc v1.0.0 h1:x\nexample.com/../.. v1 h1:x\nexample.com/a ../x h1:x\nexample.com/a v1/../../x h1:x\n/abs v1 h1:x\n")
	f.Add(`{"packages":{"a":{"integrity":"` + integrity("x") + `"}},"integrity":1,"dependencies":{"b":{"integrity":"sha512-../../x"}}}`)
	f.Add(`{"integrity":"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= sha1-x?y"}`)
	f.Fuzz(func(t *testing.T, data string) {
		l := lists{}
		l.sums([]byte(data))
		l.packages([]byte(data))
		for to, i := range l {
			if !fs.ValidPath(to) || !fs.ValidPath(i.from) || !strings.HasPrefix(to, proxyFolder+"/") && !strings.HasPrefix(to, npmFolder+"/") ||
				!strings.HasPrefix(i.from, downloads+"/") && !strings.HasPrefix(i.from, path.Join(".npm/_cacache", npmContent)+"/") {
				t.Errorf("%q is taken from %q", to, i.from)
			}
		}
	})
}
