package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mycelium/internal/atomicfile"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// storedVersion is the format of a stored catalog. A file of another format is ignored. Since format 3 the items of a stored catalog
// have pins.
const storedVersion = "3"

// catalogFile is the file of a server's catalog.
func catalogFile(dir, server string) string { return filepath.Join(dir, server+".json") }

// Save stores a listing for a server with this configuration digest. The definitions are written byte for byte.
func (l *Listing) Save(dir, server, digest string, info About) error {
	if dir == "" || digest == "" {
		return nil
	}
	b := append([]byte(`{"version":`+storedVersion+`,"server":`), rawjson.Quote(server)...)
	b = append(append(b, `,"config":`...), rawjson.Quote(digest)...)
	b = info.append(b)
	for k := range Kinds {
		b = append(append(append(b, ",\n"...), rawjson.Quote(k.String())...), ":["...)
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

// Load reads a stored listing. known is false if there is none for this configuration.
func (l *Listing) Load(dir, server, digest string) (info About, known bool, err error) {
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

// Stored reports whether a catalog of a server was stored together with pins, for any configuration.
func Stored(dir, server string) bool {
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
func (l *Listing) parse(b []byte, server, digest string) (info About, known bool, err error) {
	if !rawjson.Valid(b) {
		return About{}, false, text.Hinted(fmt.Errorf("catalog of %s: the file is not JSON", server), "delete it; it is learned again")
	}
	name := rawjson.TextAt(b, "server")
	config := rawjson.TextAt(b, "config")
	if string(rawjson.Member(b, "version")) != storedVersion || name != server || config != digest {
		return About{}, false, nil
	}
	var read Listing
	for k := range Kinds {
		items, ok := rawjson.List(rawjson.Member(b, k.String()))
		if !ok {
			return About{}, false, text.Hinted(fmt.Errorf("catalog of %s: %s: not an array", server, k.String()),
				"delete the file; it is learned again")
		}
		read[k] = items
	}
	*l = read
	info.Version = rawjson.TextAt(b, "about", "version")
	info.Instructions = rawjson.TextAt(b, "about", "instructions")
	info.Capabilities = Object(rawjson.Path(b, "about", "capabilities"))
	info.Info = Object(rawjson.Path(b, "about", "serverInfo"))
	info.NoDiscovery = string(rawjson.Path(b, "about", "noDiscovery")) == "true"
	return info, true, nil
}

// append appends what a server said of itself, as a member of a stored catalog.
func (s About) append(b []byte) []byte {
	b = append(append(b, ",\n\"about\":{\"version\":"...), rawjson.Quote(s.Version)...)
	b = append(append(b, `,"instructions":`...), rawjson.Quote(s.Instructions)...)
	if s.Capabilities != nil {
		b = append(append(b, `,"capabilities":`...), s.Capabilities...)
	}
	if s.Info != nil {
		b = append(append(b, `,"serverInfo":`...), s.Info...)
	}
	if s.NoDiscovery {
		b = append(b, `,"noDiscovery":true`...)
	}
	return append(b, '}')
}
