package ground

import (
	"context"
	"fmt"
	"slices"
)

// Line is what the queue works on.
type Line interface {
	// Merge brings a candidate onto a base; see [Repo.Merge].
	Merge(ctx context.Context, base Commit, c Candidate) (Merged, error)
	// Verify says whether a commit is good, and what the commands printed. An error means that nobody knows.
	Verify(ctx context.Context, c Commit) (ok bool, output string, err error)
	// Land records what is to land, and moves the branch; see [Repo.Land].
	Land(ctx context.Context, old, to Commit, landed []Candidate) error
}

// Round is what one batch came to. Every candidate is in one of its lists.
type Round struct {
	Tip       Commit      // of the branch now
	Landed    []Candidate // in their order, one commit each
	Nothing   []Candidate // bring nothing that the branch does not have
	Conflicts []Refused   // with the branch as it was at the start of the round: back to their workers
	Pending   []Refused   // change governing files: a person decides
	Bad       *Refused    // the first that made the batch red: back to its worker
	Again     []Candidate // wait for the next round, in their order
	Verified  int         // how often Verify was called
}

// Refused is a candidate that did not land, and why: one of the three.
type Refused struct {
	Candidate
	Conflict  *Conflict
	Governing []string
	Output    string
}

// link is a commit of a chain.
type link struct {
	Candidate
	commit Commit
	place  int // among the candidates
}

// Batch brings candidates onto the tip of a branch in their order. Each becomes a commit on the one before it, and the last is
// verified. If it is green, all land. If it is red, the longest green prefix is searched by halves: n commits take at most ⌈log2 n⌉
// further verifications. What lands is a commit that was itself verified, never its like.
//
// A round with a candidate always gets on: its first one lands, or is returned as bad, in conflict, pending or nothing. So the
// rounds come to an end. After an error nothing is lost: what has landed is on the branch, and the same candidates may be given
// again.
func Batch(ctx context.Context, l Line, tip Commit, candidates []Candidate) (Round, error) {
	r := Round{Tip: tip}
	chain, waits, err := r.chain(ctx, l, candidates)
	if err != nil || len(chain) == 0 {
		return r, err
	}
	good, output, err := r.prefix(ctx, l, chain)
	if err != nil {
		return r, err
	}
	if good < len(chain) {
		r.Bad = &Refused{Candidate: chain[good].Candidate, Output: output}
		for _, c := range chain[good+1:] {
			waits = append(waits, c.place)
		}
	}
	slices.Sort(waits)
	for _, place := range waits {
		r.Again = append(r.Again, candidates[place])
	}
	if good == 0 {
		return r, nil
	}
	for _, c := range chain[:good] {
		r.Landed = append(r.Landed, c.Candidate)
	}
	to := chain[good-1].commit
	if err := l.Land(ctx, tip, to, r.Landed); err != nil {
		return Round{Tip: tip, Verified: r.Verified}, fmt.Errorf("land %d of %d: %w", good, len(chain), err)
	}
	r.Tip = to
	return r, nil
}

// chain makes the commits. waits are the places of the candidates in conflict with
// one before them that has not landed yet.
func (r *Round) chain(ctx context.Context, l Line, candidates []Candidate) (chain []link, waits []int, err error) {
	at := r.Tip
	for place, c := range candidates {
		m, err := l.Merge(ctx, at, c)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case m.Conflict != nil && len(chain) > 0:
			waits = append(waits, place)
		case m.Conflict != nil:
			r.Conflicts = append(r.Conflicts, Refused{Candidate: c, Conflict: m.Conflict})
		case len(m.Governing) > 0 && !c.Accepted:
			r.Pending = append(r.Pending, Refused{Candidate: c, Governing: m.Governing})
		case m.Commit == at && len(chain) > 0:
			waits = append(waits, place) // what it brings is in a commit that has not landed yet
		case m.Commit == at:
			r.Nothing = append(r.Nothing, c)
		default:
			chain, at = append(chain, link{c, m.Commit, place}), m.Commit
		}
	}
	return chain, waits, nil
}

// prefix returns how many commits of a chain, from its beginning, are good: the last of them was verified green and the next one
// red. output is of that next one.
func (r *Round) prefix(ctx context.Context, l Line, chain []link) (good int, output string, err error) {
	red := len(chain) + 1 // the least number of commits that is known to be red
	for next := len(chain); good+1 < red; next = (good + red) / 2 {
		ok, said, err := l.Verify(ctx, chain[next-1].commit)
		if err != nil {
			return 0, "", fmt.Errorf("verify %.12s: %w", chain[next-1].commit, err)
		}
		r.Verified++
		if ok {
			good = next
		} else {
			red, output = next, said
		}
	}
	return good, output, nil
}
