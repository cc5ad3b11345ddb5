package certificate

import (
	"crypto/ecdsa"
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOwn: a certificate is made once, for names and addresses, and anew before its end, for another name, or if it was removed.
func TestOwn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pages")
	start := time.Now()
	own := func(now time.Time, names ...string) string {
		t.Helper()
		c, err := Own(dir, names, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := c.Leaf.VerifyHostname(name); err != nil {
				t.Error(err)
			}
		}
		if _, ok := c.PrivateKey.(*ecdsa.PrivateKey); !ok || c.Leaf.NotAfter.Sub(c.Leaf.NotBefore) > 398*24*time.Hour {
			t.Errorf("%T, from %v to %v", c.PrivateKey, c.Leaf.NotBefore, c.Leaf.NotAfter)
		}
		return Fingerprint(c)
	}
	names := []string{"127.0.0.1", "::1", "localhost", "Desk.example"}
	first := own(start, names...)
	for what, again := range map[string]string{"at once": own(start, names...), "for fewer names": own(start, "::1"),
		"for a year": own(start.Add(365*24*time.Hour), names...)} {
		if again != first {
			t.Errorf("%s: another certificate", what)
		}
	}
	soon := own(start.Add(367*24*time.Hour), names...)
	if soon == first {
		t.Error("it is kept until its end")
	}
	other := own(start.Add(367*24*time.Hour), append(names, "192.0.2.7")...)
	if other == soon {
		t.Error("it is kept for an address that it does not have")
	}
	if st, err := os.Stat(filepath.Join(dir, "tls.pem")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.pem"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Own(dir, names, start); err == nil {
		t.Error("a damaged file is replaced without a word")
	}
}

// TestSource: a certificate that took the place of another is handed out within a minute, and one that cannot be read is not.
func TestSource(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	file := filepath.Join(dir, "given.pem")
	put := func(names ...string) string {
		t.Helper()
		text, err := fresh(names, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Given(file, file)
		if err != nil {
			t.Fatal(err)
		}
		return Fingerprint(c)
	}
	first := put("a.example")
	s, err := NewSource(func() (tls.Certificate, error) { return Given(file, file) }, func() time.Time { return now })
	if err != nil || Fingerprint(s.Now()) != first {
		t.Fatal(err)
	}
	second := put("a.example")
	if Fingerprint(s.Now()) != first {
		t.Error("it is looked for at once")
	}
	now = now.Add(time.Minute)
	if Fingerprint(s.Now()) != second {
		t.Error("the new one is not taken up")
	}
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if Fingerprint(s.Now()) != second {
		t.Error("what cannot be read took its place")
	}
	if _, err := NewSource(func() (tls.Certificate, error) { return Given(file, file) }, time.Now); err == nil {
		t.Error("it begins with what cannot be read")
	}
}
