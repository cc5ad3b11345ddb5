// Package secret finds the values that a configuration only names: in an age file, in the keyring of the operating system, or in
// the environment. It hands values out and keeps none but those of the age file while that is unchanged. No error of it has a value in it.
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

// Options say where secrets are.
type Options struct {
	File     string // age file; empty or absent: there is none
	Identity string // file with the identities that open it
	Required bool   // File was named by somebody: that it is absent is a fault
	Service  string // under which the keyring keeps ours; empty: the keyring is not asked
	Ring     Ring   // nil: the keyring of the operating system
}

// Ring is a keyring.
type Ring interface {
	// Get returns a secret; [ErrAbsent] if the keyring works and has none of that name.
	Get(service, name string) (string, error)
}

// ErrAbsent means that a source works and has no secret of that name.
var ErrAbsent = errors.New("no such secret")

// Store finds secrets. It is safe for concurrent use.
type Store struct {
	options Options

	mu   sync.Mutex
	file opened
}

// New makes a store. Nothing is read before a secret is asked for.
func New(o Options) *Store {
	if o.Ring == nil {
		o.Ring = system{}
	}
	return &Store{options: o}
}

// maxName bounds the name of a secret, in bytes.
const maxName = 128

// IsName reports whether a text can name a secret: letters, digits, "_", "." and "-", with a letter or "_" first.
// (A regular expression with such a bound costs every start of the program half a millisecond.)
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

// Lookup finds a secret. environ is the environment to look in, which only [Any] does, and last: whoever starts the program could
// otherwise put a value of his own in the place of one that was stored. The error says where was looked and how to put it there.
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
			return "", fmt.Errorf("secret %s: %w", name, err) // what is there and cannot be opened is not passed over
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

// MissingError is a secret that no source has.
type MissingError struct {
	Name  string
	tried []error
}

func (e *MissingError) Error() string {
	text := "secret " + e.Name + " is nowhere"
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

// noSourceError is a source that is not there.
type noSourceError struct{ what string }

func (e *noSourceError) Error() string { return e.what }
