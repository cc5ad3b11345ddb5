package role

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mycelium/internal/config/rolefile"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
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

// edit is what the flags say, for a file that says this of the role.
func (f *fields) edit(act string, is policy.Role) (rolefile.Edit, error) {
	e := rolefile.Edit{Texts: map[string]string{}, Lists: map[string][]string{}}
	for _, key := range f.clear {
		i := slices.IndexFunc(keys[:], func(k struct{ key, flag, usage string }) bool { return k.key == key || k.flag == key })
		if i < 0 {
			return e, failure.Usagef("%s: --clear: %q is none of %s", act, key, strings.Join(rolefile.Keys(), ", "))
		}
		e.Clear = append(e.Clear, keys[i].key)
	}
	for _, k := range keys {
		switch {
		case k.key == "model" && f.ofModel():
			e.Model = f.modelOf(is.Model)
		case !f.flags.Changed(k.flag):
		case f.texts()[k.flag] != nil:
			e.Texts[k.key] = *f.texts()[k.flag]
		default:
			e.Lists[k.key] = *f.lists()[k.flag]
		}
	}
	return e, nil
}

// modelOf is the model of a role with what the flags set of it.
func (f *fields) modelOf(m *policy.Model) *policy.Model {
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
	return &is
}
