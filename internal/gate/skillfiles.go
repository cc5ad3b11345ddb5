package gate

import (
	"errors"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/skill"
)

// The texts of skills, for agents: as files, and as MCP prompts and resources of the server mycelium-skills. What declares a
// skill (SKILL.yaml, the front matter of SKILL.md) is never among them, because it names tools that may be hidden.

// readSkillFile reads one file of a skill by its path inside the folder.
func readSkillFile(k *skill.Skill, name string) ([]byte, error) {
	if name == view.SkillPage {
		return []byte(k.Instructions), nil
	}
	return k.Resource(name)
}

// skillPrompt answers prompts/get of a skill: its instructions as one message.
func (c *Admission) skillPrompt() (Reply, error) {
	k, err := openSkill(c.caller, c.Item.Name)
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
	data, file, err := readSkill(c.caller, c.Item.Name)
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
