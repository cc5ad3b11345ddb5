package accept

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/yamlfile"
)

// Manifest says what was accepted.
type Manifest struct {
	Version int     `json:"version"` // 1
	Digest  string  `json:"digest"`  // over all files
	Copy    string  `json:"copy"`    // name of the folder beside the manifest that has the copy
	Files   []Entry `json:"files"`   // sorted by path
}

// Entry is an accepted file.
type Entry struct {
	Path  string    `json:"path"` // its name in a Set
	Exec  bool      `json:"exec,omitzero"`
	Sum   string    `json:"sha256"` // hexadecimal digits
	Loose bool      `json:"loose,omitzero"`
	Since time.Time `json:"since"` // when this content was accepted
}

// copyPrefix begins the names of the folders with copies.
const copyPrefix = "copy-"

var (
	hexSum   = yamlfile.Word{First: yamlfile.Digits + "abcdef", Rest: yamlfile.Digits + "abcdef", Most: 64}
	copyName = yamlfile.Word{First: yamlfile.Digits, Rest: yamlfile.Digits, Most: 20}
)

// parse reads a manifest. It is strict: whatever it does not understand makes the whole unusable.
func parse(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	if m.Version != 1 {
		return nil, fmt.Errorf("the manifest has version %d, which this program does not know", m.Version)
	}
	if n, ok := strings.CutPrefix(m.Copy, copyPrefix); !ok || !copyName.MatchString(n) {
		return nil, errors.New("the manifest names no copy")
	}
	last := ""
	for _, e := range m.Files {
		if e.Path <= last || !goodName(e.Path) || len(e.Sum) != 64 || !hexSum.MatchString(e.Sum) {
			return nil, fmt.Errorf("the manifest has a wrong entry for %q", e.Path)
		}
		last = e.Path
	}
	if digest(m.Files) != m.Digest {
		return nil, errors.New("the digest of the manifest does not fit its files")
	}
	return &m, nil
}

// format writes a manifest as parse reads it.
func (m *Manifest) format() ([]byte, error) {
	b, err := json.Marshal(m, jsontext.WithIndent("  "))
	return append(b, '\n'), err
}

// goodName reports whether a text can be the name of a file in a [Set].
func goodName(name string) bool {
	if name == "" || strings.ContainsRune(name, 0) || !utf8.ValidString(name) || path.Clean(name) != name || name == "." || name == "/" {
		return false
	}
	return path.IsAbs(name) || filepath.IsLocal(filepath.FromSlash(name))
}
