package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
		return edit{}, &FileError{f.Trust, err, "mend the file, or write these tables apart from the others, and run this again; it was not touched"}
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
	values map[string]string // by key as written; strings without their quotes
}

// errTOML is the error of a file that is no TOML, as far as we look.
var errTOML = errors.New("cannot be read as TOML")

// tomlTables finds the tables of a file. It knows where strings, comments and brackets begin and end, and checks no more.
func tomlTables(text []byte) ([]tomlTable, error) {
	tables := []tomlTable{{line: 1, values: map[string]string{}}}
	line := 0
	for at := 0; at < len(text); {
		line++
		end, err := tomlLine(text, at)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w: %w", line, errTOML, err)
		}
		raw := text[at:end]
		trimmed := bytes.TrimSpace(raw)
		t := &tables[len(tables)-1]
		switch {
		case len(trimmed) == 0 || trimmed[0] == '#':
		case trimmed[0] == '[':
			name, err := tomlHeader(string(trimmed))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w: %w", line, errTOML, err)
			}
			tables = append(tables, tomlTable{name: name, line: line, start: at, own: end, values: map[string]string{}})
		default:
			key, value, ok := bytes.Cut(trimmed, []byte("="))
			if !ok {
				return nil, fmt.Errorf("line %d: %w: no key and value", line, errTOML)
			}
			t.values[strings.TrimSpace(string(key))] = tomlPlain(string(value))
			if t.own == at {
				t.own = end
			}
		}
		line += bytes.Count(raw, []byte("\n")) - 1
		if !bytes.HasSuffix(raw, []byte("\n")) {
			line++
		}
		at = end
	}
	return tables, nil
}

// tomlPlain is a value without its quotes and its comment; a longer one is good for nothing but to be there.
func tomlPlain(v string) string {
	v = strings.TrimSpace(v)
	if v != "" && (v[0] == '"' || v[0] == '\'') {
		if i := strings.IndexByte(v[1:], v[0]); i >= 0 {
			return v[1 : 1+i]
		}
	}
	v, _, _ = strings.Cut(v, "#")
	return strings.TrimSpace(v)
}

// tomlLine is the end of the logical line that begins at a place: behind its line break, and that of every line of a value that goes on.
func tomlLine(text []byte, at int) (int, error) {
	depth, header := 0, bytes.HasPrefix(bytes.TrimLeft(text[at:], " \t"), []byte("["))
	for i := at; i < len(text); {
		switch c := text[i]; c {
		case '\n':
			if i++; depth <= 0 || header {
				return i, nil
			}
		case '#':
			n := bytes.IndexByte(text[i:], '\n')
			if n < 0 {
				n = len(text) - i
			}
			i += n
		case '"', '\'':
			n := tomlString(text[i:])
			if n == 0 {
				return 0, errors.New("a text does not end")
			}
			i += n
		case '[', '{':
			depth++
			i++
		case ']', '}':
			depth--
			i++
		default:
			i++
		}
	}
	if depth > 0 && !header {
		return 0, errors.New("a bracket is not closed")
	}
	return len(text), nil
}

// tomlString is the length of the string that a text begins with; 0 for one without an end.
func tomlString(text []byte) int {
	q := text[:1]
	long := bytes.Repeat(q, 3)
	if bytes.HasPrefix(text, long) {
		for i := 3; i < len(text); i++ {
			if q[0] == '"' && text[i] == '\\' {
				i++
			} else if bytes.HasPrefix(text[i:], long) {
				return i + 3
			}
		}
		return 0
	}
	for i := 1; i < len(text) && text[i] != '\n'; i++ {
		if q[0] == '"' && text[i] == '\\' {
			i++
		} else if text[i] == q[0] {
			return i + 1
		}
	}
	return 0
}

// tomlHeader is the name in a header: [a.b."c d"] or [[a.b]].
func tomlHeader(line string) ([]string, error) {
	rest := strings.TrimLeft(line, "[")
	var name []string
	for {
		rest = strings.TrimLeft(rest, " \t")
		switch {
		case rest == "":
			return nil, errors.New("a header does not end")
		case rest[0] == '"':
			n := tomlString([]byte(rest))
			s, err := strconv.Unquote(rest[:n])
			if n == 0 || err != nil {
				return nil, errors.New("a quoted name cannot be read")
			}
			name, rest = append(name, s), rest[n:]
		case rest[0] == '\'':
			n := tomlString([]byte(rest))
			if n == 0 {
				return nil, errors.New("a quoted name cannot be read")
			}
			name, rest = append(name, rest[1:n-1]), rest[n:]
		default:
			n := strings.IndexAny(rest, ".] \t")
			if n <= 0 {
				return nil, errors.New("a header names nothing")
			}
			name, rest = append(name, rest[:n]), rest[n:]
		}
		switch rest = strings.TrimLeft(rest, " \t"); {
		case strings.HasPrefix(rest, "]"):
			return name, nil
		case strings.HasPrefix(rest, "."):
			rest = rest[1:]
		default:
			return nil, errors.New("a header does not end")
		}
	}
}
