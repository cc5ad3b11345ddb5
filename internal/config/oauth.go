package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/config/servers"
	"mycelium/internal/config/source"
	"mycelium/internal/lazy"
)

// OAuth is the server.oauth section: whose access tokens clients may bring, and what roles they allow.
type OAuth struct {
	Resource   string            `yaml:"resource" json:"resource" about:"the URL of this gateway for clients, and the audience of their tokens"`
	Issuers    []string          `yaml:"issuers" json:"issuers" about:"the identity providers whose tokens count"`
	JWKS       map[string]string `yaml:"jwks" json:"jwks,omitempty" about:"issuer → URL of its keys, if its metadata does not name them"`
	Audience   []string          `yaml:"audience" json:"audience,omitempty" about:"further audiences that mean this gateway"`
	Scopes     []string          `yaml:"scopes" json:"scopes,omitempty" about:"that a token must have"`
	Algorithms []string          `yaml:"algorithms" json:"algorithms,omitempty" about:"some of RS, PS and ES 256/384/512 and EdDSA; absent: all of these"`
	Claims     OAuthClaims       `yaml:"claims" json:"claims,omitzero" about:"which claims of a token name the person and the roles"`
	Roles      map[string]string `yaml:"roles" json:"roles,omitempty" about:"value of a claim → role; absent: the values are roles"`
	Skew       source.Duration   `yaml:"skew" json:"skew,omitzero" about:"0: 30 s"`

	// Bound are the roles that tokens may give in a project, from the user's session section; nil: any.
	Bound []string `yaml:"-" json:"-"`
}

// OAuthClaims names the claims with the principal and its roles. A dot leads into an object: realm_access.roles.
type OAuthClaims struct {
	Principal string `yaml:"principal" json:"principal,omitempty" about:"default sub"`
	Role      string `yaml:"role" json:"role,omitempty" about:"default role"`
	May       string `yaml:"may" json:"may,omitempty" about:"the claim with further roles that the person may take"`
}

// The defaults of server.oauth.
const (
	defaultSkew      = source.Duration(30 * time.Second)
	DefaultRoleClaim = "role"
	maxSkew          = source.Duration(5 * time.Minute)
)

// oauthAlgorithms are the algorithms with a public key. With a shared secret, whoever checks a token could also make one.
var oauthAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

var (
	scopeToken = lazy.Regexp(`^[\x21\x23-\x5B\x5D-\x7E]+$`) // RFC 6749, 3.3
	portNumber = lazy.Regexp(`^[0-9]{1,5}$`)
	hostName   = lazy.Regexp(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// fill sets the defaults.
func (o *OAuth) fill() {
	if o.Algorithms == nil {
		o.Algorithms = oauthAlgorithms
	}
	if o.Skew == 0 {
		o.Skew = defaultSkew
	}
	if o.Claims.Role == "" {
		o.Claims.Role = DefaultRoleClaim
	}
}

// checkHosts checks server.hosts.
func checkHosts(hosts []string, bad source.Report) {
	for i, h := range hosts {
		name, port, err := net.SplitHostPort(h)
		if err != nil {
			name, port = h, "1"
		}
		_, ip := netip.ParseAddr(strings.Trim(name, "[]"))
		if ip != nil && !hostName().MatchString(name) || !portNumber().MatchString(port) {
			bad(fmt.Sprintf("server.hosts[%d]", i), "server.hosts names "+strconv.Quote(h),
				"write a name such as mcp.example.com, without scheme and path; wildcards are not read")
		}
	}
}

// check checks server.oauth.
func (o *OAuth) check(bad source.Report) {
	key := func(name string) string { return "server.oauth." + name }
	switch u, err := url.Parse(o.Resource); {
	case o.Resource == "":
		bad("server.oauth", "server.oauth does not name the resource",
			"write the URL by which clients reach this gateway, such as resource: https://mcp.example.com/mcp")
	case err != nil || !overTLS(u) || u.Fragment != "" || u.RawQuery != "" || u.User != nil:
		bad(key("resource"), "server.oauth.resource is "+strconv.Quote(o.Resource),
			"write the https URL by which clients reach this gateway, such as https://mcp.example.com/mcp")
	}
	if len(o.Issuers) == 0 {
		bad("server.oauth", "server.oauth names no issuer", "write issuers: [https://login.example.com]")
	}
	for i, name := range o.Issuers {
		if u, err := url.Parse(name); err != nil || !overTLS(u) || u.Fragment != "" || u.RawQuery != "" || u.User != nil {
			bad(fmt.Sprintf("server.oauth.issuers[%d]", i), "server.oauth.issuers names "+strconv.Quote(name),
				"write the issuer exactly as its tokens do (iss): an https URL")
		}
	}
	for name, at := range o.JWKS {
		if u, err := url.Parse(at); err != nil || !overTLS(u) {
			bad(key("jwks"), "server.oauth.jwks has "+strconv.Quote(at), "write an https URL")
		}
		if !slices.Contains(o.Issuers, name) {
			bad(key("jwks"), "server.oauth.jwks has the issuer "+strconv.Quote(name)+", which is not under issuers",
				"write it under issuers too, exactly as its tokens say it")
		}
	}
	for i, a := range o.Algorithms {
		if !slices.Contains(oauthAlgorithms, a) {
			bad(fmt.Sprintf("server.oauth.algorithms[%d]", i), "server.oauth.algorithms names "+strconv.Quote(a), source.Suggest(a, oauthAlgorithms))
		}
	}
	if o.Algorithms != nil && len(o.Algorithms) == 0 {
		bad(key("algorithms"), "server.oauth.algorithms is empty: no token could be good", "leave it out, or name one")
	}
	for i, s := range o.Scopes {
		if !scopeToken().MatchString(s) {
			bad(fmt.Sprintf("server.oauth.scopes[%d]", i), "server.oauth.scopes names "+strconv.Quote(s),
				"one entry is one scope, without spaces and quotes")
		}
	}
	for _, a := range o.Audience {
		if a == "" {
			bad(key("audience"), "server.oauth.audience has an empty entry", "leave it out: the resource itself always counts")
		}
	}
	for value, role := range o.Roles {
		if !roleID.MatchString(role) {
			bad(key("roles"), "server.oauth.roles gives "+strconv.Quote(value)+" the role "+strconv.Quote(role),
				"use 1 to 64 of the characters A-Z a-z 0-9 . _ -")
		}
	}
	if o.Skew > maxSkew {
		bad(key("skew"), "server.oauth.skew is "+strconv.Quote(time.Duration(o.Skew).String()),
			"write 5m or less: so long an expired token stays good")
	}
}

// overTLS reports whether a URL is absolute and https, or on this machine.
func overTLS(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && servers.IsLoopback(u.Hostname()))
}
