package held

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/credential"
)

// pairs are the names and values of JSON, and of the attributes of XML, wherever they stand on a line.
var pairs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`["']([\w.:/@-]{2,80})["']\s*(?::|=>|,)\s*["']([^"'\n]{4,})["']|key="([^"]{2,80})"\s+value="([^"\n]{4,})"`)
})

// mostPairs bounds the pairs that are looked at.
const mostPairs = 10_000

// assigns reports whether a text gives a value to the name of a secret: TOKEN=x, "password": "x", //host/:_authToken=x.
func assigns(s string) bool {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			name, value, ok = strings.Cut(line, ":")
		}
		if ok && secretValue(name, value) {
			return true
		}
	}
	if !strings.ContainsAny(s, `"'`) {
		return false
	}
	composer := slices.ContainsFunc([]string{`"http-basic"`, `"github-oauth"`, `"gitlab-token"`, `"gitlab-oauth"`, `"bearer"`},
		func(key string) bool { return strings.Contains(s, key) })
	for _, m := range pairs().FindAllStringSubmatch(s, mostPairs) {
		if secretValue(m[1]+m[3], m[2]+m[4]) || composer && literal("", m[2]) {
			return true
		}
	}
	return false
}

// secretValue reports whether a name is that of a secret and its value is one.
func secretValue(name, value string) bool {
	name = strings.Trim(strings.TrimPrefix(strings.TrimSpace(name), "export "), ` "'<>-`)
	name = name[strings.LastIndexAny(name, ":/. ")+1:]
	if name == "" || len(name) > 80 || !credential.Sensitive(name, false) && !credential.EndsSensitive(name) &&
		!credential.Variable(name) || credential.Leads(name) {
		return false
	}
	return literal(name, value)
}

// literal reports whether a value may be a secret: it is written out, and is no placeholder, word or number.
func literal(name, value string) bool {
	value = strings.Trim(strings.TrimRight(strings.TrimSpace(value), ",;"), ` "'`)
	lower := strings.ToLower(value)
	switch {
	case len(value) < 4, strings.ContainsAny(value, " \t<>{}"), value[0] == '$', value[0] == '%',
		strings.Trim(value, "0123456789") == "",
		slices.Contains([]string{"true", "false", "null", "none", "always", "never", "basic", "bearer"}, lower),
		name != "" && strings.EqualFold(name, value):
		return false
	}
	for _, word := range [...]string{"xxxx", "your", "changeme", "change_me", "change-me", "placeholder", "example", "redacted", "****",
		"secret_here", "token_here"} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return true
}

// publicBlocks are the kinds of PEM blocks that everybody may see.
var publicBlocks = []string{"CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE", "X509 CRL", "CERTIFICATE REQUEST",
	"NEW CERTIFICATE REQUEST", "PUBLIC KEY", "RSA PUBLIC KEY", "EC PUBLIC KEY", "SSH2 PUBLIC KEY", "PGP PUBLIC KEY BLOCK", "EC PARAMETERS",
	"DH PARAMETERS", "PKCS7", "CMS"}

// public reports whether a text has PEM blocks, and only such as everybody may see.
func public(s string) bool {
	const begin = "-----BEGIN "
	n := 0
	for {
		_, rest, ok := strings.Cut(s, begin)
		if !ok {
			return n > 0
		}
		kind, after, ok := strings.Cut(rest, "-----")
		if !ok || !slices.Contains(publicBlocks, kind) {
			return false
		}
		s = after
		n++
	}
}
