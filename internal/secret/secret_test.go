package secret

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"
)

// safe is an age file with its identity.
type safe struct {
	t        *testing.T
	file     string
	identity string
	key      *age.X25519Identity
}

func newSafe(t *testing.T, text string) *safe {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &safe{t: t, file: filepath.Join(dir, "secrets.age"), identity: filepath.Join(dir, "age.key"), key: key}
	if err := os.WriteFile(s.identity, []byte("# created: today\n"+key.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.put(text, false)
	return s
}

// put seals a text, as `age -r` and `age -a -r` do.
func (s *safe) put(text string, armored bool) {
	s.t.Helper()
	var out bytes.Buffer
	var to io.WriteCloser = nopCloser{&out}
	if armored {
		to = armor.NewWriter(&out)
	}
	w, err := age.Encrypt(to, s.key.Recipient())
	if err != nil {
		s.t.Fatal(err)
	}
	_, werr := io.WriteString(w, text)
	if err := errors.Join(werr, w.Close(), to.Close(), os.WriteFile(s.file, out.Bytes(), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (s *safe) options() Options { return Options{File: s.file, Identity: s.identity, Ring: ring{}} }

// ring is a keyring that is unlocked.
type ring map[string]string

func (r ring) Get(service, name string) (string, error) {
	if v, ok := r[service+"/"+name]; ok {
		return v, nil
	}
	return "", ErrAbsent
}

func environ(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// TestOrder: the age file, the keyring, the environment; a source that is named is the only one.
func TestOrder(t *testing.T) {
	f := newSafe(t, "BOTH=of-the-file\nFILE=f\nEMPTY=\n")
	o := f.options()
	o.Service, o.Ring = "svc", ring{"svc/BOTH": "of-the-ring", "svc/RING": "r", "svc/EVERY": "e", "other/FOREIGN": "x"}
	s := New(o)
	env := environ("BOTH", "of-the-environment", "RING", "no", "ENV", "v", "EMPTYENV", "")
	for ref, want := range map[[2]string]string{
		{Any, "BOTH"}: "of-the-file", {Any, "FILE"}: "f", {Any, "RING"}: "r", {Any, "ENV"}: "v",
		{Age, "BOTH"}: "of-the-file", {Keyring, "BOTH"}: "of-the-ring",
	} {
		if got, err := s.Lookup(ref[0], ref[1], env); got != want || err != nil {
			t.Errorf("%v: %q, %v", ref, got, err)
		}
	}
	for ref, want := range map[[2]string]string{
		{Any, "NONE"}: "secret NONE is not found: the age file " + f.file +
			" does not have it: no such secret; the keyring has no secret of that name under svc: no such secret; the environment has no " +
			"variable of that name",
		{Age, "RING"}:     "secret RING is not found: the age file " + f.file + " does not have it: no such secret",
		{Keyring, "FILE"}: "secret FILE is not found: the keyring has no secret of that name under svc: no such secret",
		{Keyring, "ENV"}:  "secret ENV is not found: the keyring has no secret of that name under svc: no such secret",
		{Any, "FOREIGN"}: "secret FOREIGN is not found: the age file " + f.file +
			" does not have it: no such secret; the keyring has no secret of that name under svc: no such secret; the environment has no " +
			"variable of that name",
		{Any, "EMPTY"}: "secret EMPTY is empty in the age",
		{Any, "EMPTYENV"}: "secret EMPTYENV is not found: the age file " + f.file +
			" does not have it: no such secret; the keyring has no secret of that name under svc: no such secret; the environment has no " +
			"variable of that name",
		{Any, "../etc"}: `"../etc" cannot name a secret: use letters, digits, _ . and -`,
		{Any, ""}:       `"" cannot name a secret: use letters, digits, _ . and -`,
	} {
		if got, err := s.Lookup(ref[0], ref[1], env); got != "" || err == nil || err.Error() != want {
			t.Errorf("%v: %q, %v", ref, got, err)
		}
	}
	var missing *MissingError
	if _, err := s.Lookup(Any, "NONE", nil); !errors.As(err, &missing) || missing.Name != "NONE" {
		t.Errorf("%v", err)
	}
}

// TestFileChanges: what changed is seen, in the armoured form as well.
func TestFileChanges(t *testing.T) {
	f := newSafe(t, "A=1st\n")
	s := New(f.options())
	want := func(text string) {
		t.Helper()
		if got, err := s.Lookup(Age, "A", nil); got != text || err != nil {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	want("1st")
	f.put("A: second\n", true)
	want("second")
	f.put("A: 3rd is here\n", false)
	if err := os.Chtimes(f.file, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	want("3rd is here")
}

// TestFileThatDoesNotOpen: it is never passed over for another source, and what is in it or in the identity is in no error.
func TestFileThatDoesNotOpen(t *testing.T) {
	const canary = "canary-of-a-secret"
	for name, c := range map[string]struct {
		spoil func(*testing.T, *safe)
		want  string
	}{
		"not sealed": {func(t *testing.T, f *safe) { write(t, f.file, "A="+canary, 0o600) }, "age file FILE: not an age file, or damaged"},
		"cut": {func(t *testing.T, f *safe) {
			b, _ := os.ReadFile(f.file)
			write(t, f.file, string(b[:len(b)-3]), 0o600)
		}, "age file FILE: it is damaged"},
		"for somebody else": {func(t *testing.T, f *safe) {
			other, _ := age.GenerateX25519Identity()
			write(t, f.identity, other.String(), 0o600)
		}, "age file FILE: no identity in "},
		"readable identity": {func(_ *testing.T, f *safe) { _ = os.Chmod(f.identity, 0o644) },
			"identity KEY: others can read it (mode 0644); do: chmod 600 KEY"},
		"no identity": {func(_ *testing.T, f *safe) { _ = os.Remove(f.identity) },
			"identity of the age file: stat KEY: no such file or directory (make one with: age-keygen -o KEY)"},
		"not an identity": {func(t *testing.T, f *safe) { write(t, f.identity, canary, 0o600) }, "identity KEY: not a file that age-keygen made"},
		"a folder": {func(_ *testing.T, f *safe) { _ = os.Remove(f.file); _ = os.Mkdir(f.file, 0o700) },
			"age file FILE: not an ordinary file"},
		"words in it": {func(_ *testing.T, f *safe) { f.put("A="+canary+"\n"+canary+"\n", false) },
			"age file FILE: line 2 of its content is neither NAME=value nor NAME: value"},
		"twice": {func(_ *testing.T, f *safe) { f.put("A="+canary+"\n\nA: x\n", false) },
			"age file FILE: line 3 of its content has A for the second time"},
		"open quotes": {func(_ *testing.T, f *safe) { f.put("A=\""+canary+"\n", false) },
			"age file FILE: line 1 of its content: the value of A cannot be read"},
		"a block": {func(_ *testing.T, f *safe) { f.put("A: |-\n  "+canary+"\n", false) },
			"age file FILE: line 1 of its content: the value of A cannot be read"},
		"no text": {func(_ *testing.T, f *safe) { f.put("A=\xff", false) }, "age file FILE: its content is not text"},
	} {
		f := newSafe(t, "A="+canary+"\n")
		c.spoil(t, f)
		got, err := New(f.options()).Lookup(Any, "A", environ("A", "of the environment"))
		want := strings.NewReplacer("FILE", f.file, "KEY", f.identity).Replace(c.want)
		if got != "" || err == nil || !strings.HasPrefix(err.Error(), "secret A: "+want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %q, %v\nwant %s", name, got, err, want)
		}
	}
	// One that nobody named need not be there; one that was named must.
	f := newSafe(t, "")
	if err := os.Remove(f.file); err != nil {
		t.Fatal(err)
	}
	o := f.options()
	if got, err := New(o).Lookup(Any, "A", environ("A", "v")); got != "v" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	o.Required = true
	if got, err := New(o).Lookup(Any, "A", environ("A", "v")); got != "" || err == nil {
		t.Errorf("%q, %v", got, err)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestParse(t *testing.T) {
	const text = "---\n# tokens\nA=plain words \n export B = spaced\nC: yaml form\nD: \"quoted \\\"x\\\" \\n line\"\nE='it=is:raw \\n'\nF=\n" +
		"G.h-1_=x#y\nH: https://user@host/?a=b\nI=a:b=c\nJ: |pipe\n\n\r\nK=last"
	got, err := parse([]byte(text))
	want := map[string]string{
		"A": "plain words", "B": "spaced", "C": "yaml form", "D": "quoted \"x\" \n line", "E": `it=is:raw \n`, "F": "", "G.h-1_": "x#y",
		"H": "https://user@host/?a=b", "I": "a:b=c", "J": "|pipe", "K": "last",
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"A=b", "A: \"\\n\"", "A='x'\nB: y", "=", "A:b", "\"", "A=\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values, err := parse([]byte(s))
		if err != nil && values != nil {
			t.Error("values with an error")
		}
		for name := range values {
			if !IsName(name) {
				t.Errorf("name %q", name)
			}
		}
	})
}

// TestSystemKeyring: what our keyring makes of the library's answers. The library's own stand-in for a keyring takes the place of a
// real one, which needs a D-Bus session with a person's password.
func TestSystemKeyring(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	if _, err := New(Options{Service: "mycelium"}).Lookup(Keyring, "A", nil); err == nil ||
		!strings.Contains(err.Error(), "the keyring does not answer") {
		t.Errorf("without anybody on the bus: %v", err)
	}
	keyring.MockInit()
	if err := keyring.Set("mycelium", "A", "v"); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Service: "mycelium"})
	if got, err := s.Lookup(Any, "A", environ("A", "of the environment")); got != "v" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := s.Lookup(Any, "B", environ("B", "of the environment")); got != "of the environment" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := New(Options{}).Lookup(Keyring, "A", nil); err == nil || !strings.Contains(err.Error(), "secrets.keyring: off") {
		t.Errorf("%v", err)
	}
}
