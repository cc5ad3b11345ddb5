package backend

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/rawjson"
)

// storedVersion is the form of a stored catalog. A file of another form counts as unknown.
// From 3 on the items of a stored catalog have pins.
const storedVersion = "3"

// digest identifies what a server is: what is started or called, unexpanded, so that no secret of the environment is in it. A catalog is
// good for the digest that it was learned with.
func (s *Server) digest() string {
	b, err := json.Marshal(Server{
		Name: s.Name, Type: s.Type, Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers, OAuth: s.OAuth,
	}, json.Deterministic(true))
	if err != nil { // not UTF-8: such an entry has no stored catalog
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// catalogFile is where a server's catalog is kept.
func catalogFile(dir, server string) string { return filepath.Join(dir, server+".json") }

// save keeps a listing. The definitions are written as they are, byte for byte.
func (l *listing) save(dir, server, digest string, info About) error {
	if dir == "" || digest == "" {
		return nil
	}
	b := append([]byte(`{"version":`+storedVersion+`,"server":`), rawjson.Quote(server)...)
	b = append(append(b, `,"config":`...), rawjson.Quote(digest)...)
	b = info.append(b)
	for k := range kinds {
		b = append(append(append(b, ",\n"...), rawjson.Quote(kindNames[k])...), ":["...)
		for i, raw := range l[k] {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, '\n'), raw...)
		}
		b = append(b, ']')
	}
	b = append(b, "}\n"...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep catalog of %s: %w", server, err)
	}
	if err := atomicfile.Write(catalogFile(dir, server), b, 0o600); err != nil {
		return fmt.Errorf("keep catalog of %s: %w", server, err)
	}
	return nil
}

// load reads a kept listing; false if there is none for this configuration.
func (l *listing) load(dir, server, digest string) (info About, known bool, err error) {
	if dir == "" || digest == "" {
		return About{}, false, nil
	}
	b, err := os.ReadFile(catalogFile(dir, server))
	if errors.Is(err, fs.ErrNotExist) {
		return About{}, false, nil
	}
	if err != nil {
		return About{}, false, fmt.Errorf("read catalog of %s: %w", server, err)
	}
	return l.parse(b, server, digest)
}

// seen reports whether a catalog of a server was stored together with pins, for whatever configuration.
func seen(dir, server string) bool {
	if dir == "" {
		return false
	}
	b, err := os.ReadFile(catalogFile(dir, server))
	if err != nil || !rawjson.Valid(b) {
		return false
	}
	name := rawjson.TextAt(b, "server")
	return name == server && string(rawjson.Member(b, "version")) == storedVersion
}

// parse reads the form that save writes.
func (l *listing) parse(b []byte, server, digest string) (info About, known bool, err error) {
	if !rawjson.Valid(b) {
		return About{}, false, fmt.Errorf("catalog of %s: the file is not JSON (hint: delete it; it is learned again)", server)
	}
	name := rawjson.TextAt(b, "server")
	config := rawjson.TextAt(b, "config")
	if string(rawjson.Member(b, "version")) != storedVersion || name != server || config != digest {
		return About{}, false, nil
	}
	var read listing
	for k := range kinds {
		items, err := elements(rawjson.Member(b, kindNames[k]))
		if err != nil {
			return About{}, false, fmt.Errorf("catalog of %s: %s: %w (hint: delete the file; it is learned again)", server, kindNames[k], err)
		}
		read[k] = items
	}
	*l = read
	info.Version = rawjson.TextAt(b, "about", "version")
	info.Instructions = rawjson.TextAt(b, "about", "instructions")
	info.Capabilities = object(rawjson.Path(b, "about", "capabilities"))
	info.Info = object(rawjson.Path(b, "about", "serverInfo"))
	return info, true, nil
}

// append writes what a server said of itself as a member of a stored catalog.
func (s About) append(b []byte) []byte {
	b = append(append(b, ",\n\"about\":{\"version\":"...), rawjson.Quote(s.Version)...)
	b = append(append(b, `,"instructions":`...), rawjson.Quote(s.Instructions)...)
	if s.Capabilities != nil {
		b = append(append(b, `,"capabilities":`...), s.Capabilities...)
	}
	if s.Info != nil {
		b = append(append(b, `,"serverInfo":`...), s.Info...)
	}
	return append(b, '}')
}

// object is raw, copied, if it is a JSON object; else nil.
func object(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return bytes.Clone(raw)
}
