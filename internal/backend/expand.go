package backend

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/secret"
)

// variables is an environment as a map. The last value of a name wins, as it does for a process.
type variables map[string]string

func environment(list []string) variables {
	m := make(variables, len(list))
	for _, kv := range list {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			m[k] = v
		}
	}
	return m
}

// missingError names the variables of a server's entry that have no value.
type missingError struct{ names []string }

func (e *missingError) Error() string {
	if len(e.names) == 1 {
		return "variable " + e.names[0] + " is not set"
	}
	return "variables " + strings.Join(e.names, ", ") + " are not set"
}

// Hint is how to mend it.
func (e *missingError) Hint() string {
	if len(e.names) == 1 {
		return fmt.Sprintf("export %s before starting, name it under `env:` in mycelium.yaml, or write ${%[1]s:-default}", e.names[0])
	}
	return "export them before starting, name them under `env:` in mycelium.yaml, or write ${NAME:-default}"
}

// Absent reports whether an error of [Pool.Expand] says only that variables or secrets have no value here.
func Absent(err error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(several.Unwrap(), func(e error) bool { return !Absent(e) })
	}
	var variable *missingError
	var missing *secret.MissingError
	return errors.As(err, &variable) || errors.As(err, &missing)
}

// lookup finds a secret that an entry names.
type lookup func(source, name string) (string, error)

// expander replaces ${VAR}, ${VAR:-default}, ${secret:NAME} and the like. It remembers the values, so that they can be kept out of
// everything that people or agents read, and the variables that had no value.
type expander struct {
	vars    variables
	find    lookup            // nil: secrets are not looked up
	unasked bool              // a secret was not looked up
	faults  []error           // secrets that could not be found
	used    map[string]string // name → value
	missing []string
}

// expand replaces the references in s. A reference is "${NAME}" or "${NAME:-DEFAULT}", where NAME is [A-Za-z_][A-Za-z0-9_]* or the name
// of a secret with its source before it, and DEFAULT has no "}". Other text stays as it is, "$VAR" without braces too. With ":-" an empty
// value counts as missing, as in a shell. Values are not expanded again.
func (x *expander) expand(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		name, fallback, hasFallback, size := reference(s[i:])
		if size == 0 {
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		s = s[i+size:]
		value, ok := x.value(name, hasFallback)
		switch {
		case ok && (value != "" || !hasFallback):
			b.WriteString(value)
			if x.used == nil {
				x.used = map[string]string{}
			}
			x.used[name] = value
		case hasFallback:
			b.WriteString(fallback)
		case isSecret(name): // value has recorded why it is missing
		default:
			if !slices.Contains(x.missing, name) {
				x.missing = append(x.missing, name)
			}
		}
	}
}

// Expand expands variables and secrets in a text of the configuration that does not belong to a server.
func (p *Pool) Expand(s string) (string, error) {
	x := &expander{vars: p.variables(), find: p.secret}
	out := x.expand(s)
	if x.missing != nil {
		return "", &missingError{names: x.missing}
	}
	return out, errors.Join(x.faults...)
}

// value is the value of a name.
func (x *expander) value(name string, hasFallback bool) (string, bool) {
	source, secretName, ok := strings.Cut(name, ":")
	if !ok {
		v, ok := x.vars[name]
		return v, ok
	}
	if x.find == nil {
		x.unasked = true
		return "", false
	}
	v, err := x.find(source, secretName)
	var missing *secret.MissingError
	if err != nil && (!hasFallback || !errors.As(err, &missing)) {
		x.faults = append(x.faults, err)
	}
	return v, err == nil
}

// isSecret reports whether a name is that of a secret: SOURCE:NAME.
func isSecret(name string) bool {
	source, rest, ok := strings.Cut(name, ":")
	return ok && secret.IsSource(source) && secret.IsName(rest)
}

// reference reads the reference at the start of s. size is 0 if there is none.
func reference(s string) (name, fallback string, hasFallback bool, size int) {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return "", "", false, 0
	}
	name, fallback, hasFallback = strings.Cut(s[len("${"):end], ":-")
	if !isVariable(name) && !isSecret(name) {
		return "", "", false, 0
	}
	return name, fallback, hasFallback, end + 1
}

func isVariable(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
