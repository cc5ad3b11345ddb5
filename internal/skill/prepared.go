package skill

import (
	"crypto/sha256"
	_ "embed"
	"path"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// prepared are the shipped skills as [LoadOne] reads them, a msgpack list of preparedSkill. Reading their front matter as YAML takes
// several times as long, and nearly every start does it. TestPrepared compares it with the files, and writes it with -update.
//
//go:embed prepared.msgpack
var prepared []byte

// preparedSkill is a shipped skill in its prepared form. It counts for a SKILL.md of exactly that content.
type preparedSkill struct {
	Folder string
	Digest string             // the SHA-256 of its SKILL.md
	Says   msgpack.RawMessage // a preparedText
}

// preparedText is what a SKILL.md says, without its body.
type preparedText struct {
	Skill Skill
	Keys  []preparedKey
	Tools []int // the lines of the entries of allowedTools
}

// preparedKey is the line of a key.
type preparedKey struct {
	Key  string
	Line int
}

// preparedSkills returns the shipped skills. It is nil if they cannot be decoded, which TestPrepared would tell.
func preparedSkills() (out []preparedSkill) {
	if msgpack.Unmarshal(prepared, &out) != nil {
		return nil
	}
	return out
}

// prepare returns the skill of a SKILL.md that is one of the shipped ones; nil: it is another file, which has to be read.
func (r *reader) prepare(file string, data []byte) *Skill {
	i := slices.IndexFunc(r.ready, func(p preparedSkill) bool { return p.Folder == path.Base(r.shown) })
	if sum := sha256.Sum256(data); i < 0 || string(sum[:]) != r.ready[i].Digest {
		return nil
	}
	var p preparedText
	if msgpack.Unmarshal(r.ready[i].Says, &p) != nil {
		return nil
	}
	for _, k := range p.Keys {
		r.origin.keys[k.Key] = position{file, k.Line}
	}
	for _, line := range p.Tools {
		r.origin.tools = append(r.origin.tools, position{file, line})
	}
	p.Skill.origin = r.origin
	return &p.Skill
}
