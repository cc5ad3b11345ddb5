package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
)

// mostNoted bounds the digests that are remembered of each kind. An older one is told of again.
const mostNoted = 200

// noted is noted.json: the digests of contents that are not accepted, of which something was done.
type noted struct {
	Told  []string `json:"told,omitempty"`  // they were recorded
	Later []string `json:"later,omitempty"` // a person has said: not now
}

// Tell notes that contents which are not accepted were told of, and reports whether they were not before. So branches that are switched
// back and forth are told of once.
func (s Store) Tell(digest string) (fresh bool, err error) {
	return s.note(digest, func(n *noted) *[]string { return &n.Told })
}

// Postpone notes that a person does not want to be asked about these contents now.
func (s Store) Postpone(digest string) error {
	_, err := s.note(digest, func(n *noted) *[]string { return &n.Later })
	return err
}

// Postponed reports whether a person has said of these contents: not now.
func (s Store) Postponed(digest string) bool {
	return slices.Contains(s.readNoted().Later, digest)
}

func (s Store) notedFile() string { return filepath.Join(s.dir, "noted.json") }

// readNoted reads what was noted. A file that cannot be read notes nothing: then people are told or asked once more.
func (s Store) readNoted() noted {
	var n noted
	data, err := os.ReadFile(s.notedFile())
	if err != nil || json.Unmarshal(data, &n) != nil {
		return noted{}
	}
	return n
}

func (s Store) note(digest string, list func(*noted) *[]string) (fresh bool, err error) {
	err = s.underLock(func() error {
		n := s.readNoted()
		l := list(&n)
		if slices.Contains(*l, digest) {
			return nil
		}
		fresh = true
		*l = append(*l, digest)
		*l = (*l)[max(0, len(*l)-mostNoted):]
		data, err := json.Marshal(n)
		if err == nil {
			err = atomicfile.Note(s.notedFile(), data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("note changed files: %w", err)
		}
		return nil
	})
	return fresh, err
}
