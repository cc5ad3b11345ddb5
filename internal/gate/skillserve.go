package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// Skills over MCP (the extension io.modelcontextprotocol/skills): the skills that are open to a session, each by the URI of its
// SKILL.md, with the digests of all of its files. The front matter of what is served is made by us: that of the file names tools.

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

// Skills lists the skills that are open to a session and whose files it may read, as entries of skills/list, sorted by URI.
func (g *Gate) Skills(s *session.Session) [][]byte {
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

// Skill is the entry of the skill whose SKILL.md has this URI, as clients spell it; nil: there is none for this session.
func (g *Gate) Skill(s *session.Session, uri string) []byte {
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

// served makes an entry from the files as they are now. A skill of which a file cannot be read, or may not be, is not served: the
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

// skillText is SKILL.md as it is served: the front matter that Agent Skills ask for, and the instructions.
func skillText(f frontmatter, instructions string) []byte {
	b := append([]byte("---\nname: "), quoteYAML(f.Name)...)
	b = append(append(b, "\ndescription: "...), quoteYAML(f.Description)...)
	return append(append(b, "\n---\n\n"...), instructions...)
}

// quoteYAML is a string as YAML reads it: a JSON string is one in double quotes.
func quoteYAML(s string) []byte { return view.Marshal(s) }
