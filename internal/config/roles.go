package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
	"mycelium/internal/lazy"
	"mycelium/internal/policy"
	"mycelium/internal/policy/deferral"
	"mycelium/internal/yamlfile"
)

// roleDocument is a role file: policy.Role, with the spelling of D3 for the prompt.
type roleDocument struct {
	policy.Role  `yaml:",inline"`
	SystemPrompt string `yaml:"systemPrompt"`
}

// roleIndex is roles/index.yaml (D1).
type roleIndex struct {
	Roles []roleDocument `yaml:"roles"`
}

var roleID = yamlfile.Word{First: yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "._-",
	Rest: yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "._-", Most: 64}

// readRoles reads roles/*.yaml. roles/index.yaml is read as one file per role.
func (l *layer) readRoles() {
	dir := filepath.Join(l.dir, source.RolesFolder)
	l.watched.Note(dir)
	list, err := os.ReadDir(l.at(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.problems = append(l.problems, source.Fault(l.shown(dir), 0, "cannot be read: "+source.Reason(err),
			"make it a folder with one file per role"))
		l.breakAll(l.shown(dir))
		return
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		switch ext := filepath.Ext(e.Name()); {
		case strings.HasPrefix(e.Name(), "."), strings.HasSuffix(e.Name(), "~"): // files that editors leave
		case e.Name() == source.RoleIndexFile:
			l.readRoleIndex(path)
		case ext == ".yaml" || ext == ".yml":
			l.readRole(path, strings.TrimSuffix(e.Name(), ext))
		case ext == ".json":
			l.problems = append(l.problems, source.Warning(l.shown(path), 0, "is not read: a role file ends in .yaml", "rename it"))
		}
	}
	more := l.shipped().RolesBeside(list, func(id string) bool { return len(l.places[id]) > 0 })
	for _, name := range slices.Sorted(maps.Keys(more)) {
		path := filepath.Join(dir, name)
		l.texts[l.shown(path)] = more[name]
		l.keepShipped(path, more[name])
		l.declareRole(l.shown(path), strings.TrimSuffix(name, filepath.Ext(name)), more[name])
	}
}

// readRole reads one role file.
func (l *layer) readRole(path, stem string) {
	file := l.shown(path)
	data, ok, bad := l.read(path)
	if !ok {
		if bad { // its id is unknown, so it could have restricted any role
			l.breakAll(file)
		}
		return
	}
	l.declareRole(file, stem, data)
}

// declareRole takes the role of a file, as shown, with its content.
func (l *layer) declareRole(file, stem string, data []byte) {
	var doc roleDocument
	if l.report(yamlfile.Decode(file, data, &doc)) {
		l.breakRole(file, stem, data)
		return
	}
	if doc.ID == "" {
		doc.ID = stem
	}
	if !l.takeRole(file, data, "$", &doc) {
		l.breakRole(file, stem, data)
		return
	}
	if doc.ID != stem {
		l.problems = append(l.problems, source.Warning(file, yamlfile.Line(data, "$.id"),
			"the file declares role "+strconv.Quote(doc.ID)+", not "+strconv.Quote(stem), "name the file "+doc.ID+".yaml"))
	}
}

func (l *layer) readRoleIndex(path string) {
	file := l.shown(path)
	data, ok, bad := l.read(path)
	if !ok {
		if bad {
			l.breakAll(file)
		}
		return
	}
	var index roleIndex
	if l.report(yamlfile.Decode(file, data, &index)) {
		l.breakAll(file)
		return
	}
	for i := range index.Roles {
		doc, at := &index.Roles[i], fmt.Sprintf("$.roles[%d]", i)
		if doc.ID == "" {
			doc.ID = doc.Name // an index may have either
		}
		if !l.takeRole(file, data, at, doc) {
			l.breakAll(file)
			return
		}
	}
}

// takeRole checks a role and adds it to the layer. It returns false if the role has a fault.
func (l *layer) takeRole(file string, data []byte, at string, doc *roleDocument) bool {
	line := func(key string) int {
		if n := yamlfile.Line(data, at+"."+key); n > 0 {
			return n
		}
		return yamlfile.Line(data, at)
	}
	bad := func(key, message, hint string) bool {
		l.problems = append(l.problems, source.Fault(file, line(key), message, hint))
		return false
	}
	if !roleID.MatchString(doc.ID) {
		return bad("id", "the role's id is "+strconv.Quote(doc.ID), "use 1 to 64 of the characters A-Z a-z 0-9 . _ -")
	}
	if doc.SystemPrompt != "" {
		if doc.Prompt != "" {
			return bad("systemPrompt", "prompt and systemPrompt are the same key", "keep one of them")
		}
		doc.Prompt = doc.SystemPrompt
	}
	if doc.Inherits == doc.ID {
		return bad("inherits", "role "+strconv.Quote(doc.ID)+" inherits itself: "+doc.ID+" → "+doc.ID, "remove inherits, or name another role")
	}
	if !deferral.IsValue(doc.ToolSearch) {
		return bad("toolSearch", "toolSearch is "+strconv.Quote(doc.ToolSearch), deferral.Hint)
	}
	if doc.Promotion != "" && !slices.Contains(policy.Promotions(), doc.Promotion) {
		return bad("promotion", "promotion is "+strconv.Quote(doc.Promotion), source.Suggest(doc.Promotion, policy.Promotions()))
	}
	if m := doc.Model; m != nil {
		if m.Temperature != nil && (*m.Temperature < 0 || *m.Temperature > 1) {
			return bad("model.temperature", fmt.Sprintf("model.temperature is %g", *m.Temperature), "write a number from 0 to 1")
		}
		if m.MaxTokens < 0 {
			return bad("model.maxTokens", fmt.Sprintf("model.maxTokens is %d", m.MaxTokens), "write a positive number, or leave it out")
		}
		if m.Provider != "" && !slices.Contains(providers, m.Provider) { // a warning, because the provider does not change what the role may do
			l.problems = append(l.problems, source.Warning(file, line("model.provider"), "model.provider is "+strconv.Quote(m.Provider),
				"known are "+strings.Join(providers, ", ")))
		}
	}
	if r := doc.Remote; r != nil {
		ok := true
		r.Check(func(key, message, hint string) { ok = bad("remoteInstruction."+key, message, hint) })
		if !ok {
			return false
		}
	}
	if before := l.places[doc.ID]; len(before) > 0 {
		l.problems = append(l.problems, source.Warning(file, line("id"),
			fmt.Sprintf("role %s is declared in %s too; both bound it", strconv.Quote(doc.ID), before[0].file), "keep one of the two"))
	}
	l.places[doc.ID] = append(l.places[doc.ID], place{file, at})
	l.roles = append(l.roles, doc.Role)
	return true
}

// providers are the known values of model.provider (D3).
var providers = []string{"anthropic", "openai", "gemini", "ollama"}

var (
	idLine = lazy.Regexp(`(?m)^[\s{]*["']?id["']?[ \t]*:`)
	idText = lazy.Regexp(`(?m)^[\s{]*["']?id["']?[ \t]*:[ \t]*["']?([A-Za-z0-9._-]{1,64})["']?[ \t,}\r]*(?:#.*)?$`)
)

// breakRole breaks the roles that a broken role file could have restricted: the role in its name and the role in its id. The file cannot be
// parsed, so the id is searched as text. If a line with an id cannot be read, it could be any role.
func (l *layer) breakRole(file, stem string, data []byte) {
	if l.broken.Roles == nil {
		l.broken.Roles = map[string]string{}
	}
	why := file + " could not be read"
	l.broken.Roles[stem] = why
	ids := idText().FindAllSubmatch(data, -1)
	for _, m := range ids {
		l.broken.Roles[string(m[1])] = why
	}
	if len(idLine().FindAllIndex(data, -1)) != len(ids) {
		l.breakAll(file)
	}
}
