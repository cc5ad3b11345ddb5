package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// grant is what an authorization server gave us for one server.
type grant struct {
	Server       string    `json:"server"`
	Resource     string    `json:"resource"` // what the tokens are for
	Issuer       string    `json:"issuer"`
	Endpoint     string    `json:"tokenEndpoint"`
	Method       string    `json:"method"` // of client authentication at the endpoint
	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret,omitempty"` // of a client that we registered ourselves
	Redirect     string    `json:"redirect,omitempty"`     // with which it was registered
	Scopes       []string  `json:"scopes,omitempty"`       // asked for
	Granted      []string  `json:"granted,omitempty"`      // got, where the server says so
	Access       string    `json:"access"`
	Refresh      string    `json:"refresh,omitempty"`
	Expires      time.Time `json:"expires,omitzero"`
}

// access is the access token; empty: there is none.
func (g *grant) access() string {
	if g == nil {
		return ""
	}
	return g.Access
}

// tokenStore is the file of one grant, outside of every project, that only this user can read. Without a folder the grant ends with the
// process.
type tokenStore struct {
	dir string
	key string
}

// tokenKey names a grant by its realm (a project's folder; empty: every project of the user), its server and its client.
func tokenKey(realm, address string, o *Config) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{realm, address, o.ClientID, o.Issuer}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func (s tokenStore) file() string { return filepath.Join(s.dir, s.key+".json") }

// Move gives the grant of a realm to another one: a project's folder was moved. Without a grant it does nothing.
func Move(o Options, from string) error {
	var conf Config
	if o.Config != nil {
		conf = *o.Config
	}
	to := tokenStore{dir: o.Dir, key: tokenKey(o.Realm, o.URL.String(), &conf)}
	was := tokenStore{dir: o.Dir, key: tokenKey(from, o.URL.String(), &conf)}
	if err := os.Rename(was.file(), to.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("move token: %w", err)
	}
	return nil
}

// load reads the grant; nil if there is none.
func (s tokenStore) load() (*grant, error) {
	if s.dir == "" {
		return nil, nil //nolint:nilnil // there is none, which is not an error
	}
	b, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	var g grant
	if err := rawjson.Decode(b, &g, json.RejectUnknownMembers(true)); err != nil || !isSecretText(g.Access) {
		return nil, text.Hinted(fmt.Errorf("read token: %s is damaged", s.file()), "delete it, and log in again")
	}
	return &g, nil
}

// save keeps the grant; nil removes it.
func (s tokenStore) save(g *grant) error {
	switch {
	case s.dir == "":
		return nil
	case g == nil:
		if err := os.Remove(s.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove token: %w", err)
		}
		return nil
	}
	b, err := json.Marshal(g, jsontext.Multiline(true))
	if err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	if err := atomicfile.Write(s.file(), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	return nil
}

// lockWait is how long we wait for another process that renews the same token.
const lockWait = 30 * time.Second

// lock prevents other processes from renewing the same token at the same time.
func (s tokenStore) lock(ctx context.Context) (unlock func(), err error) {
	if s.dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock token: %w", err)
	}
	m, err := atomicfile.OpenMutex(filepath.Join(s.dir, s.key+".lock"))
	if err != nil {
		return nil, fmt.Errorf("lock token: %w", err)
	}
	if err := m.Lock(ctx, lockWait); err != nil {
		_ = m.Close()
		return nil, fmt.Errorf("lock token: %w", err)
	}
	return func() { _ = m.Unlock(); _ = m.Close() }, nil
}
