package gate

import (
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// The texts of skills, for agents: as files, and as MCP prompts and resources of the server mycelium-skills. What declares a
// skill (SKILL.yaml, the front matter of SKILL.md) is never among them, because it names tools that may be hidden.

// skillPage is the file under which the instructions of a skill are read.
const skillPage = "SKILL.md"

// skillEntry is one valid skill as lists show it.
type skillEntry struct {
	name      string
	files     []string
	prompt    Listed
	resources []Listed
}

// skillEntries makes the entries of every valid skill.
func skillEntries(lib *skill.Library, logger *slog.Logger) []skillEntry {
	var out []skillEntry
	for _, checked := range lib.All() {
		if checked.State != skill.Valid {
			continue
		}
		k := &checked.Skill
		files, err := k.Resources()
		if err != nil {
			logger.Warn("the files of a skill are not listed", "skill", k.Name, "error", err)
		}
		e := skillEntry{name: k.Name, files: files}
		e.prompt = Listed{
			Item: policy.Item{Kind: policy.Prompt, Server: policy.SkillsServer, Name: k.Name},
			Raw:  mustMarshal(listedPrompt{policy.SkillsServer + "__" + k.Name, k.DisplayName, k.Description}),
		}
		for _, file := range append([]string{skillPage}, files...) {
			it := policy.Item{Kind: policy.Resource, Server: policy.SkillsServer, Name: skillURI(k.Name, file)}
			r := listedResource{URI: URI(it), Name: k.Name + "/" + file, MimeType: mimeType(file, nil)}
			if file == skillPage {
				r.Title, r.Description = k.DisplayName, k.Description
			}
			e.resources = append(e.resources, Listed{Item: it, Raw: mustMarshal(r)})
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

// mustMarshal is for structs of strings: invalid UTF-8, the one thing that could fail, is replaced.
func mustMarshal(v any) []byte {
	raw, err := json.Marshal(v, encoding)
	if err != nil {
		panic("gate: a struct of strings has no JSON form: " + err.Error())
	}
	return raw
}

// skillURI is the URI of a file of a skill, as the server mycelium-skills spells it.
func skillURI(name, file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "skill://" + name + "/" + strings.Join(parts, "/")
}

// splitSkillURI reads the URI of a file of a skill. The name stands as it is, as the policy reads it; the path may be escaped.
func splitSkillURI(uri string) (name, file string, ok bool) {
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

// filesOf are the files of a skill, from the walk that was made when the world began.
func (w *world) filesOf(name string) []string {
	for _, e := range w.skills {
		if e.name == name {
			return append([]string{}, e.files...)
		}
	}
	return []string{}
}

// readSkillFile reads one file of a skill by its path inside the folder.
func readSkillFile(k *skill.Skill, name string) ([]byte, error) {
	if name == skillPage {
		return []byte(k.Instructions), nil
	}
	return k.Resource(name)
}

// mimeType is the media type of a file by its name, else by its first bytes.
func mimeType(name string, data []byte) string {
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

// skillPrompt answers prompts/get of a skill: its instructions as one message.
func (c *Admission) skillPrompt() (Reply, error) {
	k, err := c.scoped.openSkill(c.Item.Name)
	if err != nil {
		return Reply{}, c.unknown()
	}
	type message struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	}
	return result(struct {
		Description string    `json:"description,omitempty"`
		Messages    []message `json:"messages"`
	}{k.Description, []message{{"user", content{"text", k.Instructions}}}})
}

// skillResource answers resources/read of a skill's file. The answer names it as clients do.
func (c *Admission) skillResource() (Reply, error) {
	data, file, err := c.scoped.readSkill(c.Item.Name)
	if err != nil {
		return Reply{}, c.unknown() // a file that is not there answers like one that may not be seen
	}
	type contents struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType,omitempty"`
		Text     *string `json:"text,omitempty"`
		Blob     *string `json:"blob,omitempty"`
	}
	text, blob := textOrBlob(data)
	return result(struct {
		Contents []contents `json:"contents"`
	}{[]contents{{URI(c.Item), mimeType(file, data), text, blob}}})
}

// readSkill reads the file that a URI of mycelium-skills names.
func (sc *scoped) readSkill(uri string) (data []byte, file string, err error) {
	name, file, ok := splitSkillURI(uri)
	if !ok {
		return nil, "", errors.New("not the URI of a skill's file")
	}
	k, err := sc.openSkill(name)
	if err != nil {
		return nil, "", err
	}
	if file == skillPage {
		return skillText(frontmatter{k.Name, k.Description}, k.Instructions), file, nil
	}
	data, err = readSkillFile(k, file)
	return data, file, err
}
