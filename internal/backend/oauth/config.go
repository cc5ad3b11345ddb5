package oauth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/text"
)

// The grants by which we get a token for a server.
const (
	GrantCode        = "authorization_code" // a person agrees in a browser; the default
	GrantCredentials = "client_credentials" // the client itself is authorized
)

// Config says how we get tokens for a server (`oauth:` in its entry). Every field is optional. Without a Config we register ourselves,
// and a person authorizes us with `myc mcp login`.
type Config struct {
	Grant        string   `yaml:"grant" json:"grant,omitempty" about:"authorization_code: a person agrees in a browser; client_credentials: without a person; absent: authorization_code"`
	ClientID     string   `yaml:"clientId" json:"clientId,omitempty" about:"of a registered client, or the https URL of its metadata"`
	ClientSecret string   `yaml:"clientSecret" json:"clientSecret,omitempty" about:"needs issuer"`
	PrivateKey   string   `yaml:"privateKey" json:"privateKey,omitempty" about:"PEM; instead of a secret (private_key_jwt); needs issuer"`
	KeyID        string   `yaml:"keyId" json:"keyId,omitempty" about:"of privateKey at the authorization server"`
	Scopes       []string `yaml:"scopes" json:"scopes,omitempty" about:"asked for instead of the server's, and no others"`
	Issuer       string   `yaml:"issuer" json:"issuer,omitempty" about:"the only authorization server that is used"`
	Hosts        []string `yaml:"hosts" json:"hosts,omitempty" about:"\"host\" or \"host:port\" that need not be public"`
	Redirect     string   `yaml:"redirect" json:"redirect,omitempty" about:"http://127.0.0.1:PORT/PATH as registered; empty: any port"`
}

// Check checks the texts of a configuration. ${VAR} may stand anywhere but in grant.
func (o *Config) Check() error {
	variable := func(s string) bool { return strings.Contains(s, "${") }
	switch {
	case o.Grant != "" && o.Grant != GrantCode && o.Grant != GrantCredentials:
		return text.Hinted(fmt.Errorf("oauth.grant is %.40q", o.Grant), "write "+GrantCode+" or "+GrantCredentials)
	case o.ClientSecret != "" && o.PrivateKey != "":
		return text.Hinted(errors.New("oauth has clientSecret and privateKey"), "keep one of them")
	case (o.ClientSecret != "" || o.PrivateKey != "") && o.ClientID == "":
		return text.Hinted(errors.New("oauth has a secret and no clientId"), "write the clientId that it belongs to")
	case (o.ClientSecret != "" || o.PrivateKey != "") && o.Issuer == "":
		return text.Hinted(errors.New("oauth has a secret and no issuer, so that the server could have it sent anywhere"),
			"write issuer: the URL of the authorization server that the client is registered at")
	case o.Grant == GrantCredentials && o.ClientSecret == "" && o.PrivateKey == "":
		return errors.New("oauth.grant client_credentials needs clientId with clientSecret or privateKey")
	case o.KeyID != "" && o.PrivateKey == "":
		return text.Hinted(errors.New("oauth.keyId names no key"), "write privateKey, or remove keyId")
	}
	if o.Issuer != "" && !variable(o.Issuer) {
		u, err := url.Parse(o.Issuer)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !httpclient.IsLoopback(u.Hostname())) {
			return text.Hinted(errors.New("oauth.issuer is not an https address"),
				"write it as the authorization server names itself, for instance https://login.example.com")
		}
	}
	if o.Redirect != "" && !variable(o.Redirect) {
		if err := checkRedirect(o.Redirect); err != nil {
			return err
		}
	}
	for _, s := range o.Scopes {
		if !isScope(s) && !variable(s) {
			return text.Hinted(fmt.Errorf("oauth.scopes names %.40q", s), "a scope has no spaces and no quotes; write one per entry")
		}
	}
	for _, h := range o.Hosts {
		if h == "" || strings.ContainsAny(h, "/@ *?#") {
			return text.Hinted(fmt.Errorf("oauth.hosts names %.60q", h), "write a host, or host:port, without scheme and path")
		}
	}
	return nil
}

// checkRedirect refuses a redirect address that is not on this machine, because we could not listen there.
func checkRedirect(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || !httpclient.IsLoopback(u.Hostname()) || u.Port() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return text.Hinted(fmt.Errorf("oauth.redirect is %.80q", s),
			"write it as it is registered, like http://127.0.0.1:8765/callback; it must be on this machine")
	}
	return nil
}

// isScope reports whether s is one scope-token of RFC 6749.
func isScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return s != "" && len(s) <= 200
}

// maxScopes bounds the scopes that a server can make us ask for.
const maxScopes = 64

// scopesOf returns the valid scopes of a list, each once.
func scopesOf(list []string) []string {
	var out []string
	for _, s := range list {
		if isScope(s) && !slices.Contains(out, s) && len(out) < maxScopes {
			out = append(out, s)
		}
	}
	return out
}

// Expand returns a copy in which expand has replaced the variables of every text.
func (o *Config) Expand(expand func(string) string) *Config {
	c := *o
	for _, s := range []*string{&c.ClientID, &c.ClientSecret, &c.PrivateKey, &c.KeyID, &c.Issuer, &c.Redirect} {
		*s = expand(*s)
	}
	c.Scopes, c.Hosts = slices.Clone(o.Scopes), slices.Clone(o.Hosts)
	for _, list := range [][]string{c.Scopes, c.Hosts} {
		for i := range list {
			list[i] = expand(list[i])
		}
	}
	return &c
}
