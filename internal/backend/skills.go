package backend

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"

	"mycelium/internal/backend/pin"
	"mycelium/internal/backend/redact"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// maxSkill bounds SKILL.md, in bytes.
const maxSkill = 1 << 20

// SkillText reads the SKILL.md of a served skill from its server, and checks it against the digest and the size in its entry.
func (p *Pool) SkillText(ctx context.Context, s pin.Served) ([]byte, error) {
	digest, size, err := pin.SkillFile(s.Raw, s.URI)
	if err != nil {
		return nil, fmt.Errorf("skill %s: %w", s.Name, err)
	}
	result, bad, err := p.Do(ctx, policy.Scope{}, "", s.Server, "resources/read", rawjson.Set(nil, "uri", rawjson.Quote(s.URI)), nil)
	switch {
	case err != nil:
		return nil, err
	case bad != nil:
		return nil, fmt.Errorf("skill %s: its server says %s", s.Name, redact.Excerpt(bad))
	}
	list, ok := rawjson.List(rawjson.Member(result, "contents"))
	if !ok || len(list) != 1 {
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
		return nil, fmt.Errorf("skill %s: %s has %d bytes with the digest %s, and its entry says %d with %s",
			s.Name, s.URI, len(data), got, size, digest)
	}
	return data, nil
}

// ApproveSkill approves a served skill: its entry, which has the digests of its files, and the text of SKILL.md. It returns an error if the
// entry has another digest by now.
func (p *Pool) ApproveSkill(name, digest string, text []byte) error {
	p.mu.Lock()
	skills := p.catalog.Skills
	p.mu.Unlock()
	i := slices.IndexFunc(skills, func(s pin.Served) bool { return s.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("skill %s: no server serves it", name)
	case skills[i].Digest != digest:
		return fmt.Errorf("skill %s changed since it was shown", name)
	case skills[i].State == pin.SkillUnbound:
		return fmt.Errorf("skill %s: its entry has no digests, so that an approval would hold for whatever the server sends", name)
	}
	e := p.entry(skills[i].Server)
	if e == nil {
		return fmt.Errorf("server %q: %w", skills[i].Server, ErrUnknownServer)
	}
	e.mu.Lock()
	e.pins.ApproveSkill(skills[i], text)
	e.setListing(e.listing, e.about, false)
	e.mu.Unlock()
	if err := e.pins.Save(); err != nil {
		return err
	}
	p.rebuild()
	return nil
}
