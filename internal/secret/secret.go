// Package secret finds the values of secrets that a configuration names: in an age file, in the keyring of the operating system, or in the
// environment. It caches only the values of the age file, while the file is unchanged. Its errors contain no values.
package secret

import (
	"errors"
	"fmt"
	"sync"
)

// The sources that a reference can name.
const (
	Any     = "secret"  // the age file, then the keyring, then the environment
	Age     = "age"     // the age file only
	Keyring = "keyring" // the keyring only
)

// Options say where the secrets are.
type Options struct {
	File     string // age file; empty: no file
	Identity string // file with the identities that decrypt File
	Required bool   // a missing File is an error, because the configuration names it
	Service  string // service name of the secrets in the keyring; empty: the keyring is not used
	Ring     Ring   // nil: the keyring of the operating system
}

// Ring is a keyring.
type Ring interface {
	// Get returns a secret, or [ErrAbsent] if the keyring works and does not have it.
	Get(service, name string) (string, error)
}

// ErrAbsent means that a source works and does not have the secret.
var ErrAbsent = errors.New("no such secret")

// Store finds secrets. It is safe for concurrent use.
type Store struct {
	options Options

	mu   sync.Mutex
	file opened
}

// New returns a store. It reads nothing before the first Lookup.
func New(o Options) *Store {
	if o.Ring == nil {
		o.Ring = system{}
	}
	return &Store{options: o}
}

// maxName bounds the name of a secret, in bytes.
const maxName = 128

// IsName reports whether a text can name a secret: letters, digits, "_", "." and "-", with a letter or "_" first.
// (A regular expression with such a bound would cost half a millisecond at every start.)
func IsName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		later := c >= '0' && c <= '9' || c == '.' || c == '-'
		if !letter && (i == 0 || !later) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxName
}

// IsSource reports whether a text is one of the sources.
func IsSource(s string) bool { return s == Any || s == Age || s == Keyring }

// Lookup finds a secret. Only [Any] searches the environment environ, and it does so last, so that whoever starts the program cannot
// replace a stored value. The error names the sources that were searched.
func (s *Store) Lookup(source, name string, environ func(name string) (string, bool)) (string, error) {
	if !IsName(name) {
		return "", fmt.Errorf("%q cannot name a secret: use letters, digits, _ . and -", name)
	}
	var tried []error
	for _, from := range []struct {
		source string
		get    func(string) (string, error)
	}{{Age, s.fromFile}, {Keyring, s.fromRing}} {
		if source != Any && source != from.source {
			continue
		}
		value, err := from.get(name)
		var none *noSourceError
		switch {
		case err == nil && value != "":
			return value, nil
		case err == nil:
			return "", fmt.Errorf("secret %s is empty in the %s", name, from.source)
		case from.source == Age && !errors.Is(err, ErrAbsent) && !errors.As(err, &none):
			return "", fmt.Errorf("secret %s: %w", name, err) // a file that exists and cannot be opened is not skipped
		}
		tried = append(tried, err)
	}
	if source == Any && environ != nil {
		if value, ok := environ(name); ok && value != "" {
			return value, nil
		}
		tried = append(tried, errors.New("the environment has no variable of that name"))
	}
	return "", &MissingError{Name: name, tried: tried}
}

// MissingError reports a secret that no source has.
type MissingError struct {
	Name  string
	tried []error
}

func (e *MissingError) Error() string {
	text := "secret " + e.Name + " is not found"
	for i, err := range e.tried {
		if i == 0 {
			text += ": "
		} else {
			text += "; "
		}
		text += err.Error()
	}
	return text
}

// noSourceError reports a source that does not exist.
type noSourceError struct{ what string }

func (e *noSourceError) Error() string { return e.what }
