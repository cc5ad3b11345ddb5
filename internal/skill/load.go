package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// The files of a skill's folder that this package reads.
const (
	pageFile   = "SKILL.md"
	yamlFile   = "SKILL.yaml"
	ymlFile    = "SKILL.yml"
	readmeFile = "README.md"
)

// maxSkills bounds the folders that Load reads.
const maxSkills = 2000

// namePattern is the form of names in Agent Skills (agentskills.io), which have at most 64 characters.
var namePattern = yamlfile.Word{First: yamlfile.Lower + yamlfile.Digits, Rest: yamlfile.Lower + yamlfile.Digits + "-", Most: 64}

// aliases maps the spellings of keys with hyphens.
func aliases() map[string]string {
	return map[string]string{
		"allowed-roles": "allowedRoles", "allowed-tools": "allowedTools", "allowed-resources": "allowedResources",
		"allowed-prompts": "allowedPrompts",
		"display-name":    "displayName", "memory-team-roles": "memoryTeamRoles", "handler-type": "handlerType", "tool-name": "toolName",
		"script-path": "scriptPath", "disallowedTools": "disallowed-tools",
	}
}

// declared has the keys of a skill's files: ours, and those of Agent Skills and Claude Code, so that a skill for these is not an error
// here.
type declared struct {
	ID           string   `yaml:"id" about:"same as name"`
	Version      string   `yaml:"version" about:"same as metadata.version"`
	AllowedTools toolList `yaml:"allowedTools" about:"tools that it grants; \"?x\" is optional"`
	Disallowed   toolList `yaml:"disallowed-tools" about:"removed from allowedTools"`
	Skill        `yaml:",inline"`
	elsewhere    `yaml:",inline"`
}

// Document is the type into which the files of a skill are read, with the other names of its keys.
func Document() (t reflect.Type, names map[string]string) {
	return reflect.TypeFor[declared](), aliases()
}

// elsewhere are keys of other programs, which are ignored here.
type elsewhere struct {
	License       any `yaml:"license" about:"of other programs; it has no effect here"`
	Compatibility any `yaml:"compatibility" about:"of other programs; it has no effect here"`
	WhenToUse     any `yaml:"when_to_use" about:"of other programs; it has no effect here"`
	ArgumentHint  any `yaml:"argument-hint" about:"of other programs; it has no effect here"`
	Arguments     any `yaml:"arguments" about:"of other programs; it has no effect here"`
	NoModelCall   any `yaml:"disable-model-invocation" about:"of other programs; it has no effect here"`
	UserInvocable any `yaml:"user-invocable" about:"of other programs; it has no effect here"`
	Model         any `yaml:"model" about:"of other programs; it has no effect here"`
	Effort        any `yaml:"effort" about:"of other programs; it has no effect here"`
	Context       any `yaml:"context" about:"of other programs; it has no effect here"`
	Agent         any `yaml:"agent" about:"of other programs; it has no effect here"`
	Background    any `yaml:"background" about:"of other programs; it has no effect here"`
	Hooks         any `yaml:"hooks" about:"of other programs; it has no effect here"`
	Paths         any `yaml:"paths" about:"of other programs; it has no effect here"`
	Shell         any `yaml:"shell" about:"of other programs; it has no effect here"`
}

// Load reads every skill folder of fsys. A broken folder has problems and no skill; the other skills are not affected. Two folders that
// declare the same name are both dropped. shown is the path of fsys for messages.
func Load(fsys fs.FS, shown string, src Source) ([]Skill, []policy.Problem) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, []policy.Problem{{File: shown, Message: "the folder cannot be read: " + reason(err),
			Hint: "make it a folder with one folder per skill"}}
	}
	var skills []Skill
	var problems []policy.Problem
	folders, ready := 0, preparedSkills()
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		info, err := fs.Stat(fsys, name) // a skill may be a link to a folder
		switch {
		case err != nil:
			problems = append(problems, policy.Problem{File: path.Join(shown, name), Message: "cannot be read: " + reason(err)})
			continue
		case !info.IsDir():
			problems = append(problems, strayFile(shown, name)...)
			continue
		}
		if folders++; folders > maxSkills {
			problems = append(problems, policy.Problem{File: shown, Message: fmt.Sprintf("more than %d skills; the rest is not read", maxSkills)})
			break
		}
		s, more := loadOne(fsys, name, shown, src, ready)
		skills, problems = append(skills, s...), append(problems, more...)
	}
	skills, more := unique(skills)
	return skills, append(problems, more...)
}

// strayFile warns of a file that is probably meant to be a skill.
func strayFile(shown, name string) []policy.Problem {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	switch strings.ToLower(ext) {
	case ".yaml", ".yml", ".md":
		if strings.EqualFold(stem, "readme") || strings.EqualFold(stem, "license") {
			return nil
		}
		folder := stem
		if strings.EqualFold(stem, "skill") {
			folder = "NAME"
		}
		return []policy.Problem{{File: path.Join(shown, name), Message: "is not read: a skill is a folder",
			Hint: fmt.Sprintf("move it to %s", path.Join(shown, folder, "SKILL"+ext)), Warning: true}}
	}
	return nil
}

// unique drops the skills that share their name.
func unique(skills []Skill) ([]Skill, []policy.Problem) {
	byName := map[string][]string{}
	for _, s := range skills {
		byName[s.Name] = append(byName[s.Name], s.File)
	}
	var problems []policy.Problem
	kept := skills[:0:0]
	for _, s := range skills {
		if files := byName[s.Name]; len(files) > 1 {
			others := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == s.File })
			problems = append(problems,
				s.at("name").problem(fmt.Sprintf("the name %q is also the name of %s; all of them are left out", s.Name, strings.Join(others, ", ")),
					"give each skill a name of its own"))
			continue
		}
		kept = append(kept, s)
	}
	return kept, problems
}

// LoadOne reads the skill in one folder of fsys, as [Load] does. A folder without files of a skill has a warning.
func LoadOne(fsys fs.FS, folder, shown string, src Source) ([]Skill, []policy.Problem) {
	return loadOne(fsys, folder, shown, src, preparedSkills())
}

func loadOne(fsys fs.FS, folder, shown string, src Source, ready []preparedSkill) ([]Skill, []policy.Problem) {
	r := &reader{shown: path.Join(shown, folder), ready: ready}
	var err error
	if r.fsys, err = fs.Sub(fsys, folder); err != nil {
		return nil, []policy.Problem{{File: r.shown, Message: "cannot be read: " + reason(err)}}
	}
	s := r.read()
	if s == nil || r.failed() {
		return nil, r.problems
	}
	s.Source, s.Dir = src, r.fsys
	if s.Name != folder {
		r.problems = append(r.problems, s.at("name").warning(fmt.Sprintf("the skill is named %q and its folder %q", s.Name, folder),
			"give both one name; other programs find a skill by its folder"))
	}
	return []Skill{*s}, r.problems
}

// reader reads the files of one skill.
type reader struct {
	fsys     fs.FS
	shown    string
	ready    []preparedSkill // shipped skills that need not be read again
	problems []policy.Problem
	decl     declared
	origin   origin
}

func (r *reader) failed() bool {
	return slices.ContainsFunc(r.problems, func(p policy.Problem) bool { return !p.Warning })
}

func (r *reader) report(file string, line int, message, hint string) {
	r.problems = append(r.problems, policy.Problem{File: file, Line: line, Message: message, Hint: hint})
}

// read returns the skill, or nil if the folder has no skill or its files cannot be read.
func (r *reader) read() *Skill {
	md, yml, ok := r.names()
	if !ok {
		return nil
	}
	r.origin.keys = map[string]position{}
	var text page
	mdAt, ymlAt := path.Join(r.shown, md), path.Join(r.shown, yml)
	if md != "" {
		data, ok := r.readFile(md)
		if !ok {
			return nil
		}
		var err error
		if text, err = parsePage(data); err != nil {
			r.report(mdAt, 1, err.Error(), `end it with a line of its own: ---`)
			return nil
		}
		if text.front == nil && yml == "" {
			if line := lateFront(data); line > 0 {
				r.report(mdAt, line, "the front matter does not begin at the first line, so it counts as text", "remove what is above the first ---")
				return nil
			}
			r.report(mdAt, 1, "has no front matter, so it declares no tools",
				"begin the file with a line ---, then name: and description:, then a line ---")
			return nil
		}
		if yml == "" {
			if s := r.prepare(mdAt, data); s != nil {
				s.File, s.Instructions = mdAt, text.body
				return s
			}
		}
		if text.front != nil && !r.decode(mdAt, text.front) {
			return nil
		}
	}
	if yml != "" {
		data, ok := r.readFile(yml)
		if !ok || !r.decode(ymlAt, data) {
			return nil
		}
	}
	s := r.skill()
	s.File = mdAt
	if yml != "" {
		s.File = ymlAt
	}
	s.Instructions = text.body
	if s.Instructions == "" {
		s.Instructions = r.readme()
	}
	r.check(s)
	return s
}

// names finds the files that declare the skill. It returns false if there are none, or if they are ambiguous.
func (r *reader) names() (md, yml string, ok bool) {
	entries, err := fs.ReadDir(r.fsys, ".")
	if err != nil {
		r.report(r.shown, 0, "the folder cannot be read: "+reason(err), "")
		return "", "", false
	}
	for _, e := range entries {
		switch name := e.Name(); name {
		case pageFile:
			md = name
		case yamlFile, ymlFile:
			if yml != "" {
				r.report(r.shown, 0, "has both SKILL.yaml and SKILL.yml", "keep one of them")
				return "", "", false
			}
			yml = name
		default:
			for _, want := range []string{pageFile, yamlFile, ymlFile} {
				if strings.EqualFold(name, want) {
					r.problems = append(r.problems, policy.Problem{File: path.Join(r.shown, name), Message: "is not read: upper and lower case count",
						Hint: "rename it to " + want, Warning: true})
				}
			}
		}
	}
	if md == "" && yml == "" {
		if len(r.problems) == 0 {
			r.problems = append(r.problems, policy.Problem{File: r.shown, Message: "is not a skill: it has neither SKILL.md nor SKILL.yaml",
				Hint: "write one (myc skill templates shows a start), or move the folder away", Warning: true})
		}
		return "", "", false
	}
	return md, yml, true
}

// readFile reads a regular file of at most yamlfile.MaxSize bytes.
func (r *reader) readFile(name string) ([]byte, bool) {
	data, err := readRegular(r.fsys, name, yamlfile.MaxSize)
	if err != nil {
		r.report(path.Join(r.shown, name), 0, "cannot be read: "+reason(err), "")
		return nil, false
	}
	return data, true
}

// readRegular reads a regular file of at most limit bytes.
func readRegular(fsys fs.FS, name string, limit int) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // the file system refuses what is put in its place meanwhile: atomicfile.DirFS
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // closing a file that was only read loses nothing
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, fmt.Errorf("it is larger than %d bytes", limit)
	}
	return data, nil
}

// readme returns the text of README.md, or "" if there is none or it is not text.
func (r *reader) readme() string {
	data, err := readRegular(r.fsys, readmeFile, yamlfile.MaxSize)
	if err != nil || !utf8.Valid(data) {
		return ""
	}
	return trimBody(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}

// decode decodes a file over the files before it. A key replaces the whole value.
func (r *reader) decode(file string, data []byte) bool {
	f, problems := yamlfile.Read(file, data)
	if problems != nil {
		r.problems = append(r.problems, problems...)
		return false
	}
	keys := f.Keys()
	known := aliases()
	for key, line := range keys {
		if full, ok := known[key]; ok {
			key = full
		}
		switch key {
		case "id", "name":
			// name and id are one key: the second file replaces either. In one file they must agree.
			r.decl.ID, r.decl.Name = "", ""
			if _, both := keys["name"]; key == "name" || !both {
				r.origin.keys["name"] = position{file, line}
			}
			continue
		case "grants":
			r.decl.Grants = policy.Grants{}
		case "identity":
			r.decl.Identity = nil
		case "requires":
			r.decl.Requires = Requires{}
		case "allowedTools":
			r.origin.tools = nil
		}
		r.origin.keys[key] = position{file, line}
	}
	problems = f.Decode(known, &r.decl)
	r.problems = append(r.problems, problems...)
	if len(problems) > 0 {
		return false
	}
	r.locate(f, file, keys)
	r.locateIdentity(f, file)
	return true
}

// locate records the lines of list entries, for the validation.
func (r *reader) locate(f *yamlfile.File, file string, keys map[string]int) {
	known := aliases()
	for _, key := range []string{"allowedTools", "allowed-tools"} {
		if _, ok := keys[key]; !ok {
			continue
		}
		for i := range r.decl.AllowedTools {
			line := f.Line(fmt.Sprintf("$.%s[%d]", key, i))
			if line == 0 { // it is a text, not a list
				line = keys[key]
			}
			r.origin.tools = append(r.origin.tools, position{file, line})
		}
	}
	for _, key := range []string{"allowedResources", "allowed-resources", "allowedPrompts", "allowed-prompts", "allowedRoles", "allowed-roles",
		"commands", "triggers"} {
		if _, ok := keys[key]; !ok {
			continue
		}
		full := key
		if meant, ok := known[key]; ok {
			full = meant
		}
		for i := range r.lengthOf(full) {
			r.origin.keys[fmt.Sprintf("%s[%d]", full, i)] = position{file, f.Line(fmt.Sprintf("$.%s[%d]", key, i))}
		}
	}
	for _, key := range []string{"memory", "memoryTeamRoles", "memory-team-roles"} {
		if line := f.Line("$.grants." + key); line > 0 {
			r.origin.keys["grants."+key] = position{file, line}
		}
	}
}

func (r *reader) lengthOf(key string) int {
	switch key {
	case "allowedResources":
		return len(r.decl.AllowedResources)
	case "allowedPrompts":
		return len(r.decl.AllowedPrompts)
	case "allowedRoles":
		return len(r.decl.AllowedRoles)
	case "commands":
		return len(r.decl.Commands)
	}
	return len(r.decl.Triggers)
}

// skill makes the skill from the declared values.
func (r *reader) skill() *Skill {
	s := r.decl.Skill
	if s.Name == "" {
		s.Name = r.decl.ID
	}
	if s.Metadata.Version == "" {
		s.Metadata.Version = r.decl.Version
	}
	if r.decl.AllowedTools != nil {
		s.AllowedTools = []string{}
	}
	tools := r.origin.tools
	r.origin.tools = nil
	for i, entry := range r.decl.AllowedTools {
		name := normalTool(entry)
		if slices.Contains(s.AllowedTools, name) {
			continue // drop a duplicate
		}
		s.AllowedTools = append(s.AllowedTools, name)
		if i < len(tools) {
			r.origin.tools = append(r.origin.tools, tools[i])
		}
	}
	for i, cmd := range s.Commands {
		s.Commands[i].ToolName = normalTool(cmd.ToolName)
	}
	s.origin = r.origin
	return &s
}

// check finds the faults that do not depend on the catalog.
func (r *reader) check(s *Skill) {
	at := s.at("name")
	switch {
	case s.Name == "":
		r.report(s.File, 0, "the skill has no name", "write name: "+path.Base(r.shown))
	case r.decl.ID != "" && r.decl.ID != s.Name:
		r.report(at.file, at.line, fmt.Sprintf("id is %q and name is %q: both name the skill", r.decl.ID, s.Name), "keep name")
	case !namePattern.MatchString(s.Name):
		r.report(at.file, at.line, fmt.Sprintf("%q is not a valid name of a skill", s.Name),
			"use lower-case letters, digits and hyphens, at most 64")
	}
	if strings.TrimSpace(s.Description) == "" {
		r.problems = append(r.problems, policy.Problem{File: s.File, Message: "the skill has no description",
			Hint: "say in a sentence what it is for: people and models choose by it", Warning: true})
	}
	r.disallow(s)
}

// disallow removes the tools of disallowed-tools from the grant.
func (r *reader) disallow(s *Skill) {
	for _, entry := range r.decl.Disallowed {
		entry = normalTool(entry)
		p, err := policy.ParsePattern(ToolPattern(entry))
		if err != nil {
			continue // it does not name a tool that could be granted
		}
		for i := len(s.AllowedTools) - 1; i >= 0; i-- {
			granted, err := policy.ParsePattern(ToolPattern(s.AllowedTools[i]))
			if err != nil {
				continue
			}
			if it, exact := granted.Exact(); exact {
				if p.Match(it) {
					s.AllowedTools = slices.Delete(s.AllowedTools, i, i+1)
					s.origin.tools = slices.Delete(s.origin.tools, i, i+1)
				}
				continue
			}
			if it, exact := p.Exact(); !exact || granted.Match(it) {
				at := s.at("disallowed-tools")
				r.report(at.file, at.line, fmt.Sprintf("disallowed-tools takes %q out of the wildcard %q, which cannot be said here", entry,
					s.AllowedTools[i]), "write out the tools that are allowed")
			}
		}
	}
}
