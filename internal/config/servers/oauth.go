package servers

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

// checkOAuth checks the oauth section of an entry.
func checkOAuth(s *Server, bad source.Report) {
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

// clientOAuth maps the oauth section of a client's file. It takes over the keys that mean the same here, and warns of the others.
func clientOAuth(v any, warn source.Report) *oauth.Config {
	keys, ok := v.(map[string]any)
	if !ok {
		warn("oauth", "oauth is not read: it is not a mapping", "write oauth: {clientId: …}, or remove it")
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

// texts reads a list of texts, or one text of words with spaces between them.
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
