package backend

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// skillsExtension is the extension by which servers serve skills.
const skillsExtension = "io.modelcontextprotocol/skills"

// States of a skill that a server serves.
const (
	SkillNew      = "new"      // nobody has approved it
	SkillApproved = "approved" // the operator approved it with the digests of all its files
	SkillChanged  = "changed"  // its files are others than those that were approved: the approval is void
	SkillUnbound  = "unbound"  // it names no digests, so that no approval could be bound to its files
)

// Served is a skill that a server serves. It grants nothing unless it is approved.
type Served struct {
	Server, URI string
	Name        string // for the operator: SERVER.NAME
	Description string
	Raw         []byte // its entry, as the server sent it
	Digest      string // of the entry, which has the digests of its files
	State       string
	Text        []byte // SKILL.md, as it was approved; of an approved one only
}

// siftSkills judges the skills of a listing. The lock is held.
func (e *entry) siftSkills() {
	defs, out := check(e.name, served, e.raw[served])
	e.leftOut = append(e.leftOut, out...)
	e.skills = nil
	names := map[string]int{}
	for _, d := range defs {
		s := Served{Server: e.name, URI: d.Item.Name, Raw: d.Raw, Digest: Digest(d.Raw), State: SkillNew}
		name := rawjson.TextAt(d.Raw, "frontmatter", "name")
		s.Description = rawjson.TextAt(d.Raw, "frontmatter", "description")
		if !isSkillName(name) {
			e.leftOut = append(e.leftOut, fmt.Sprintf("skill %.150q: its front matter has no usable name", d.Item.Name))
			continue
		}
		s.Name = e.name + "." + name
		names[s.Name]++
		if n := names[s.Name]; n > 1 {
			s.Name += "." + strconv.Itoa(n)
		}
		s.State, s.Text = e.pins.skill(d)
		e.skills = append(e.skills, s)
	}
}

// isSkillName reports whether s is a name of Agent Skills.
func isSkillName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}

// skill says what became of a skill's entry.
func (p *pins) skill(d policy.Definition) (state string, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.items[pinKey{served, d.Item.Name}]
	_, _, err := fileOf(d.Raw, d.Item.Name)
	switch {
	case err != nil:
		return SkillUnbound, nil
	case old == nil:
		return SkillNew, nil
	case !sameDefinition(old.raw, d.Raw):
		return SkillChanged, nil
	}
	return SkillApproved, []byte(old.text)
}

// fileOf is what an entry says of one of its files.
func fileOf(entry []byte, uri string) (digest string, size int, err error) {
	list, err := elements(rawjson.Member(entry, "resources"))
	if err != nil {
		return "", 0, errors.New("its entry does not list its files with their digests")
	}
	for _, f := range list {
		if u := rawjson.TextAt(f, "uri"); u == uri {
			digest = rawjson.TextAt(f, "digest")
			if size, err = strconv.Atoi(string(rawjson.Member(f, "size"))); err != nil {
				return "", 0, fmt.Errorf("its entry says no size of %s", uri)
			}
			return digest, size, nil
		}
	}
	return "", 0, fmt.Errorf("its entry does not list %s", uri)
}

// maxSkill bounds SKILL.md, in bytes.
const maxSkill = 1 << 20

// SkillText reads SKILL.md of a served skill from its server, and checks it against the digest and the size of the entry.
func (p *Pool) SkillText(ctx context.Context, s Served) ([]byte, error) {
	digest, size, err := fileOf(s.Raw, s.URI)
	if err != nil {
		return nil, fmt.Errorf("skill %s: %w", s.Name, err)
	}
	result, bad, err := p.Do(ctx, policy.Scope{}, s.Server, "resources/read", rawjson.Set(nil, "uri", rawjson.Quote(s.URI)), nil)
	switch {
	case err != nil:
		return nil, err
	case bad != nil:
		return nil, fmt.Errorf("skill %s: its server says %s", s.Name, excerpt(bad))
	}
	list, err := elements(rawjson.Member(result, "contents"))
	if err != nil || len(list) != 1 {
		return nil, fmt.Errorf("skill %s: %s is not one file", s.Name, s.URI)
	}
	text, ok := rawjson.Text(rawjson.Member(list[0], "text"))
	data := []byte(text)
	if !ok {
		blob := rawjson.TextAt(list[0], "blob")
		if data, err = base64.StdEncoding.DecodeString(blob); err != nil {
			return nil, fmt.Errorf("skill %s: %s: %w", s.Name, s.URI, err)
		}
	}
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest || len(data) != size || len(data) > maxSkill {
		return nil, fmt.Errorf("skill %s: %s has %d bytes with the digest %s, and its entry says %d with %s", s.Name, s.URI, len(data), got, size, digest)
	}
	return data, nil
}

// ApproveSkill approves a served skill: its entry, which has the digests of its files, and the text of SKILL.md. An entry that is
// another than the one with this digest is an error.
func (p *Pool) ApproveSkill(name, digest string, text []byte) error {
	p.mu.Lock()
	skills := p.catalog.Skills
	p.mu.Unlock()
	i := slices.IndexFunc(skills, func(s Served) bool { return s.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("skill %s: no server serves it", name)
	case skills[i].Digest != digest:
		return fmt.Errorf("skill %s changed since it was shown", name)
	case skills[i].State == SkillUnbound:
		return fmt.Errorf("skill %s: its entry has no digests, so that an approval would hold for whatever the server sends", name)
	}
	e := p.entry(skills[i].Server)
	if e == nil {
		return fmt.Errorf("server %q: %w", skills[i].Server, ErrUnknownServer)
	}
	e.mu.Lock()
	e.pins.approve(skills[i], text)
	e.know(e.raw, e.about, false)
	e.mu.Unlock()
	if err := e.pins.save(); err != nil {
		return err
	}
	p.rebuild()
	return nil
}

func (p *pins) approve(s Served, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items[pinKey{served, s.URI}] = &pin{raw: jsontext.Value(s.Raw), text: string(text), since: p.book.now(), accepted: true}
	p.dirty = true
}
