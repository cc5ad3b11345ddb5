// Package rolefile changes what the file of a role says, and keeps the rest of it with its comments.
package rolefile

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// Keys are the keys of a role's file that people set, in the order in which a new file has them.
func Keys() []string {
	return []string{"name", "description", "inherits", "allowedSkills", "toolIds", "onlyTools", "ask", "deny", "prompt", "model"}
}

// Edit says what the file of a role shall say. A key that it does not have changes nothing.
type Edit struct {
	Texts map[string]string   `json:"texts,omitempty"` // name, description, inherits and prompt, by key
	Lists map[string][]string `json:"lists,omitempty"` // allowedSkills, toolIds, onlyTools, ask and deny, by key
	Model *policy.Model       `json:"model,omitzero"`
	Clear []string            `json:"clear,omitempty"` // keys that go
}

// Apply returns the text of a role's file with the edit.
func (e Edit) Apply(data []byte) ([]byte, error) {
	var err error
	for _, key := range e.Clear {
		if !slices.Contains(Keys(), key) {
			return nil, fmt.Errorf("%q is none of the keys %s", key, strings.Join(Keys(), ", "))
		}
		if data, err = yamlfile.SetKey(data, inFile(data, key), nil); err != nil {
			return nil, err
		}
	}
	for _, key := range Keys() {
		said, isText := e.Texts[key]
		list, isList := e.Lists[key]
		switch {
		case key == "model" && e.Model != nil:
			var lines []string
			if lines, err = modelLines(*e.Model); err == nil {
				data, err = yamlfile.SetKey(data, key, lines)
			}
		case isText:
			data, err = yamlfile.SetText(data, inFile(data, key), said)
		case isList:
			data, err = yamlfile.SetList(data, key, slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" }))
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// ApplyIn returns the text of a file with the edit of a role. The file is that of the role alone, or the list of several.
func (e Edit) ApplyIn(file, role string, data []byte) ([]byte, error) {
	if path.Base(file) != source.RoleIndexFile {
		return e.Apply(data)
	}
	n, _, err := itemOf(data, role)
	if err != nil {
		return nil, err
	}
	return yamlfile.EditItem(data, "roles", n, e.Apply)
}

// Without returns the text of a file that lists several roles without one of them. Of a file of one role nothing is left: nil.
func Without(file, role string, data []byte) ([]byte, error) {
	if path.Base(file) != source.RoleIndexFile {
		return nil, nil
	}
	n, _, err := itemOf(data, role)
	if err != nil {
		return nil, err
	}
	return yamlfile.EditItem(data, "roles", n, func([]byte) ([]byte, error) { return nil, nil })
}

// document is a role as a file has it: prompt has an older name too.
type document struct {
	policy.Role  `yaml:",inline"`
	SystemPrompt string `yaml:"systemPrompt" about:"another name of prompt"`
}

// Document is the type into which the file of a role is read.
func Document() reflect.Type { return reflect.TypeFor[document]() }

func (d document) role() policy.Role {
	if d.Prompt == "" {
		d.Prompt = d.SystemPrompt
	}
	return d.Role
}

// itemOf is the number of a role in a file that lists several, and what the file says of it.
func itemOf(data []byte, role string) (int, policy.Role, error) {
	var doc struct {
		Roles []document `yaml:"roles"`
	}
	for _, p := range yamlfile.Decode(source.RoleIndexFile, data, &doc) {
		if !p.Warning {
			return 0, policy.Role{}, fmt.Errorf("%s:%d: %s", p.File, p.Line, p.Message)
		}
	}
	for i, d := range doc.Roles {
		if cmp.Or(d.ID, d.Name) == role { // a list may have either
			return i, d.role(), nil
		}
	}
	return 0, policy.Role{}, fmt.Errorf("%s: there is no role %s", source.RoleIndexFile, role)
}

// Read returns what a file says of a role, as far as it can be read.
func Read(file, role string, data []byte) policy.Role {
	if path.Base(file) == source.RoleIndexFile {
		_, r, _ := itemOf(data, role)
		return r
	}
	var d document
	_ = yamlfile.Decode(file, data, &d) // what is wrong is told when the file is checked
	return d.role()
}

// inFile is the key under which a file says something: prompt has an older name too.
func inFile(data []byte, key string) string {
	if _, old := yamlfile.Keys(data)["systemPrompt"]; key == "prompt" && old {
		return "systemPrompt"
	}
	return key
}

// Difference is the edit by which a file that says one thing comes to say another. An empty text or list that the file does not have stays
// away, and an empty text that it has goes.
func Difference(is, want policy.Role) Edit {
	e := Edit{Texts: map[string]string{}, Lists: map[string][]string{}}
	texts := map[string][2]string{"name": {is.Name, want.Name}, "description": {is.Description, want.Description},
		"inherits": {is.Inherits, want.Inherits}, "prompt": {is.Prompt, want.Prompt}}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		switch was, now := texts[key][0], texts[key][1]; {
		case was == now:
		case now == "":
			e.Clear = append(e.Clear, key)
		default:
			e.Texts[key] = now
		}
	}
	lists := map[string][2][]string{"allowedSkills": {is.AllowedSkills, want.AllowedSkills}, "toolIds": {is.ToolIDs, want.ToolIDs},
		"onlyTools": {is.OnlyTools, want.OnlyTools}, "ask": {is.Ask, want.Ask}, "deny": {is.Deny, want.Deny}}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		switch was, now := lists[key][0], lists[key][1]; {
		case slices.Equal(was, now) && (was == nil) == (now == nil):
		case now == nil:
			e.Clear = append(e.Clear, key)
		default:
			e.Lists[key] = now
		}
	}
	e.model(is.Model, want.Model)
	return e
}

// model adds a change of the model.
func (e *Edit) model(is, want *policy.Model) {
	switch {
	case want == nil && is != nil:
		e.Clear = append(e.Clear, "model")
	case want == nil:
	case is == nil || !bytes.Equal(modelJSON(*is), modelJSON(*want)):
		e.Model = want
	}
}

func modelJSON(m policy.Model) []byte {
	b, _ := json.Marshal(block(m), json.Deterministic(true)) // what cannot be written differs, and is refused when it is written
	return b
}

// block is a role's model in the form in which it is written.
type block struct {
	Provider    string         `json:"provider,omitzero"`
	Model       string         `json:"model,omitzero"`
	Temperature *float64       `json:"temperature,omitzero"`
	MaxTokens   int            `json:"maxTokens,omitzero"`
	Options     map[string]any `json:"options,omitzero"`
}

// modelLines are the lines of a role's model.
func modelLines(m policy.Model) ([]string, error) {
	data, err := json.Marshal(block(m), json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("model:")
	if err := yamlfile.WriteJSON(&b, jsontext.Value(data), 2); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), nil
}

// New is the text of the file of a new role without a key. Without allowedSkills and inherits no skill is open to it.
func New(id, name string, e Edit) ([]byte, error) {
	var data []byte
	if _, said := e.Texts["name"]; !said && name != id {
		data = append(data, strings.Join(yamlfile.Entry("name", name), "\n")+"\n"...)
	}
	data, err := e.Apply(data)
	if err != nil {
		return nil, err
	}
	if Closed(e) {
		data = append(data, "allowedSkills: []\n"...)
	}
	return data, nil
}

// Closed reports whether no skill is open to a new role: a file without that key would have no ceiling.
func Closed(e Edit) bool {
	_, skills := e.Lists["allowedSkills"]
	_, inherits := e.Texts["inherits"]
	return !skills && !inherits
}

// ID makes the id of a role from its name.
func ID(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || (r == '.' || r == '_') && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	const most = 64 // of an id, as roles are read
	id := b.String()
	if len(id) > most {
		id = id[:most]
	}
	if id = strings.Trim(id, "-._"); id == "" {
		return "role"
	}
	return id
}
