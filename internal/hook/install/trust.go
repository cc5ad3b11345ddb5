package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"mycelium/internal/harness"
	"mycelium/internal/rawjson"
)

// Codex runs a hook only after its person has trusted exactly this entry: config.toml has a table [hooks.state."FILE:EVENT:GROUP:INDEX"]
// with the hash of the entry. Who installs our hook trusts it, so the installer writes these tables for its own entries, and no other.

// trust is the change of the file in which the agent keeps what it trusts, for the hooks as they shall be.
func (s *Setup) trust(f harness.Files, hooks []byte, n *note) (edit, error) {
	text, mode, err := readConfig(f.Trust)
	if err != nil {
		return edit{}, err
	}
	after, keys, err := s.trusting(f.Hooks, text, hooks, n.Trust)
	if err != nil {
		return edit{}, &FileError{f.Trust, err, "fix the file, or write these tables apart from the others, and run this again; it was not " +
			"touched"}
	}
	n.Trust = keys
	return edit{f.Trust, text, after, mode}, nil
}

// trusting is the text with the trust of our entries, and without what it trusted of ours before.
func (s *Setup) trusting(file string, text, hooks []byte, old []string) (after []byte, keys []string, err error) {
	handlers, err := s.handlers(hooks)
	if err != nil {
		return nil, nil, err
	}
	var add bytes.Buffer
	drop := slices.Clone(old)
	for _, h := range handlers {
		if !h.ours {
			continue
		}
		key, hash := s.Agent.Hooks.TrustKey(file, h.Handler)
		keys = append(keys, key)
		drop = append(drop, key)
		fmt.Fprintf(&add, "[hooks.state.%s]\ntrusted_hash = %s\n", rawjson.Quote(key), rawjson.Quote(hash))
	}
	tables, err := tomlTables(text)
	if err != nil {
		return nil, nil, err
	}
	if err := inlineHooks(tables); err != nil {
		return nil, nil, err
	}
	after = text
	for _, t := range slices.Backward(tables) {
		if len(t.name) == 3 && t.name[0] == "hooks" && t.name[1] == "state" && slices.Contains(drop, t.name[2]) {
			after = append(append([]byte{}, after[:t.start]...), after[t.own:]...)
		}
	}
	if add.Len() > 0 {
		if len(after) > 0 && after[len(after)-1] != '\n' {
			after = append(bytes.Clone(after), '\n')
		}
		after = append(bytes.Clone(after), add.Bytes()...)
	}
	return after, keys, nil
}

// trusts says for each of our entries whether the agent trusts it as it is.
func (s *Setup) trusts(file string, text []byte, h handler) (bool, error) {
	tables, err := tomlTables(text)
	if err != nil {
		return false, err
	}
	key, hash := s.Agent.Hooks.TrustKey(file, h.Handler)
	for _, t := range tables {
		if len(t.name) == 3 && t.name[0] == "hooks" && t.name[1] == "state" && t.name[2] == key {
			return t.values["trusted_hash"] == hash && t.values["enabled"] != "false", nil
		}
	}
	return false, nil
}

// inlineHooks refuses a file that says elsewhere than in tables of their own what belongs into ours.
func inlineHooks(tables []tomlTable) error {
	for _, t := range tables {
		for name := range t.values {
			first, _, _ := strings.Cut(name, ".")
			root := len(t.name) == 0 && first == "hooks"
			state := slices.Equal(t.name, []string{"hooks"}) && first == "state"
			if root || state || slices.Equal(t.name, []string{"hooks", "state"}) {
				return fmt.Errorf("line %d: hooks.state is written in another form than tables [hooks.state.\"…\"]", t.line)
			}
		}
	}
	return nil
}

// tomlTable is a table of a TOML file: where it stands, and its plain values.
type tomlTable struct {
	name   []string // the root has none
	line   int
	start  int               // of its header
	own    int               // behind the header and the lines that follow it without a gap
	values map[string]string // by key, its parts joined by dots; of plain values only
}

// errTOML is the error of a file that is no TOML.
var errTOML = errors.New("cannot be read as TOML")

// tomlTables finds the tables of a file.
func tomlTables(text []byte) ([]tomlTable, error) {
	tables := []tomlTable{{line: 1, values: map[string]string{}}}
	var p unstable.Parser
	p.Reset(withoutMark(text))
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind != unstable.KeyValue {
			name, first := keyOf(n)
			line := bytes.LastIndexByte(text[:first], '\n') + 1
			tables = append(tables, tomlTable{
				name: name, line: 1 + bytes.Count(text[:first], []byte("\n")), start: line, own: lineEnd(text, first), values: map[string]string{},
			})
			continue
		}
		t := &tables[len(tables)-1]
		name, _ := keyOf(n)
		t.values[strings.Join(name, ".")] = string(n.Value().Data)
		from, to := int(n.Raw.Offset), int(n.Raw.Offset+n.Raw.Length)
		if bytes.LastIndexByte(text[:from], '\n')+1 == t.own {
			t.own = lineEnd(text, to)
		}
	}
	var fault *unstable.ParserError
	if errors.As(p.Error(), &fault) {
		return nil, fmt.Errorf("line %d: %w: %w", p.Shape(p.Range(fault.Highlight)).Start.Line, errTOML, fault)
	}
	return tables, p.Error()
}

// keyOf is the name of a table or of a value, by its parts, and where it begins.
func keyOf(n *unstable.Node) (name []string, at int) {
	for key := n.Key(); key.Next(); {
		if name == nil {
			at = int(key.Node().Raw.Offset)
		}
		name = append(name, string(key.Node().Data))
	}
	return name, at
}

// lineEnd is where the line of a place ends, behind its line break.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
