// Package settings shows a configuration as keys and values, each with where it comes from: a flag or a variable of the environment, a
// file, or the program.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/config"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// Setting is one value. A list is one value; a mapping is as many as it has.
type Setting struct {
	Key   string         `json:"key"` // dotted, as server.addr
	Value jsontext.Value `json:"value"`
	From  string         `json:"from"` // a file as shown, default, or the flag or variable that counts before the files

	path []string // a name within a key may have a dot
}

// List returns the settings of a project in the order of the file, with those that count before the files in their places.
func List(p *config.Project, before []Setting) ([]Setting, error) {
	raw, err := p.File.JSON()
	if err != nil {
		return nil, err
	}
	var all []Setting
	if err := flatten(raw, nil, func(path []string, v jsontext.Value) {
		all = append(all, Setting{Key: strings.Join(path, "."), Value: v, From: from(p.Sources, path, v), path: path})
	}); err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	if p.Bare != "" { // the file has it, and the entry does not
		path := []string{"mcpServers", p.Bare, "bare"}
		all = append(all, Setting{Key: strings.Join(path, "."), Value: jsontext.Value("true"), From: from(p.Sources, path, nil), path: path})
	}
	for _, s := range before {
		s.path = strings.Split(s.Key, ".")
		i := slices.IndexFunc(all, func(o Setting) bool { return o.Key == s.Key })
		if i < 0 {
			all = append(all, s)
			continue
		}
		all[i] = s
	}
	return all, nil
}

// flatten calls visit for each value that is no mapping.
func flatten(raw jsontext.Value, path []string, visit func([]string, jsontext.Value)) error {
	if raw.Kind() != '{' {
		visit(path, raw)
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := flatten(v.Clone(), append(slices.Clone(path), key), visit); err != nil {
			return err
		}
	}
	return nil
}

// from is where a value comes from. Of a section that is known as a whole, such as a server's entry, what is false was left out.
func from(sources map[string]string, path []string, v jsontext.Value) string {
	for n := len(path); n > 0; n-- {
		if file, ok := sources[strings.Join(path[:n], ".")]; ok {
			if n < len(path) && v.Kind() == 'f' {
				return config.Default
			}
			return file
		}
	}
	for key, file := range sources { // the key is above those that are known
		if strings.HasPrefix(key, strings.Join(path, ".")+".") {
			return file
		}
	}
	return config.Default
}

// Files returns the configuration that the files of a project say, without the defaults and without what is of this machine, as JSON in
// the shape of a mycelium.yaml of a project.
func Files(p *config.Project) (jsontext.Value, error) {
	all, err := List(p, nil)
	if err != nil {
		return nil, err
	}
	root := &node{}
	for _, s := range all {
		if s.From == config.Default || slices.Contains([]string{"trust", "state", "sandbox.backend"}, s.Key) ||
			strings.HasPrefix(s.Key, "web.") {
			continue // the last are of the user's own file only
		}
		root.put(s.path, s.Value)
	}
	return root.json()
}

// Whole returns settings as one mapping.
func Whole(all []Setting) (jsontext.Value, error) {
	root := &node{}
	for _, s := range all {
		root.put(s.path, s.Value)
	}
	return root.json()
}

// Find returns what the configuration says under a key: a value, or the values below it as one mapping. It is nil if the key is known and
// not set. The problem is that of a key that does not exist.
func Find(all []Setting, key string) (jsontext.Value, error) {
	root := &node{}
	for _, s := range all {
		for n := 1; n <= len(s.path); n++ {
			if strings.Join(s.path[:n], ".") == key {
				root.put(s.path[n:], s.Value)
			}
		}
	}
	if root.value == nil && len(root.below) == 0 {
		return nil, known(key)
	}
	return root.json()
}

// known is an error if no mycelium.yaml can have a key.
func known(key string) error {
	words := strings.Split(key, ".")
	text := ""
	for i, w := range words {
		if w == "" {
			return fmt.Errorf("%q is no key: a part of it is empty", key)
		}
		text += strings.Repeat("  ", i) + yamlfile.Text(w) + ":\n"
	}
	var f config.File
	for _, pr := range yamlfile.Decode("", []byte(text), &f) {
		return &UnknownError{Problem: pr}
	}
	return nil
}

// UnknownError is that of a key that does not exist.
type UnknownError struct{ Problem policy.Problem }

func (e *UnknownError) Error() string { return e.Problem.Message }

// node is a mapping or a value.
type node struct {
	value jsontext.Value
	keys  []string
	below map[string]*node
}

func (n *node) put(path []string, v jsontext.Value) {
	if len(path) == 0 {
		n.value = v
		return
	}
	sub := n.below[path[0]]
	if sub == nil {
		if n.below == nil {
			n.below = map[string]*node{}
		}
		sub = &node{}
		n.keys, n.below[path[0]] = append(n.keys, path[0]), sub
	}
	sub.put(path[1:], v)
}

func (n *node) json() (jsontext.Value, error) {
	var b bytes.Buffer
	if err := n.write(jsontext.NewEncoder(&b)); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func (n *node) write(enc *jsontext.Encoder) error {
	if n.value != nil {
		return enc.WriteValue(n.value)
	}
	err := enc.WriteToken(jsontext.BeginObject)
	for _, k := range n.keys {
		err = errors.Join(err, enc.WriteToken(jsontext.String(k)), n.below[k].write(enc))
	}
	return errors.Join(err, enc.WriteToken(jsontext.EndObject))
}

// Text is a value as people read it: a text without its quotes, and a mapping or a list as YAML.
func Text(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case '"':
		var s string
		return s, json.Unmarshal(v, &s)
	case '{', '[':
		var b bytes.Buffer
		err := yamlfile.WriteJSON(&b, v, 0)
		return strings.Trim(b.String(), " \n"), err
	default:
		return string(v), nil
	}
}
