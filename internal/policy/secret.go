package policy

import (
	"slices"
	"strings"

	"mycelium/internal/policy/globs"
	"mycelium/internal/policy/secretfile"
)

// Only says how little a call does with a file. The zero value says nothing: what is in the file may be read and changed.
type Only string

// What a call may do with a file without opening it.
const (
	Looks Only = "look" // it learns or sets the name, kind, rights, size or times

	// Makes: it makes the file, empty or of an example such as .env.example. If the file exists, it may change.
	Makes Only = "make"

	// Keeps: it makes the file likewise. If the file exists, it stays as it is.
	Keeps Only = "keep"
)

// Content says whether a file holds a secret at the moment of a call. The zero value says that nobody has looked.
type Content string

// What the gate finds in a file.
const (
	HoldsSecret Content = "secret" // it holds one, or it cannot be told
	HoldsNone   Content = "plain"
	Absent      Content = "absent" // there is no file
)

// staysClosed reports whether the call learns nothing of what is in the file and loses nothing of it.
func (p *Path) staysClosed() bool {
	return p.Only == Looks || p.Only == Keeps || p.Only == Makes && p.Content == Absent
}

// opensSecret reports whether a call opens a file with a secret at a path.
func (pl *places) opensSecret(f *Facts, p *Path) bool {
	if p.staysClosed() {
		return false
	}
	if p.Content == HoldsSecret {
		return true
	}
	if p.Pattern {
		return pl.meansSecret(f, p)
	}
	clean := p.Clean
	if clean == "" {
		clean = cleanPath(f.Dir, p.Raw)
	}
	for i, form := range [...]string{clean, p.Resolved, p.Raw} {
		if form == "" || i > 0 && form == clean || i == 2 && endsClean(clean, form) {
			continue
		}
		if row, ok := secretfile.Of(form, pl.foldedHome); ok && p.holds(row.Grade) {
			return true
		}
	}
	return false
}

// holds reports whether a file whose name has a grade holds a secret.
func (p *Path) holds(g secretfile.Grade) bool {
	switch g {
	case secretfile.Named:
		return true
	case secretfile.Public:
		return p.Content != HoldsNone
	case secretfile.Judged:
		return p.Content == HoldsSecret
	case secretfile.None:
	}
	return false
}

// meansSecret reports whether a path that is a pattern may mean a file with secrets. Of a name that says nothing about the files that it
// means, such as *.json, the gate looks on the disk; so it does for names that are judged by what is in the file.
func (pl *places) meansSecret(f *Facts, p *Path) bool {
	list := p.expressions(f, true)
	home := globs.Quote(pl.foldedHome)
	for i := range list {
		text := list[i].Text
		broad := globs.Broad(text[strings.LastIndexByte(text, '/')+1:])
		for _, row := range secretfile.Files {
			if row.Grade == secretfile.Judged || broad && !strings.HasSuffix(row.Path, "/") {
				continue
			}
			if slices.ContainsFunc(row.Globs(home), list[i].Meets) {
				return true
			}
		}
	}
	return false
}

// secretRule is the name of the rule that holds where no file has a rule about files with secrets.
const secretRule = "secret-files"

// secretRules is the rule that denies agents the files with secrets, unless a rule of a file denies them or asks: whoever writes such a
// rule decides about all of them.
func (c *compiler) secretRules() []Rule {
	for i := range c.src.Rules {
		if r := &c.src.Rules[i]; len(r.Match["secret"]) > 0 && r.Action != Allow.String() {
			return nil
		}
	}
	everything := "**"
	return []Rule{{Name: secretRule, Action: Deny.String(), Tool: Names{"*"}, Match: Fields{"secret": Values{{Glob: &everything}}},
		Reason: "Agents neither read nor change files with secrets."}}
}

// shipped reports whether a rule is that of [compiler.secretRules]: no file has it.
func (r *rule) shipped() bool { return r.ours || r.src.File == "" && r.name == secretRule }
