package swarm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/text"
)

// line is the merge queue at work on one batch; see ground.Line.
type line struct {
	*Driver
	features map[string]*book.Feature
	verify   [][]string
	merged   map[ground.Commit][]string // the features in a commit of the chain
}

// Merge brings a candidate onto a base, and remembers which features the commit has.
func (l *line) Merge(ctx context.Context, base ground.Commit, c ground.Candidate) (ground.Merged, error) {
	m, err := l.Ground.Merge(ctx, base, c, l.Governs)
	if err == nil && m.Commit != "" && m.Commit != base {
		l.merged[m.Commit] = append(slices.Clone(l.merged[base]), c.ID)
	}
	return m, err
}

// Verify runs the commands of the session and of each feature in a commit, in the worktree of the queue.
func (l *line) Verify(ctx context.Context, c ground.Commit) (ok bool, output string, err error) {
	var own []*book.Feature
	for _, id := range l.merged[c] {
		f := l.features[id]
		v := validation(f)
		if v == nil || len(v.VerifyCommand) == 0 || !v.EnforceBlocking || f.Taking != nil && !f.Taking.Again {
			continue // what is taken back cannot pass its own checks
		}
		known := append(slices.Clone(l.verify), commandsOf(own)...)
		if v.CoverageTarget > 0 || !slices.ContainsFunc(known, func(argv []string) bool { return slices.Equal(argv, v.VerifyCommand) }) {
			own = append(own, f)
		}
	}
	if len(l.verify)+len(own) == 0 {
		return true, "", nil
	}
	t, err := l.Ground.Queue(ctx)
	if err == nil {
		err = t.Checkout(ctx, c)
	}
	if err != nil {
		return false, "", err
	}
	output, err = checking{l.Driver}.check(ctx, t.Project, l.verify)
	for _, f := range own {
		if err != nil || output != "" {
			break
		}
		output, err = l.passes(ctx, f, t.Project)
	}
	return output == "", output, err
}

// passes runs the command of a feature on the branch, and returns what keeps the feature from landing.
func (l *line) passes(ctx context.Context, f *book.Feature, tree string) (string, error) {
	said, coverage, err := checking{l.Driver}.measure(ctx, f.Validation, tree)
	if !f.Validation.TestPassRequired {
		said = ""
	}
	return cmp.Or(said, coverage), err
}

// commandsOf are the commands of features.
func commandsOf(features []*book.Feature) (out [][]string) {
	for _, f := range features {
		out = append(out, f.Validation.VerifyCommand)
	}
	return out
}

// Land records what is to land, and moves the branch.
func (l *line) Land(ctx context.Context, old, to ground.Commit, landed []ground.Candidate) error {
	intent := &book.Landing{Old: string(old), New: string(to), Commits: l.commits()}
	for _, c := range landed {
		intent.Features = append(intent.Features, c.ID)
	}
	if _, err := l.change(ctx, func(s *book.Session) ([]book.Event, error) {
		s.Landing = intent
		return []book.Event{{Kind: "merge", Text: "lands: " + strings.Join(intent.Features, ", ")}}, nil
	}); err != nil {
		return err
	}
	return l.Ground.Land(ctx, old, to)
}

// commits are the commits of the chain, by the feature that each brings.
func (l *line) commits() map[string]string {
	out := map[string]string{}
	for c, ids := range l.merged {
		out[ids[len(ids)-1]] = string(c)
	}
	return out
}

// merging is the driver where it deals with the merge queue.
type merging struct{ *Driver }

// land runs one batch of the merge queue.
func (d merging) land(ctx context.Context) error {
	s, err := d.Book.Read(ctx, d.id)
	if err != nil {
		return err
	}
	l := &line{Driver: d.Driver, features: map[string]*book.Feature{}, verify: s.Settings.Verify, merged: map[ground.Commit][]string{}}
	var candidates []ground.Candidate
	for _, f := range queued(s) {
		l.features[f.ID] = f
		of := f.Last().Tip
		if f.Taking != nil {
			of = f.Taking.Of
		}
		said, err := d.Ground.Message(ctx, ground.Commit(of))
		if err != nil {
			return err
		}
		candidates = append(candidates, candidate(f, said))
	}
	if err := d.putBack(ctx, s); err != nil {
		return err
	}
	tip, err := d.tip(ctx, s)
	if err != nil {
		return err
	}
	r, err := ground.Batch(ctx, l, tip, candidates)
	if err != nil {
		return err
	}
	if err := d.landed(ctx, l, r); err != nil {
		return err
	}
	return d.returned(ctx, l, r)
}

// candidate is a feature in the merge queue. Its commit says where it comes from.
func candidate(f *book.Feature, said string) ground.Candidate {
	if f.Taking != nil {
		return taking(f, said)
	}
	a := f.Last()
	if said = strings.TrimSpace(said); said == "" {
		said = "feat: " + text.Cell(f.Description, 60)
	}
	return ground.Candidate{ID: f.ID, Commit: ground.Commit(a.Tip), Message: said, Accepted: f.Accepted == a.Tip,
		Trailers: []string{"Swarm-Feature: " + f.ID, "Swarm-Attempt: " + strconv.Itoa(a.N), "Swarm-Worker: " + a.Window}}
}

// landed records what has landed, and removes the worktrees that are not needed any more.
func (d merging) landed(ctx context.Context, l *line, r ground.Round) error {
	done := slices.Concat(r.Landed, r.Nothing)
	if len(done) == 0 {
		return nil
	}
	commits := l.commits()
	proofs, err := d.proofs(ctx, r.Landed, commits)
	if err != nil {
		return err
	}
	if _, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		if s.Landing != nil {
			s.Landed, s.Landing = s.Landing.New, nil
		}
		var events []book.Event
		for _, c := range r.Landed {
			events = append(events, complete(s, c.ID, proofs[c.ID], "it has landed"))
		}
		for _, c := range r.Nothing {
			events = append(events, complete(s, c.ID, nil, "the branch has all of it already"))
		}
		return events, nil
	}); err != nil {
		return err
	}
	d.again() // what depends on them is started before the rest here is done
	for _, c := range done {
		f := l.features[c.ID]
		d.begin(ctx, f.ID, func(ctx context.Context) error {
			d.tidy(ctx, f)
			return nil
		})
	}
	return nil
}

// proofs are what git knows of the commits that have landed, by feature.
func (d merging) proofs(ctx context.Context, landed []ground.Candidate, commits map[string]string) (map[string]*book.Proof, error) {
	out := map[string]*book.Proof{}
	for _, c := range landed {
		before, files, sum, err := d.Ground.Brought(ctx, ground.Commit(commits[c.ID]))
		if err != nil {
			return nil, err
		}
		out[c.ID] = book.NewProof(before, ground.Commit(commits[c.ID]), files, sum)
	}
	return out, nil
}

// complete marks a feature as completed. There is no proof where no commit has landed.
func complete(s *book.Session, id string, p *book.Proof, text string) book.Event {
	f, err := s.Feature(id)
	if err != nil {
		return book.Event{Kind: "merge", Text: err.Error()}
	}
	a := f.Last()
	if f.Taking != nil {
		return taken(f, p)
	}
	f.State, f.Commit, f.Reason, f.Proof, f.TakenBack = book.Completed, "", "", p, ""
	if p != nil {
		f.Commit = p.After
		if a.Proof != nil {
			p.Branch, p.Uncommitted = a.Proof.Branch, a.Proof.Uncommitted
		}
	}
	a.State = book.Landed
	return book.Event{Kind: "feature", Feature: id, Attempt: a.N, Text: text}
}

// returned takes care of what did not land.
func (d merging) returned(ctx context.Context, l *line, r ground.Round) error {
	for _, c := range r.Conflicts {
		if l.features[c.ID].Taking != nil {
			if err := d.stays(ctx, c.ID, c.Conflict.Names, "others have changed the same lines since"); err != nil {
				return err
			}
			continue
		}
		if err := d.conflict(ctx, l.features[c.ID], c.Conflict); err != nil {
			return err
		}
	}
	for _, c := range r.Pending {
		why := "it changes files that govern agents (" + text.Cell(strings.Join(c.Governing, ", "), 200) + "): myc swarm merge " + c.ID +
			" lets it land"
		if err := d.hold(ctx, l.features[c.ID], why, true); err != nil {
			return err
		}
	}
	if r.Bad == nil {
		return nil
	}
	f := l.features[r.Bad.ID]
	if f.Taking != nil {
		return d.stays(ctx, f.ID, nil, "the branch is red with that: "+brief(r.Bad.Output))
	}
	tip, err := d.Ground.Bring(ctx)
	if err != nil {
		return err
	}
	why := "Your commit passes its own checks, and the branch is red with it:\n\n" + r.Bad.Output + "\n\nBring the branch in (git merge " +
		string(tip) + "), mend the cause and commit."
	if a := f.Last(); a.Sent < sendBack {
		return d.sendBack(ctx, book.Red, f.ID, a, why, func(*book.Attempt) {})
	}
	return d.hold(ctx, f, "its commit makes the branch red: "+brief(r.Bad.Output), false)
}

// conflict sends a candidate back to its worker once, with both sides; then a person decides.
func (d merging) conflict(ctx context.Context, f *book.Feature, c *ground.Conflict) error {
	if f.Last().Conflicts > 0 {
		return d.hold(ctx, f, "it conflicts with what has landed in "+text.Cell(strings.Join(c.Names, ", "), 200), false)
	}
	tip, err := d.Ground.Bring(ctx)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "What you committed conflicts with what others have landed, in %s.\n\n%s\n", strings.Join(c.Names, ", "), c.Says)
	for _, side := range c.Files {
		fmt.Fprintf(&b, "\n## %s\n\nOn the branch:\n\n%s\n\nYours:\n\n%s\n", side.Path, side.Ours, side.Text)
	}
	fmt.Fprintf(&b, "\nBring the branch in (git merge %s), keep what both sides want, and commit the merge.", tip)
	return d.sendBack(ctx, "feature", f.ID, f.Last(), text.Middle(b.String(), 32<<10), func(a *book.Attempt) { a.Conflicts++ })
}

// Accept lets a feature land that waits because it changes files that govern agents. It is refused for every other, and if its last commit
// is not tip, unless that is empty. by is who lets it land.
func Accept(ctx context.Context, b *book.Book, session, feature, tip, by string) error {
	_, err := b.Change(ctx, session, "", func(s *book.Session) ([]book.Event, error) {
		f, err := s.Feature(feature)
		if err != nil {
			return nil, err
		}
		a := f.Last()
		switch {
		case f.State != book.Waiting || a == nil || a.Tip == "":
			return nil, fmt.Errorf("feature %s does not wait to be merged: its state is %s", feature, f.State)
		case tip != "" && tip != a.Tip:
			return nil, fmt.Errorf("feature %s has other work by now than what was looked at", feature)
		case !f.Governs:
			return nil, text.Hinted(fmt.Errorf("feature %s cannot land as it is: %s", feature, f.Reason),
				"myc swarm retry "+feature+" has it done anew; myc swarm plan add adds a feature that mends it")
		}
		f.State, f.Reason, f.Governs, f.Accepted = book.Queued, "", false, a.Tip
		return []book.Event{{Kind: "feature", Feature: feature, Attempt: a.N, Text: by + " lets it land"}}, nil
	})
	return err
}

// hold has a feature wait for a person. governs: because it changes files that govern agents.
func (d merging) hold(ctx context.Context, f *book.Feature, why string, governs bool) error {
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		f, err := s.Feature(f.ID)
		if err != nil || f.State != book.Queued {
			return nil, err
		}
		f.State, f.Reason, f.Governs = book.Waiting, why, governs
		return []book.Event{{Kind: "feature", Feature: f.ID, Attempt: f.Last().N, Text: "it waits for a person: " + why}}, nil
	})
	return err
}

// recover finishes a landing that a driver before this one has begun. The ref says whether it took place.
func (d merging) recover(ctx context.Context, i *book.Landing) error {
	whether, err := d.Ground.Landed(ctx, ground.Commit(i.Old), ground.Commit(i.New))
	if err != nil {
		return err
	}
	var proofs map[string]*book.Proof
	if whether == ground.Yes {
		var landed []ground.Candidate
		for _, id := range i.Features {
			landed = append(landed, ground.Candidate{ID: id})
		}
		if proofs, err = d.proofs(ctx, landed, i.Commits); err != nil {
			return err
		}
	}
	_, err = d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		s.Landing = nil
		if whether == ground.Yes {
			s.Landed = i.New
		} else {
			return []book.Event{{Kind: "merge", Text: "a landing was broken off and is made again: " + strings.Join(i.Features, ", ")}}, nil
		}
		var events []book.Event
		for _, id := range i.Features {
			events = append(events, complete(s, id, proofs[id], "it had landed when the driver ended"))
		}
		return events, nil
	})
	if err != nil || whether != ground.Yes {
		return err
	}
	s, err := d.Book.Read(ctx, d.id)
	if err != nil {
		return err
	}
	for _, id := range i.Features {
		if f, err := s.Feature(id); err == nil {
			d.tidy(ctx, f)
		}
	}
	return nil
}
