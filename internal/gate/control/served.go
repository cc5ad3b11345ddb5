package control

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// Skills over MCP (the extension io.modelcontextprotocol/skills) are listed by the URI of their SKILL.md, with the digests of all of their
// files. The files that declare a skill (SKILL.yaml, the front matter of SKILL.md) are not served, because they name tools that may be
// hidden: the front matter of what is served is ours.

// servedSkill is an entry of skills/list.
type servedSkill struct {
	URI         string       `json:"uri"`
	Frontmatter frontmatter  `json:"frontmatter"`
	Resources   []servedFile `json:"resources"`
}

type frontmatter struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type servedFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // sha256: and 64 hexadecimal digits, of the raw bytes
	Size   int    `json:"size"`   // bytes
}

// Skills returns the skills that are open to a session and whose files it may read, as entries of skills/list, sorted by URI.
func Skills(s *session.Session) [][]byte {
	sc := s.Snapshot()
	var out []servedSkill
	for _, k := range sc.World.SkillEntries {
		if e, ok := served(sc, k); ok {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b servedSkill) int { return cmp.Compare(a.URI, b.URI) })
	raw := make([][]byte, len(out))
	for i, e := range out {
		raw[i] = view.Marshal(e)
	}
	return raw
}

// Skill returns the entry of the skill whose SKILL.md has this URI, as clients spell it, or nil if the session has no such skill.
func Skill(s *session.Session, uri string) []byte {
	sc := s.Snapshot()
	for _, k := range sc.World.SkillEntries {
		if view.URI(skillItemOf(k.Name, view.SkillPage)) != uri {
			continue
		}
		if e, ok := served(sc, k); ok {
			return view.Marshal(e)
		}
	}
	return nil
}

func skillItemOf(name, file string) policy.Item {
	return policy.Item{Kind: policy.Resource, Server: policy.SkillsServer, Name: view.SkillURI(name, file)}
}

// served makes an entry from the files as they are now. A skill with a file that cannot or may not be read is not served, because the
// list of its files must be complete.
func served(sc *session.Snapshot, k view.SkillEntry) (servedSkill, bool) {
	if !slices.Contains(sc.Open, k.Name) || strings.ContainsAny(k.Name, ":/") {
		return servedSkill{}, false
	}
	e := servedSkill{URI: view.URI(skillItemOf(k.Name, view.SkillPage))}
	for _, file := range append([]string{view.SkillPage}, k.Files...) {
		it := skillItemOf(k.Name, file)
		data, _, err := readSkill(sc, it.Name)
		if err != nil || !sc.Sees(it) {
			return servedSkill{}, false
		}
		sum := sha256.Sum256(data)
		e.Resources = append(e.Resources, servedFile{view.URI(it), "sha256:" + hex.EncodeToString(sum[:]), len(data)})
	}
	open, err := openSkill(sc, k.Name)
	if err != nil {
		return servedSkill{}, false
	}
	e.Frontmatter = frontmatter{open.Name, open.Description}
	return e, true
}

// skillText returns SKILL.md as it is served: the front matter that Agent Skills ask for, and the instructions.
func skillText(f frontmatter, instructions string) []byte {
	b := append([]byte("---\nname: "), quoteYAML(f.Name)...)
	b = append(append(b, "\ndescription: "...), quoteYAML(f.Description)...)
	return append(append(b, "\n---\n\n"...), instructions...)
}

// quoteYAML returns a string as YAML reads it. A JSON string is a YAML string in double quotes.
func quoteYAML(s string) []byte { return view.Marshal(s) }

// readSkillFile reads one file of a skill by its path inside the folder.
func readSkillFile(k *skill.Skill, name string) ([]byte, error) {
	if name == view.SkillPage {
		return []byte(k.Instructions), nil
	}
	return k.Resource(name)
}

// skillPrompt answers prompts/get of a skill: its instructions as one message.
func skillPrompt(c *Call) ([]byte, error) {
	k, err := openSkill(c.Caller, c.Item.Name)
	if err != nil {
		return nil, ErrUnknown
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

// skillResource answers resources/read of a skill's file. The answer names the file as clients do.
func skillResource(c *Call) ([]byte, error) {
	data, file, err := readSkill(c.Caller, c.Item.Name)
	if err != nil {
		return nil, ErrUnknown // a file that is not there answers like one that may not be seen
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
	}{[]contents{{view.URI(c.Item), view.MimeType(file, data), text, blob}}})
}

// readSkill reads the file that a URI of mycelium-skills names.
func readSkill(sc *session.Snapshot, uri string) (data []byte, file string, err error) {
	name, file, ok := view.SplitSkillURI(uri)
	if !ok {
		return nil, "", errors.New("not the URI of a skill's file")
	}
	k, err := openSkill(sc, name)
	if err != nil {
		return nil, "", err
	}
	if file == view.SkillPage {
		return skillText(frontmatter{k.Name, k.Description}, k.Instructions), file, nil
	}
	data, err = readSkillFile(k, file)
	return data, file, err
}
