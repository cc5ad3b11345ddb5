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

// Codex runs a hook only after a person has trusted exactly this entry: config.toml has a table [hooks.state."FILE:EVENT:GROUP:INDEX"]
// with the hash of the entry. A person who installs our hook trusts it, so the installer writes these tables, for its own entries only.

// trust returns the change of the file in which the agent keeps what it trusts, for the new hooks.
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
	return edit{path: f.Trust, before: text, after: after, mode: mode}, nil
}

// trusting returns the text with trust in our present entries and without that in our earlier ones.
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
		key, hash := s.Agent.Hooks.TrustKey(file, h.HookEntry)
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

// trusts reports for each of our entries whether the agent trusts its present form.
func (s *Setup) trusts(file string, text []byte, h handler) (bool, error) {
	tables, err := tomlTables(text)
	if err != nil {
		return false, err
	}
	key, hash := s.Agent.Hooks.TrustKey(file, h.HookEntry)
	for _, t := range tables {
		if len(t.name) == 3 && t.name[0] == "hooks" && t.name[1] == "state" && t.name[2] == key {
			return t.values["trusted_hash"] == hash && t.values["enabled"] != "false", nil
		}
	}
	return false, nil
}

// inlineHooks refuses a file that has our settings in inline tables or dotted keys instead of tables of their own.
func inlineHooks(tables []tomlTable) error {
	for _, t := range tables {
		for name := range t.values {
			first, _, _ := strings.Cut(name, ".")
			root := len(t.name) == 0 && first == "hooks"
			state := slices.Equal(t.name, []string{"hooks"}) && first == "state"
			if root || state || slices.Equal(t.name, []string{"hooks", "state"}) {
				return fmt.Errorf("line %d: hooks.state is not written as tables [hooks.state.\"…\"]", t.line)
			}
		}
	}
	return nil
}

// tomlTable is a table of a TOML file: its place and its plain values.
type tomlTable struct {
	name   []string // empty for the root
	line   int
	start  int               // start of the header
	own    int               // end of the header and of the lines that follow it without a gap
	values map[string]string // plain values by key; the parts of a key are joined by dots
}

var errTOML = errors.New("cannot be read as TOML")

// tomlTables returns the tables of a file.
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

// keyOf returns the parts of the name of a table or a value, and the offset where it begins.
func keyOf(n *unstable.Node) (name []string, at int) {
	for key := n.Key(); key.Next(); {
		if name == nil {
			at = int(key.Node().Raw.Offset)
		}
		name = append(name, string(key.Node().Data))
	}
	return name, at
}

// lineEnd returns the offset after the line break of the line at an offset.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
