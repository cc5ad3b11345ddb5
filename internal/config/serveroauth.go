package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/config/source"
	"mycelium/internal/text"
)

// checkOAuth checks how the tokens of a server are got.
func (l *layer) checkOAuth(s *server, bad source.Report) {
	if s.OAuth == nil {
		return
	}
	if s.URL == "" {
		bad("oauth", "oauth has no meaning for a server with a command", "remove it, or write env")
		return
	}
	for k := range s.Headers {
		if strings.EqualFold(k, "Authorization") {
			bad("oauth", "has oauth and an Authorization header", "keep oauth where tokens are to be got, or headers where you have one")
		}
	}
	if strings.HasPrefix(strings.ToLower(s.URL), "http://") && !httpclient.IsLoopbackURL(s.URL) && !strings.Contains(s.URL, "${") {
		bad("oauth", "oauth needs https: a token could be read on its way", "write the https address of the server")
	}
	if err := s.OAuth.Check(); err != nil {
		bad("oauth", err.Error(), text.HintOf(err))
	}
}

// clientOAuth maps the oauth of a client's file: what means the same here is taken over, the rest is spoken of.
func clientOAuth(v any, warn source.Report) *oauth.Config {
	keys, ok := v.(map[string]any)
	if !ok {
		warn("oauth", "oauth is not read: it is no list of keys", "write oauth: {clientId: …}, or remove it")
		return nil
	}
	o := &oauth.Config{}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		text, isText := keys[k].(string)
		switch {
		case k == "clientId" && isText:
			o.ClientID = text
		case k == "redirectUri" && isText:
			o.Redirect = text
		case k == "callbackPort":
			o.Redirect = fmt.Sprintf("http://localhost:%v/callback", keys[k])
		case k == "scopes":
			o.Scopes = texts(keys[k])
		case k == "enabled":
		default:
			warn("oauth", "oauth."+k+" is not read", "move the entry to "+source.MainFile+" and write oauth as docs/reference/files.md has it")
		}
	}
	return o
}

// texts is a list of texts, or one text with spaces between.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
