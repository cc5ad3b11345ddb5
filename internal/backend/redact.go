package backend

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"

	"mycelium/internal/rawjson"
)

// minSecret is the length from which a value that was expanded is kept out of what people read. Shorter ones ("1", "en") are no
// secrets, and replacing them would make every text unreadable.
const minSecret = 4

// redactor replaces values by the names under which they were configured: "${TOKEN}".
type redactor struct {
	pairs   []pair // longest value first
	longest int
	live    *liveSecrets // tokens that came later; nil: there can be none
}

type pair struct{ value, name string }

// newRedactor collects what must not be shown: every value that a ${VAR} put in, and the values of headers and of variables whose
// names say that they are secret, also where the entry has them literally.
func newRedactor(used map[string]string, s *Server, l *launch) redactor {
	var r redactor
	for name, value := range used {
		r.add(value, "${"+name+"}")
	}
	for name, value := range l.headers {
		r.add(value, "["+name+"]")
		if _, token, ok := strings.Cut(value, " "); ok { // "Bearer …" shows up without its scheme too
			r.add(token, "["+name+"]")
		}
	}
	if o := l.oauth; o != nil {
		r.add(o.ClientSecret, "[clientSecret]")
		r.add(o.PrivateKey, "[privateKey]")
	}
	for _, kv := range l.env {
		name, value, _ := strings.Cut(kv, "=")
		if _, own := s.Env[name]; own && soundsSecret(name) {
			r.add(value, "["+name+"]")
		}
	}
	r.sort()
	return r
}

// sort puts the longest value first, of which a shorter one may be a part.
func (r *redactor) sort() {
	slices.SortFunc(r.pairs, func(a, b pair) int {
		if len(a.value) != len(b.value) {
			return len(b.value) - len(a.value)
		}
		return strings.Compare(b.value+b.name, a.value+a.name)
	})
	for _, p := range r.pairs {
		r.longest = max(r.longest, len(p.value))
	}
}

func soundsSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED"}, func(w string) bool {
		return strings.Contains(name, w)
	})
}

// add takes a value in the forms in which it may come back: as it is, escaped for a URL, and inside a JSON string.
func (r *redactor) add(value, name string) {
	if len(value) < minSecret {
		return
	}
	quoted := rawjson.Quote(value)
	for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), string(quoted[1 : len(quoted)-1])} {
		if !slices.ContainsFunc(r.pairs, func(p pair) bool { return p.value == form }) {
			r.pairs = append(r.pairs, pair{form, name})
		}
	}
}

// text replaces every value in s.
func (r redactor) text(s string) string {
	for _, p := range r.pairs {
		s = strings.ReplaceAll(s, p.value, p.name)
	}
	return r.live.text(s)
}

// error is an error whose text has no such value. One that sends a person to log in stays what it is: it has none.
func (r redactor) error(err error) error {
	var login *AuthorizationError
	if errors.As(err, &login) {
		return login
	}
	return errors.New(r.text(err.Error()))
}

// json replaces every value in a JSON text; b itself is returned if it has none.
func (r redactor) json(b []byte) []byte {
	for _, p := range r.pairs {
		if bytes.Contains(b, []byte(p.value)) {
			b = bytes.ReplaceAll(b, []byte(p.value), []byte(p.name))
		}
	}
	return r.live.replace(b)
}
