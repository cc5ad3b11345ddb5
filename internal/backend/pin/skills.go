package pin

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// States of a skill that a server serves.
const (
	SkillNew      = "new"      // nobody has approved it
	SkillApproved = "approved" // the operator approved it with the digests of all its files
	SkillChanged  = "changed"  // its files differ from the approved ones: the approval is void
	SkillUnbound  = "unbound"  // its entry has no digests, so that an approval could not be bound to its files
)

// Served is a skill that a server serves. It grants nothing unless it is approved.
type Served struct {
	Server, URI string
	Name        string // for the operator: SERVER.NAME
	Description string
	Raw         []byte // its entry, as the server sent it
	Digest      string // of the entry, which has the digests of its files
	State       string
	Text        []byte // the approved SKILL.md; only of an approved skill
}

// Skills judges the skills of a server's listing. leftOut says what cannot be used, and why.
func (p *Pins) Skills(l *catalog.Listing) (skills []Served, leftOut []string) {
	defs, leftOut := catalog.Define(p.server, catalog.Skills, l[catalog.Skills])
	names := map[string]int{}
	for _, d := range defs {
		s := Served{Server: p.server, URI: d.Item.Name, Raw: d.Raw, Digest: catalog.Digest(d.Raw), State: SkillNew}
		name := rawjson.TextAt(d.Raw, "frontmatter", "name")
		s.Description = rawjson.TextAt(d.Raw, "frontmatter", "description")
		if !isSkillName(name) {
			leftOut = append(leftOut, fmt.Sprintf("skill %.150q: its front matter has no usable name", d.Item.Name))
			continue
		}
		s.Name = p.server + "." + name
		names[s.Name]++
		if n := names[s.Name]; n > 1 {
			s.Name += "." + strconv.Itoa(n)
		}
		s.State, s.Text = p.skillState(d)
		skills = append(skills, s)
	}
	return skills, leftOut
}

// isSkillName reports whether s is a valid name of an agent skill.
func isSkillName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}

// skillState is the state of a skill, by its entry.
func (p *Pins) skillState(d policy.Definition) (state string, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.items[pinKey{catalog.Skills, d.Item.Name}]
	_, _, err := SkillFile(d.Raw, d.Item.Name)
	switch {
	case err != nil:
		return SkillUnbound, nil
	case old == nil:
		return SkillNew, nil
	case !catalog.SameDefinition(old.raw, d.Raw):
		return SkillChanged, nil
	}
	return SkillApproved, []byte(old.text)
}

// SkillFile returns the digest and the size that the entry of a skill has for one of its files.
func SkillFile(entry []byte, uri string) (digest string, size int, err error) {
	list, ok := rawjson.List(rawjson.Member(entry, "resources"))
	if !ok {
		return "", 0, errors.New("its entry does not list its files with their digests")
	}
	for _, f := range list {
		if rawjson.TextAt(f, "uri") == uri {
			digest = rawjson.TextAt(f, "digest")
			if size, err = strconv.Atoi(string(rawjson.Member(f, "size"))); err != nil {
				return "", 0, fmt.Errorf("its entry says no size of %s", uri)
			}
			return digest, size, nil
		}
	}
	return "", 0, fmt.Errorf("its entry does not list %s", uri)
}

// ApproveSkill pins the entry of a skill and the text of its SKILL.md.
func (p *Pins) ApproveSkill(s Served, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items[pinKey{catalog.Skills, s.URI}] = &pin{raw: jsontext.Value(s.Raw), text: string(text), since: p.book.now(), accepted: true}
	p.dirty = true
}
