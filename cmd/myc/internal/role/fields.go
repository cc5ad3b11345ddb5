package role

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/pflag"

	"mycelium/internal/node/failure"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// fields are the flags that say what a role's file shall have. A flag that is not given changes nothing.
type fields struct {
	name, description, inherits, prompt string
	skills, deny, tools, only, ask      []string
	provider, model                     string
	temperature                         float64
	maxTokens                           int
	clear                               []string

	flags *pflag.FlagSet
}

// texts and lists are the keys of a role's file that a flag sets, by the flag.
func (f *fields) texts() map[string]*string {
	return map[string]*string{"name": &f.name, "description": &f.description, "inherits": &f.inherits, "prompt": &f.prompt}
}

func (f *fields) lists() map[string]*[]string {
	return map[string]*[]string{"allowed-skills": &f.skills, "deny": &f.deny, "tool-ids": &f.tools,
		"only-tools": &f.only, "ask": &f.ask}
}

// keys are the keys of a role's file that flags set, in the order in which a new file has them, each with its flag.
var keys = [...]struct{ key, flag, usage string }{
	{"name", "name", "name of the role for people"},
	{"description", "description", "what the role is for"},
	{"inherits", "inherits", "role that it inherits"},
	{"allowedSkills", "allowed-skills", "the only skills that it may use, with commas; \"*\" is all, \"\" none"},
	{"toolIds", "tool-ids", "tools that it has in any case, with commas"},
	{"onlyTools", "only-tools", "patterns of the only tools that exist for it, control tools too, with commas"},
	{"ask", "ask", "effects whose calls wait for a person, such as write,delete,network"},
	{"deny", "deny", "patterns of tools that do not exist for it, with commas"},
	{"prompt", "prompt", "its instructions"},
	{"model", "model", "language model that it prefers"},
}

// add adds the flags to a command.
func (f *fields) add(flags *pflag.FlagSet) {
	f.flags = flags
	texts, lists := f.texts(), f.lists()
	texts["model"] = &f.model
	for _, k := range keys {
		if s := texts[k.flag]; s != nil {
			flags.StringVar(s, k.flag, "", k.usage)
		} else {
			flags.StringSliceVar(lists[k.flag], k.flag, nil, k.usage)
		}
	}
	flags.StringVar(&f.provider, "provider", "", "provider of the model, such as anthropic")
	flags.Float64Var(&f.temperature, "temperature", 0, "temperature of the model, from 0 to 1")
	flags.IntVar(&f.maxTokens, "max-tokens", 0, "most tokens of an answer of the model")
}

// given reports whether any flag is given that says what the file shall have.
func (f *fields) given() bool {
	return slices.ContainsFunc(keys[:], func(k struct{ key, flag, usage string }) bool { return f.flags.Changed(k.flag) }) ||
		f.ofModel() || len(f.clear) > 0
}

// ofModel reports whether a flag about the model is given.
func (f *fields) ofModel() bool {
	return slices.ContainsFunc([]string{"model", "provider", "temperature", "max-tokens"}, f.flags.Changed)
}

// apply returns a role's file with what the flags say. It keeps the comments and the order of what is there.
func (f *fields) apply(act string, data []byte) ([]byte, error) {
	var role policy.Role
	_ = yamlfile.Decode("role", data, &role) // what is wrong is told when the file is checked
	var err error
	for _, key := range f.clear {
		if !slices.ContainsFunc(keys[:], func(k struct{ key, flag, usage string }) bool { return k.key == key || k.flag == key }) {
			return nil, failure.Usagef("%s: --clear: %q is none of %s", act, key, keyNames())
		}
		if data, err = yamlfile.SetKey(data, keyOf(data, key), nil); err != nil {
			return nil, fmt.Errorf("%s: %w", act, err)
		}
	}
	for _, k := range keys {
		key := keyOf(data, k.key)
		switch {
		case k.key == "model" && f.ofModel():
			var lines []string
			if lines, err = f.modelLines(role.Model); err == nil {
				data, err = yamlfile.SetKey(data, key, lines)
			}
		case !f.flags.Changed(k.flag):
		case f.texts()[k.flag] != nil:
			data, err = yamlfile.SetText(data, key, *f.texts()[k.flag])
		default:
			data, err = yamlfile.SetList(data, key, slices.DeleteFunc(*f.lists()[k.flag], func(s string) bool { return s == "" }))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", act, err)
		}
	}
	return data, nil
}

// keyOf is the key as the file spells it.
func keyOf(data []byte, key string) string {
	for _, k := range keys {
		if k.flag == key {
			key = k.key
		}
	}
	if _, old := yamlfile.Keys(data)["systemPrompt"]; key == "prompt" && old {
		return "systemPrompt"
	}
	return key
}

func keyNames() string {
	var names []string
	for _, k := range keys {
		names = append(names, k.key)
	}
	return strings.Join(names, ", ")
}

// modelBlock is a model as a file has it: without what is not set.
type modelBlock struct {
	Provider    string         `json:"provider,omitzero"`
	Model       string         `json:"model,omitzero"`
	Temperature *float64       `json:"temperature,omitzero"`
	MaxTokens   int            `json:"maxTokens,omitzero"`
	Options     map[string]any `json:"options,omitzero"`
}

// modelLines are the lines of the model: what it is, with what the flags change.
func (f *fields) modelLines(m *policy.Model) ([]string, error) {
	var is policy.Model
	if m != nil && !slices.Contains(f.clear, "model") {
		is = *m
	}
	for flag, set := range map[string]func(){
		"model": func() { is.Model = f.model }, "provider": func() { is.Provider = f.provider },
		"temperature": func() { is.Temperature = &f.temperature }, "max-tokens": func() { is.MaxTokens = f.maxTokens },
	} {
		if f.flags.Changed(flag) {
			set()
		}
	}
	data, err := json.Marshal(modelBlock(is), json.Deterministic(true))
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
