package backend

import (
	"strings"

	"mycelium/internal/backend/redact"
	"mycelium/internal/credential"
)

// secretsOf collects what must not be shown: every value of a ${VAR}, and the values of headers and of variables with the name of a secret,
// even if the entry has them literally.
func secretsOf(used map[string]string, s *Server, l *launch) redact.Redactor {
	var r redact.Redactor
	for name, value := range used {
		r.Add(value, "${"+name+"}")
	}
	for name, value := range l.Headers {
		r.Add(value, "["+name+"]")
		if _, token, ok := strings.Cut(value, " "); ok { // "Bearer …" shows up without its scheme too
			r.Add(token, "["+name+"]")
		}
	}
	if o := l.oauth; o != nil {
		r.Add(o.ClientSecret, "[clientSecret]")
		r.Add(o.PrivateKey, "[privateKey]")
	}
	for _, kv := range l.Env {
		name, value, _ := strings.Cut(kv, "=")
		if _, own := s.Env[name]; own && credential.MayBeVariable(name) {
			r.Add(value, "["+name+"]")
		}
	}
	r.Sort()
	return r
}
