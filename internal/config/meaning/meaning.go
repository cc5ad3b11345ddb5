// Package meaning says in plain words what a change of a project's files means for those whom the files govern: which calls become
// possible that were not, and which no longer are.
//
// It compares what the files say, not their text: a comment, the order of rules, or another spelling of the same rule is no change. The
// mark of a change is a promise only where it is [Narrows]. Whatever this package cannot prove to open nothing is [Unclear].
package meaning

import (
	"cmp"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// Mark says in which direction a change goes.
type Mark string

// The marks.
const (
	Narrows Mark = "narrows" // no call becomes possible, visible or unasked that was not
	Widens  Mark = "widens"  // something becomes possible
	Unclear Mark = "unclear" // it cannot be told, or a person has to read it
)

// Change is one difference between two versions of the files, in words.
type Change struct {
	Mark Mark   `json:"mark"`
	Text string `json:"change"`         // one line, without a period at the end
	File string `json:"file,omitempty"` // as shown; empty: no file, or it is not known
	Line int    `json:"line,omitzero"`  // in the new file; 0: the new file does not say it, or the line is not known
	Was  int    `json:"was,omitzero"`   // in the old file; likewise
}

// OnlyNarrows reports whether every change narrows. It is true for no change: then nothing in force changes.
func OnlyNarrows(changes []Change) bool {
	return !slices.ContainsFunc(changes, func(c Change) bool { return c.Mark != Narrows })
}

// Compare says what it means that the files of old are replaced by those of new. If old is nil, or its own files take no effect, nothing
// was accepted before, and then the changes never only narrow. The catalog is what the servers offer now; without it, less can be proved.
// The files are the names of all files whose bytes changed: of those that are read as configuration, the keys tell; each other one is
// unclear. Compare reads nothing.
//
// If every change narrows, then for every call the decision of the new policy is as strict as that of the old one or stricter, and what
// is visible under the new one was visible under the old one.
func Compare(old, fresh *config.Project, c skill.Catalog, files []string) []Change {
	d := &diff{}
	if old == nil {
		old = config.Empty(fresh)
	}
	if !old.Trusted && !fresh.Empty() {
		d.add(Widens, place{}, "the files of this project take effect for the first time")
	}
	d.old, d.new = newSide(old, c), newSide(fresh, c)
	d.whole()
	d.file()
	d.servers()
	d.rules()
	d.roles()
	d.skills()
	d.judged()
	d.others(files)
	slices.SortStableFunc(d.changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(rank(b.Mark), rank(a.Mark)), cmp.Compare(a.File, b.File),
			cmp.Compare(max(a.Line, a.Was), max(b.Line, b.Was)))
	})
	return d.changes
}

// rank orders the marks by how much they ask of the reader.
func rank(m Mark) int { return slices.Index([]Mark{Narrows, Unclear, Widens}, m) }

// side is one version of the files.
type side struct {
	*config.Project
	source   policy.Source
	policy   *policy.Policy // of what the files declare, whatever the servers have
	compiled map[*policy.Rule]policy.CompiledRule
	states   map[string]skill.State // of the skills, by name, under the catalog
}

func newSide(p *config.Project, c skill.Catalog) side {
	s := side{Project: p, source: p.Declared(), compiled: map[*policy.Rule]policy.CompiledRule{}, states: map[string]skill.State{}}
	s.policy, _ = policy.New(s.source)
	for _, r := range s.policy.CompiledRules() {
		s.compiled[r.Rule] = r
	}
	for _, k := range skill.Validate(p.Skills, c).All() {
		s.states[k.Name] = k.State
	}
	return s
}

// diff collects the changes between two sides.
type diff struct {
	old, new side
	changes  []Change
}

// place is where a change stands.
type place struct {
	file      string
	line, was int
}

// add adds a change. The text may hold words of the files: nothing in it is hidden from the reader.
func (d *diff) add(m Mark, at place, words ...string) {
	d.changes = append(d.changes, Change{Mark: m, Text: text.TruncateCells(text.Flatten(strings.Join(words, "")), maxText),
		File: at.file, Line: at.line, Was: at.was})
}

// maxText bounds the text of a change, in cells of a terminal. Its lines in the file are shown besides.
const maxText = 400

// mark is Narrows if the condition holds, and otherwise m.
func mark(narrows bool, m Mark) Mark {
	if narrows {
		return Narrows
	}
	return m
}

// at is the place of a key of mycelium.yaml, or of roles.ID.
func (d *diff) at(key string) place {
	file, line := d.new.Where(key)
	before, was := d.old.Where(key)
	if file == "" {
		return place{file: before, was: was}
	}
	if file != before {
		was = 0
	}
	return place{file, line, was}
}

// whole compares what concerns everything at once.
func (d *diff) whole() {
	if d.old.Dir != d.new.Dir || d.old.Home != d.new.Home {
		d.add(Unclear, place{}, "the files are for ", d.new.Dir, ", and were for ", d.old.Dir)
	}
	switch was, is := d.old.Broken.All, d.new.Broken.All; {
	case !d.old.Trusted && !d.new.Empty(): // told already
	case was != "" && is == "":
		d.add(Widens, place{}, "the files take effect again; until now no call was allowed: ", was)
	case is != "" && was != is:
		d.add(Unclear, place{}, "no call would be allowed: ", is)
	}
	if d.old.Bare != d.new.Bare {
		d.add(Unclear, d.at("mcpServers."+cmp.Or(d.new.Bare, d.old.Bare)), "the tools of another server have no prefix: ", quoted(d.new.Bare))
	}
}

// judged compares the policies in words. They steer a model, so only a person can tell what they change.
func (d *diff) judged() {
	if was, is := d.old.Unjudged, d.new.Unjudged; was != is {
		d.add(mark(was == "", Unclear), place{}, "whether a model may judge calls changes: ", cmp.Or(is, "it may again"))
	}
	seen := map[string]bool{}
	for _, p := range slices.Concat(d.old.Policies, d.new.Policies) {
		if seen[p.ID] {
			continue
		}
		seen[p.ID] = true
		was, before := named(d.old.Policies, p.ID)
		is, after := named(d.new.Policies, p.ID)
		switch {
		case !after:
			d.add(Unclear, place{}, "the model that judges calls no longer follows the policy ", p.ID, ": ", was.Description)
		case !before:
			d.add(Unclear, place{}, "the model that judges calls follows a new policy, ", p.ID, ": ", is.Description)
		case was.Description != is.Description || was.Tool != is.Tool:
			d.add(Unclear, place{}, "the policy ", p.ID, " for the model that judges calls is another: ", is.Description)
		}
	}
}
