package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/text"
)

// register sets our client at the authorization server: the client of the configuration, the address of its metadata document, the
// registration of last time, or a new registration.
func (a *Authority) register(ctx context.Context, f *discovery, last, next *grant) error {
	id := a.conf.ClientID
	document := strings.HasPrefix(id, "https://")
	switch {
	case id != "" && !document:
		next.ClientID, next.ClientSecret, next.Method = id, "", methodNone
		if a.conf.PrivateKey != "" {
			next.Method = methodKey
		} else if a.conf.ClientSecret != "" {
			next.Method = secretMethod(f.issuer.Methods)
		}
		return nil
	case document && f.issuer.Documents:
		next.ClientID, next.ClientSecret, next.Method = id, "", methodNone
		if a.conf.PrivateKey != "" {
			next.Method = methodKey
		}
		return nil
	case last != nil && next.ClientID != "" && next.ClientID != id && last.Redirect == next.Redirect && last.ClientSecret == "":
		return nil // a registration belongs to its issuer and its redirect; one with a secret may expire
	case f.issuer.Register == "":
		return text.Hinted(fmt.Errorf("authorization server %s registers no clients by itself", httpclient.VisibleHost(f.issuer.Issuer)),
			"register one there, and write its id as clientId in the entry's oauth, with redirect as it was registered")
	}
	return a.registerClient(ctx, f, next)
}

// registration is what an authorization server answers (RFC 7591).
type registration struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Method       string `json:"token_endpoint_auth_method"`
	Error        string `json:"error"`
}

// registerClient registers us as a native client without a secret, or with one if the server wants that.
func (a *Authority) registerClient(ctx context.Context, f *discovery, next *grant) error {
	way := methodNone
	if m := f.issuer.Methods; len(m) > 0 && !slices.Contains(m, methodNone) {
		way = secretMethod(m)
	}
	meta := map[string]any{
		"client_name": "Mycelium", "redirect_uris": []string{next.Redirect},
		"grant_types": []string{GrantCode, "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": way, "application_type": "native",
	}
	b, err := json.Marshal(meta, json.Deterministic(true))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.issuer.Register, bytes.NewReader(b))
	if err != nil {
		return errors.New("the registration endpoint is not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("register: %w", withoutURL(err))
	}
	defer res.Body.Close()
	var r registration
	err = readJSON(res.Body, maxToken, &r)
	switch {
	case res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusOK:
		return text.Hinted(fmt.Errorf("register: the authorization server answers HTTP %d %s", res.StatusCode, errorCode(r.Error)),
			"register a client there by hand, and write its id as clientId in the entry's oauth")
	case err != nil:
		return fmt.Errorf("register: %w", err)
	case !isSecretText(r.ClientID) || r.ClientSecret != "" && !isSecretText(r.ClientSecret):
		return errors.New("register: the authorization server gives no client id that could be sent")
	}
	next.ClientID, next.ClientSecret, next.Method = r.ClientID, r.ClientSecret, r.Method
	if next.Method == "" {
		next.Method = way
		if r.ClientSecret != "" && way == methodNone {
			next.Method = methodBasic // the default of RFC 7591
		}
	}
	if r.ClientSecret == "" {
		next.Method = methodNone
	}
	return nil
}
