package pin

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/backend/catalog"
	"mycelium/internal/rawjson"
	"mycelium/internal/scan"
)

// Book keeps the pins of all servers of a project, in one sealed file for each server. The folder is outside of the project, so that
// neither a clone nor an agent that is confined to the project can add, change or remove pins.
type Book struct {
	dir string // empty: pins live as long as the process
	now func() time.Time

	rules func() *scan.Rules // compiled at the first need

	keyMu sync.Mutex // held while the key is made: servers that are learned at the same time get the same key

	mu      sync.Mutex
	servers map[string]*Pins
}

// NewBook returns the book of the pins in a folder. It reads and writes nothing before the first server is learned.
func NewBook(dir string, now func() time.Time) *Book {
	return &Book{dir: dir, now: now, rules: sync.OnceValue(scan.New), servers: map[string]*Pins{}}
}

// Rules are the compiled rules of the scan.
func (b *Book) Rules() *scan.Rules { return b.rules() }

// Persistent reports whether pins outlive the process.
func (b *Book) Persistent() bool { return b.dir != "" }

// Of returns the pins of a server, which are read at the first need. seen reports that there is a stored catalog, which was stored
// together with pins.
func (b *Book) Of(server string, seen bool) *Pins {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.servers[server]; p != nil {
		return p
	}
	p := &Pins{book: b, server: server, items: map[pinKey]*pin{}, keptOut: map[outKey]KeptOut{}}
	b.servers[server] = p
	if b.dir == "" {
		p.firstUse = true
		return p
	}
	data, err := os.ReadFile(b.file(server))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !seen:
		p.firstUse = true
	case errors.Is(err, fs.ErrNotExist):
		p.doubt = "the file that says what was accepted of this server is missing"
	case err != nil:
		p.doubt = "what was accepted of this server cannot be read: " + withoutPath(err)
	default:
		if err := p.read(data); err != nil {
			p.items, p.keptOut = map[pinKey]*pin{}, map[outKey]KeptOut{}
			p.doubt = "what was accepted of this server cannot be believed: " + err.Error()
		}
	}
	return p
}

func withoutPath(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func (b *Book) file(server string) string { return filepath.Join(b.dir, server+".json") }

// key is the key that seals the files. With create a missing key is made.
func (b *Book) key(create bool) ([]byte, error) {
	b.keyMu.Lock()
	defer b.keyMu.Unlock()
	path := filepath.Join(b.dir, "key")
	key, err := os.ReadFile(path)
	switch {
	case err == nil && len(key) == sha256.Size:
		return key, nil
	case err == nil:
		return nil, fmt.Errorf("the key %s has %d bytes, not %d", path, len(key), sha256.Size)
	case !errors.Is(err, fs.ErrNotExist) || !create:
		return nil, fmt.Errorf("the key %s: %s", path, withoutPath(err))
	}
	key = make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return key, atomicfile.Write(path, key, 0o600)
}

// seal is the authentication code of a file's text. It covers the server's name, so that the pins of one server are not valid for
// another.
func seal(key []byte, server string, text []byte) []byte {
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "mycelium pins 1\n%s\n", server)
	m.Write(text)
	return m.Sum(nil)
}

// pinRow is a pin in the file.
type pinRow struct {
	List       string         `json:"list"` // as in the stored catalog: tools, prompts, resourceTemplates
	Since      time.Time      `json:"since"`
	Accepted   bool           `json:"accepted,omitzero"`
	Scanned    int            `json:"scanned,omitzero"`
	Text       string         `json:"text,omitempty"`
	Definition jsontext.Value `json:"definition"`
}

type pinText struct {
	Version int      `json:"version"`
	Server  string   `json:"server"`
	Doubt   string   `json:"doubt,omitempty"`
	Items   []pinRow `json:"items"`
	KeptOut []outRow `json:"keptOut,omitempty"`
}

// outRow is a definition that a person keeps in quarantine.
type outRow struct {
	List    string `json:"list"`
	Name    string `json:"name,omitempty"`
	Digest  string `json:"digest"`
	KeptOut `json:",inline"`
}

// encode makes the file: the text, and its seal on the last line.
func (p *Pins) encode(key []byte) ([]byte, error) {
	t := pinText{Version: 1, Server: p.server, Doubt: p.doubt, Items: []pinRow{}}
	for k, v := range p.items {
		t.Items = append(t.Items, pinRow{listName(k.kind), v.since.UTC().Truncate(time.Second), v.accepted, v.scanned, v.text, v.raw})
	}
	sortRows(t.Items)
	for k, v := range p.keptOut {
		t.KeptOut = append(t.KeptOut, outRow{listName(k.kind), k.name, k.digest, v})
	}
	slices.SortFunc(t.KeptOut, func(a, b outRow) int {
		return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Digest, b.Digest))
	})
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return append(append(text, hex.EncodeToString(seal(key, p.server, text))...), '\n'), nil
}

func sortRows(rows []pinRow) {
	slices.SortFunc(rows, func(a, b pinRow) int { return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(rowName(a), rowName(b))) })
}

// read reads a file. The error says why the file cannot be believed.
func (p *Pins) read(data []byte) error {
	i := bytes.LastIndexByte(bytes.TrimRight(data, "\n"), '\n')
	if i < 0 {
		return errors.New("it has no seal")
	}
	text, code := data[:i+1], bytes.TrimSpace(data[i+1:])
	key, err := p.book.key(false)
	if err != nil {
		return err
	}
	if want := hex.EncodeToString(seal(key, p.server, text)); !hmac.Equal([]byte(want), code) {
		return errors.New("its seal is broken: the file was changed, or is another project's")
	}
	var t pinText
	if err := json.Unmarshal(text, &t, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if t.Version != 1 || t.Server != p.server {
		return fmt.Errorf("it is of version %d for server %q", t.Version, t.Server)
	}
	p.doubt = t.Doubt
	for _, row := range t.KeptOut {
		key := pinKey{catalog.KindOf(row.List), row.Name}
		if row.List == instructionList {
			key = pinKey{kind: instructions}
		} else if key.kind == instructions {
			return fmt.Errorf("it has a list %q", row.List)
		}
		p.keptOut[outKey{key, row.Digest}] = row.KeptOut
	}
	for _, row := range t.Items {
		k := catalog.KindOf(row.List)
		if row.List == instructionList {
			p.items[pinKey{kind: instructions}] = &pin{raw: row.Definition, since: row.Since, accepted: row.Accepted, scanned: row.Scanned}
			continue
		}
		if k == instructions {
			return fmt.Errorf("it has a list %q", row.List)
		}
		name, err := catalog.ItemName(k, row.Definition)
		if err != nil {
			return fmt.Errorf("an item of %q: %w", row.List, err)
		}
		p.items[pinKey{k, name}] = &pin{raw: row.Definition, since: row.Since, accepted: row.Accepted, scanned: row.Scanned, text: row.Text}
	}
	return nil
}

// instructions stands for the instructions of a server, where a pin names a kind.
const instructions = catalog.Kinds

// instructionList is the name of the list in which the instructions of a server are pinned.
const instructionList = "instructions"

func listName(k catalog.Kind) string {
	if k == instructions {
		return instructionList
	}
	return k.String()
}

// Save writes the pins if they have changed.
func (p *Pins) Save() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dirty || p.book.dir == "" {
		p.dirty = false
		return nil
	}
	fail := func(err error) error { return fmt.Errorf("keep the pins of %s: %w", p.server, err) }
	if err := os.MkdirAll(p.book.dir, 0o700); err != nil {
		return fail(err)
	}
	key, err := p.book.key(true)
	if err != nil {
		return fail(err)
	}
	b, err := p.encode(key)
	if err != nil {
		return fail(err)
	}
	if err := atomicfile.Write(p.book.file(p.server), b, 0o600); err != nil {
		return fail(err)
	}
	p.dirty = false
	return nil
}

// rowName is the name of a row, for the order.
func rowName(r pinRow) string {
	k := catalog.KindOf(r.List)
	if k == instructions {
		return ""
	}
	name := rawjson.TextAt(r.Definition, k.Key())
	return name
}
