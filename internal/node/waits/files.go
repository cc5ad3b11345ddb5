package waits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// known is what was found of files: for as long as neither they nor what is in force become others, it is not worked out anew.
type known struct {
	digest string
	view   *project.View
	found  *api.WaitingFiles
}

// waitingFiles are the files that a person has to accept; nil: there are none.
func (d *Desk) waitingFiles() (*api.WaitingFiles, error) {
	v := d.View()
	both, err := v.Project.Candidate()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !both.Waits():
		d.files = known{}
		return nil, nil
	case d.files.found != nil && d.files.digest == both.Digest && d.files.view == v:
		return d.files.found, nil
	}
	c, err := both.Loadable()
	if err != nil {
		return nil, err
	}
	found := Files(v.Project, c, v.Catalog)
	for _, p := range unnamed(v, c) {
		found.Problems = append(found.Problems, project.ProblemText(p))
	}
	d.files = known{both.Digest, v, &found}
	return &found, nil
}

// unnamed is what a candidate that loads names, and what does not exist.
func unnamed(v *project.View, c *config.Candidate) []policy.Problem {
	if len(c.Why) > 0 {
		return nil
	}
	return v.Unnamed(c)
}

// Files says what a candidate would put in the place of what is in force. The catalog is what the servers offer; without it, less can be
// proved to narrow.
func Files(p *config.Project, c *config.Candidate, catalog skill.Catalog) api.WaitingFiles {
	out := api.WaitingFiles{Digest: c.Digest, Changes: []api.FileChange{}, Meaning: []meaning.Change{}, Problems: []string{},
		First: c.Fresh() || c.Outside()}
	for _, pr := range c.Why {
		out.Problems = append(out.Problems, project.ProblemText(pr))
	}
	if len(c.Changes) > 0 && len(c.Why) == 0 {
		out.Meaning = append(out.Meaning, Meaning(p, c, catalog)...)
	}
	out.Narrows = len(c.Why) == 0 && meaning.OnlyNarrows(out.Meaning)
	for _, ch := range c.Changes {
		out.Changes = append(out.Changes, api.FileChange{File: ch.File, Yours: ch.Yours, Kind: ch.Kind,
			Lines: strings.Split(strings.TrimSuffix(ChangeLines(ch), "\n"), "\n"), Shipped: ch.Shipped})
		if ch.Since.After(out.Since) {
			out.Since = ch.Since
		}
	}
	return out
}

// Meaning says what it means to put a candidate in the place of what is in force.
func Meaning(p *config.Project, c *config.Candidate, catalog skill.Catalog) []meaning.Change {
	files := make([]string, len(c.Changes))
	for i, ch := range c.Changes {
		files[i] = ch.File
	}
	return meaning.Compare(p, c.Project, catalog, files)
}

// ChangeLines shows what changed in a file, line by line. Of a file that is no text it says the size.
func ChangeLines(ch config.Change) string {
	before, after := ch.Before(), ch.After
	if slices.ContainsFunc([][]byte{before, after}, func(b []byte) bool { return !utf8.Valid(b) || len(b) > 1<<20 }) {
		return fmt.Sprintf("no text, or a long one: %d bytes, before %d\n", len(after), len(before))
	}
	return text.Diff(string(before), string(after))
}

// AcceptFiles accepts the files that wait if they are those that were shown, as myc trust --expect does. Files that do not only narrow
// demand the second sign.
func (d *Desk) AcceptFiles(ctx context.Context, from op.Caller, p api.AcceptFilesParams) (none op.None, err error) {
	v := d.View()
	both, err := v.Project.Candidate()
	if err != nil {
		return none, err
	}
	c, err := both.Loadable()
	if err != nil {
		return none, err
	}
	switch {
	case !c.Waits():
		return none, failure.New(failure.Conflict, errors.New("trust: nothing waits any more: somebody has accepted it, or took it back"), "")
	case c.Fresh() || c.Outside():
		return none, failure.New(failure.Denied, errors.New("trust: nothing of this folder was ever accepted"),
			"the first time is for a terminal in that folder: myc trust")
	case p.Digest == "" || p.Digest != c.Digest:
		return none, failure.New(failure.Conflict, errors.New("trust: the files are not those that were shown any more"),
			"look at what they are now")
	case len(c.Why) > 0:
		return none, failure.New(failure.Config, errors.New("trust: what does not load cannot be accepted: "+project.ProblemText(c.Why[0])), "")
	}
	if missing := unnamed(v, c); len(missing) > 0 {
		return none, failure.New(failure.Config, errors.New("trust: what names something that does not exist is not accepted: "+
			project.ProblemText(missing[0])), "correct the names")
	}
	if err := Files(v.Project, c, v.Catalog).Demand().Check(sign.Of(p.Sure)); err != nil {
		return none, err
	}
	if err := acts.Trust(ctx, c, acts.Of(from.UID, p.Device)); err != nil {
		return none, err
	}
	return none, d.Reload(ctx)
}
