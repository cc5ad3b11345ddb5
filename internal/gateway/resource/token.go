package resource

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gate/session"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// Bounds of a token, in bytes. A longer token is refused unread. OpenID Connect bounds sub to 255.
const (
	maxToken  = 16 << 10
	maxName   = 255
	maxValues = 64 // of a claim with roles
)

// tokenHeader is the JOSE header of a token, as far as we use it. The members by which a token could bring its own key (jwk, jku, x5u …)
// are not read.
type tokenHeader struct {
	Alg  string         `json:"alg"`
	Kid  string         `json:"kid"`
	Typ  string         `json:"typ"`
	Crit jsontext.Value `json:"crit"`
}

// tokenTypes are the accepted values of typ in lower case: that of RFC 9068, and those of issuers that do not follow it. Other tokens,
// such as logout tokens and DPoP proofs, are signed with the same keys and have other types.
var tokenTypes = []string{"", "at+jwt", "application/at+jwt", "jwt"}

// tokenClaims are the claims whose meaning is not configured.
type tokenClaims struct {
	Issuer    string         `json:"iss"`
	Subject   string         `json:"sub"`
	Audience  words          `json:"aud"`
	Expires   *float64       `json:"exp"`
	NotBefore *float64       `json:"nbf"`
	Issued    *float64       `json:"iat"`
	Scope     words          `json:"scope"`
	Scp       words          `json:"scp"` // the same, as some issuers spell it
	Client    string         `json:"client_id"`
	Party     string         `json:"azp"` // the same, as some issuers spell it
	Confirm   jsontext.Value `json:"cnf"`
}

// words is a claim that is a string or a list of strings.
type words []string

// UnmarshalJSON reads either form.
func (w *words) UnmarshalJSON(b []byte) error {
	if text, ok := rawjson.Text(b); ok {
		*w = words{text}
		return nil
	}
	return rawjson.Decode(b, (*[]string)(w))
}

// verify checks a token. Until its signature is verified, its claims serve only to find the key.
func (s *Server) verify(ctx context.Context, token string) (verified, error) {
	h, claimed, err := s.peek(token)
	if err != nil {
		return verified{}, invalid(err)
	}
	issuer := s.issuers[claimed]
	if issuer == nil {
		return verified{}, invalid(fmt.Errorf("its issuer %q is not one that this server trusts", text.Truncate(claimed, maxQuoted)))
	}
	set, keys, err := issuer.find(ctx, h.Kid, h.Alg)
	if errors.Is(err, errNoKeys) {
		const now = "access tokens cannot be verified now: the keys of the issuer cannot be fetched; try again"
		return verified{}, &TokenError{Status: http.StatusServiceUnavailable, Description: now, Cause: err}
	}
	if err != nil {
		return verified{}, invalid(err)
	}
	verifier := oidc.NewVerifier(issuer.name, &oidc.StaticKeySet{PublicKeys: keys}, &oidc.Config{
		SupportedSigningAlgs: []string{h.Alg},
		SkipClientIDCheck:    true, SkipExpiryCheck: true, // checked below: the audience is not a client here, and clocks may differ both ways
		Now: s.Now,
	})
	signed, err := verifier.Verify(ctx, token)
	if err != nil {
		return verified{}, invalid(err)
	}
	var payload jsontext.Value
	if err := signed.Claims(&payload); err != nil {
		return verified{}, invalid(err)
	}
	return s.judge(payload, issuer, set)
}

// peek reads from an unverified token what is needed to find its key.
func (s *Server) peek(token string) (h tokenHeader, issuer string, err error) {
	if len(token) > maxToken {
		return h, "", fmt.Errorf("it is longer than %d bytes", maxToken)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return h, "", errors.New("it is not a signed JWT")
	}
	if err := readPart(parts[0], &h); err != nil {
		return h, "", fmt.Errorf("its header: %w", err)
	}
	var c tokenClaims
	if err := readPart(parts[1], &c); err != nil {
		return h, "", fmt.Errorf("its claims: %w", err)
	}
	switch {
	case !slices.Contains(s.Algorithms, h.Alg):
		return h, "", fmt.Errorf("algorithm %q is not allowed", text.Truncate(h.Alg, maxQuoted))
	case h.Crit != nil:
		return h, "", errors.New("it has critical extensions")
	case !slices.Contains(tokenTypes, strings.ToLower(h.Typ)):
		return h, "", fmt.Errorf("it is of type %q, no access token", text.Truncate(h.Typ, maxQuoted))
	}
	return h, c.Issuer, nil
}

// readPart decodes a part of a token: a JSON object without duplicate names.
func readPart(part string, into any) error {
	b, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return errors.New("not base64url")
	}
	return rawjson.Decode(b, into)
}

// judge checks the claims of a token whose signature is verified.
func (s *Server) judge(payload []byte, from *issuer, set *KeySet) (verified, error) {
	var c tokenClaims
	if err := rawjson.Decode(payload, &c); err != nil {
		return verified{}, invalid(err)
	}
	until, err := s.timely(c)
	if err != nil {
		return verified{}, invalid(err)
	}
	principal := c.Subject
	if s.Principal != "" {
		principal, _ = rawjson.Text(member(payload, s.Principal))
	}
	switch {
	case c.Issuer != from.name:
		return verified{}, invalid(errors.New("its verified issuer is another"))
	case !slices.ContainsFunc(c.Audience, func(a string) bool { return a == s.Resource || slices.Contains(s.Audience, a) }):
		return verified{}, invalid(fmt.Errorf("its audience is %q", text.Truncate(strings.Join(c.Audience, " "), maxQuoted)))
	case c.Confirm != nil:
		return verified{}, invalid(errors.New("it is bound to a key of its client (cnf), which is not supported"))
	case !nameable(c.Subject) || !nameable(principal):
		return verified{}, invalid(errors.New("it names nobody (sub, or the claim of the principal)"))
	case len(c.Client) > maxName || len(c.Party) > maxName:
		return verified{}, invalid(errors.New("its client has too long a name"))
	}
	if !s.scoped(c) {
		has := text.Truncate(strings.Join(append(c.Scope, c.Scp...), " "), maxQuoted)
		return verified{}, &TokenError{
			http.StatusForbidden, "insufficient_scope", "the access token lacks a scope that is needed", fmt.Errorf("it has the scopes %q", has),
		}
	}
	client := c.Client
	if client == "" {
		client = c.Party
	}
	b, err := session.NewBearer(session.Claims{
		Issuer: c.Issuer, Subject: c.Subject, Client: client, Principal: "oauth:" + strings.TrimPrefix(c.Issuer, "https://") + "#" + principal,
		Roles: s.roles(payload), Issued: moment(*c.Issued),
	})
	if err != nil {
		return verified{}, invalid(err)
	}
	return verified{bearer: b, until: until, issuer: from, keys: set}, nil
}

// timely checks the times of a token, and returns when it expires.
func (s *Server) timely(c tokenClaims) (time.Time, error) {
	now := s.Now()
	for _, t := range []*float64{c.Expires, c.NotBefore, c.Issued} {
		if t != nil && !(*t >= 0 && *t < 1<<40) { // the year 36,812
			return now, errors.New("one of its times is out of range")
		}
	}
	switch {
	case c.Expires == nil || c.Issued == nil:
		return now, errors.New("it does not say when it expires (exp), or when it was issued (iat)")
	case !now.Before(moment(*c.Expires).Add(s.Skew)):
		return now, errors.New("it has expired")
	case c.NotBefore != nil && now.Add(s.Skew).Before(moment(*c.NotBefore)):
		return now, errors.New("it is not good yet (nbf)")
	case now.Add(s.Skew).Before(moment(*c.Issued)):
		return now, errors.New("it was issued in the future (iat)")
	}
	return moment(*c.Expires).Add(s.Skew), nil
}

// moment converts a time of a token: seconds since 1970, which may have a fraction.
func moment(seconds float64) time.Time {
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9))
}

// scoped reports whether a token has every scope that the configuration demands.
func (s *Server) scoped(c tokenClaims) bool {
	has := strings.Fields(strings.Join(append(slices.Clone(c.Scope), c.Scp...), " "))
	return !slices.ContainsFunc(s.Scopes, func(scope string) bool { return !slices.Contains(has, scope) })
}

// roles returns the roles that the claims name, those of the role claim first.
func (s *Server) roles(payload []byte) (roles []string) {
	values := texts(member(payload, s.Role))
	if s.May != "" {
		values = append(values, texts(member(payload, s.May))...)
	}
	for _, v := range values {
		if s.Roles != nil {
			v = s.Roles[v]
		}
		known := v != "" && len(v) <= maxName && (s.Bound == nil || slices.Contains(s.Bound, v))
		if known && !slices.Contains(roles, v) && len(roles) < maxValues {
			roles = append(roles, v)
		}
	}
	return roles
}

// member finds a claim by its whole name, which may contain dots, or else by its path.
func member(payload []byte, name string) []byte {
	if v := rawjson.Member(payload, name); v != nil {
		return v
	}
	return rawjson.Path(payload, strings.Split(name, ".")...)
}

// texts reads a claim that is a string or a list of strings. It returns nil for any other claim.
func texts(claim []byte) []string {
	var w words
	if claim == nil || w.UnmarshalJSON(claim) != nil {
		return nil
	}
	return w
}

// nameable reports whether s can name a person, also in a log: it is short and printable.
func nameable(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// maxQuoted bounds the parts of a token that the operator's log quotes, in bytes.
const maxQuoted = 100
