package oauth

import (
	"net/http"
	"strings"
)

// challenge says which authorization a server wants.
type challenge struct {
	metadata     string   // address of the server's metadata; empty: not given
	scopes       []string // that the server wants; nil: not given
	bearer       bool     // the server asks for a bearer token
	insufficient bool     // the token is valid, but lacks scopes
}

// challengeOf reads a refusal. It returns false if another token would not help.
func challengeOf(res *http.Response) (challenge, bool) {
	if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
		return challenge{}, false
	}
	var c challenge
	for _, p := range bearerParams(res.Header.Values("WWW-Authenticate")) {
		if c.metadata == "" {
			c.metadata = p["resource_metadata"]
		}
		if s := p["scope"]; s != "" && c.scopes == nil {
			c.scopes = scopesOf(strings.Fields(s))
		}
		c.bearer = true
		c.insufficient = c.insufficient || p["error"] == "insufficient_scope"
	}
	return c, res.StatusCode == http.StatusUnauthorized || c.insufficient
}

// bearerParams are the parameters of each Bearer challenge in WWW-Authenticate headers (RFC 9110, 11.6.1): a scheme, then key=value pairs
// with commas. A value is a token or a quoted string. The rest of a header that cannot be parsed is ignored.
func bearerParams(headers []string) []map[string]string {
	var all []map[string]string
	for _, h := range headers {
		var in map[string]string // of the current challenge; nil: it has another scheme
		for h = strings.TrimLeft(h, " \t,"); h != ""; h = strings.TrimLeft(h, " \t,") {
			word := tokenPrefix(h)
			if word == "" {
				break
			}
			rest := strings.TrimLeft(h[len(word):], " \t")
			if !strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "==") { // a scheme
				in = nil
				if strings.EqualFold(word, "Bearer") {
					in = map[string]string{}
					all = append(all, in)
				}
				h = h[len(word):]
				continue
			}
			value, after, ok := paramValue(strings.TrimLeft(rest[1:], " \t"))
			if !ok {
				break
			}
			if key := strings.ToLower(word); in != nil {
				if _, twice := in[key]; !twice {
					in[key] = value
				}
			}
			h = after
		}
	}
	return all
}

// tokenPrefix is the token at the start of s (RFC 9110), or the token68 of another scheme.
func tokenPrefix(s string) string {
	i := 0
	for i < len(s) && (strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~/", s[i]) >= 0) {
		i++
	}
	return s[:i]
}

// paramValue reads a token or a quoted string.
func paramValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		i := strings.IndexAny(s, ", \t")
		if i < 0 {
			i = len(s)
		}
		return s[:i], s[i:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}
