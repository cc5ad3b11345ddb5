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
	"mycelium/internal/rpc"
	"mycelium/internal/text"
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
	b := append([]byte(`{"version":`+storedVersion+`,"server":`), rpc.Quote(server)...)
	b = append(append(b, `,"config":`...), rpc.Quote(digest)...)
	b = info.append(b)
	for k := range kinds {
		b = append(append(append(b, ",\n"...), rpc.Quote(kindNames[k])...), ":["...)
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
	if err != nil || !rpc.Valid(b) {
		return false
	}
	name, _ := rpc.Text(rpc.Member(b, "server"))
	return name == server && string(rpc.Member(b, "version")) == storedVersion
}

// parse reads the form that save writes.
func (l *listing) parse(b []byte, server, digest string) (info About, known bool, err error) {
	if !rpc.Valid(b) {
		return About{}, false, text.Hinted(fmt.Errorf("catalog of %s: the file is not JSON", server), "delete it; it is learned again")
	}
	name, _ := rpc.Text(rpc.Member(b, "server"))
	config, _ := rpc.Text(rpc.Member(b, "config"))
	if string(rpc.Member(b, "version")) != storedVersion || name != server || config != digest {
		return About{}, false, nil
	}
	var read listing
	for k := range kinds {
		items, err := elements(rpc.Member(b, kindNames[k]))
		if err != nil {
			return About{}, false, text.Hinted(fmt.Errorf("catalog of %s: %s: %w", server, kindNames[k], err), "delete the file; it is learned again")
		}
		read[k] = items
	}
	*l = read
	info.Version, _ = rpc.Text(rpc.Path(b, "about", "version"))
	info.Instructions, _ = rpc.Text(rpc.Path(b, "about", "instructions"))
	info.Capabilities = object(rpc.Path(b, "about", "capabilities"))
	info.Info = object(rpc.Path(b, "about", "serverInfo"))
	return info, true, nil
}

// append writes what a server said of itself as a member of a stored catalog.
func (s About) append(b []byte) []byte {
	b = append(append(b, ",\n\"about\":{\"version\":"...), rpc.Quote(s.Version)...)
	b = append(append(b, `,"instructions":`...), rpc.Quote(s.Instructions)...)
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
