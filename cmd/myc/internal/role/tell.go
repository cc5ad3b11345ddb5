package role

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/change"

	"mycelium/internal/config"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/meaning"
	"mycelium/internal/skill"
)

// sumInForce is the digest of what is accepted of a file; empty if there is none.
func sumInForce(p *config.Project, file string) string {
	a, err := p.Store().Read()
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(a.Files, func(e accept.Entry) bool { return e.Path == file })
	if i < 0 {
		return ""
	}
	return a.Files[i].Sum
}

// teller compares one version after the other.
type teller struct {
	*app
	p       *config.Project
	file    string
	catalog skill.Catalog
	before  *config.Project // with the version before; nil: there is none, it does not load, or nothing is kept of it
}

// step says what a version changes against the one before.
func (n *teller) step(is accept.Version) version {
	r := version{Changes: []meaning.Change{}}
	was := n.before
	n.before = nil
	data, err := n.p.Store().Content(is)
	switch {
	case err != nil && is.Sum != "":
		r.Summary = "its content is not kept"
		if !errors.Is(err, fs.ErrNotExist) {
			r.Summary = err.Error()
		}
		return r
	case is.Sum == "":
		data = nil
	}
	r.Kept = is.Sum != ""
	f := change.Of("", n.p, n.file)
	f.Data = data
	c, err := f.Candidate()
	switch {
	case err != nil:
		r.Summary = err.Error()
		return r
	case len(c.Why) > 0:
		r.Summary = "it does not load with the other files of now: " + c.Why[0].Message
		return r
	}
	if n.before = c.Project; was != nil {
		if changes := meaning.Compare(was, c.Project, n.catalog, []string{n.file}); len(changes) > 0 {
			r.Changes = changes
		}
	}
	if r.Summary = summary(r.Changes, was != nil, is.Sum == ""); is.Number == 1 {
		r.Summary = "the first version"
	}
	return r
}

// summary says changes in one line.
func summary(changes []meaning.Change, known, deleted bool) string {
	var words []string
	for _, c := range changes {
		words = append(words, string(c.Mark)+": "+c.Text)
	}
	switch {
	case deleted:
		return strings.Join(append([]string{"deleted"}, words...), "; ")
	case !known:
		return "what came before is not known"
	case len(words) == 0:
		return "nothing in what it means"
	}
	return strings.Join(words, "; ")
}
