package view

import (
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/skill"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Encoding is how the gate writes JSON: the same bytes for the same value, with invalid UTF-8 (of a skill's file) replaced.
var Encoding = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true))

// SkillPage is the file under which the instructions of a skill are read.
const SkillPage = "SKILL.md"

// SkillEntry is one valid skill as lists show it.
type SkillEntry struct {
	Name      string
	Files     []string
	prompt    Listed
	resources []Listed
}

// skillEntries returns the entries of every valid skill.
func skillEntries(lib *skill.Library, logger *slog.Logger) []SkillEntry {
	var out []SkillEntry
	for _, checked := range lib.All() {
		if checked.State != skill.Valid {
			continue
		}
		k := &checked.Skill
		files, err := k.Resources()
		if err != nil {
			logger.Warn("the files of a skill are not listed", "skill", k.Name, "error", err)
		}
		e := SkillEntry{Name: k.Name, Files: files}
		e.prompt = Listed{
			Item: policy.Item{Kind: policy.Prompt, Server: policy.SkillsServer, Name: k.Name},
			Raw:  Marshal(listedPrompt{policy.SkillsServer + "__" + k.Name, k.DisplayName, k.Description}),
		}
		for _, file := range append([]string{SkillPage}, files...) {
			it := policy.Item{Kind: policy.Resource, Server: policy.SkillsServer, Name: SkillURI(k.Name, file)}
			r := listedResource{URI: URI(it), Name: k.Name + "/" + file, MimeType: MimeType(file, nil)}
			if file == SkillPage {
				r.Title, r.Description = k.DisplayName, k.Description
			}
			e.resources = append(e.resources, Listed{Item: it, Raw: Marshal(r)})
		}
		out = append(out, e)
	}
	return out
}

type listedPrompt struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

type listedResource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mimeType,omitempty"`
}

// Marshal encodes a struct of strings. It cannot fail: invalid UTF-8 is replaced.
func Marshal(v any) []byte {
	raw, err := json.Marshal(v, Encoding)
	if err != nil {
		panic("gate: a struct of strings has no JSON form: " + err.Error())
	}
	return raw
}

// SkillURI returns the URI of a file of a skill, as the server mycelium-skills spells it.
func SkillURI(name, file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "skill://" + name + "/" + strings.Join(parts, "/")
}

// SplitSkillURI reads the URI of a file of a skill. The path may be escaped; the name may not, because the policy reads it as it is.
func SplitSkillURI(uri string) (name, file string, ok bool) {
	rest, ok := strings.CutPrefix(uri, "skill://")
	if !ok {
		return "", "", false
	}
	name, path, ok := strings.Cut(rest, "/")
	if !ok {
		return "", "", false
	}
	file, err := url.PathUnescape(path)
	return name, file, err == nil
}

// FilesOf returns the files of a skill, as they were when the catalog was made.
func (w *Catalog) FilesOf(name string) []string {
	for _, e := range w.SkillEntries {
		if e.Name == name {
			return append([]string{}, e.Files...)
		}
	}
	return []string{}
}

// MimeType returns the media type of a file, from its name or else from its first bytes.
func MimeType(name string, data []byte) string {
	ext := strings.ToLower(path.Ext(name))
	switch ext {
	case ".md":
		return "text/markdown" // not in every system's table
	case ".yaml", ".yml":
		return "application/yaml"
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	if data == nil {
		return ""
	}
	return http.DetectContentType(data)
}
