package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
)

// An approval that was given once can be kept: a person has it written as a rule when the call has run already. That is for questions that
// an agent's own terminal asks, whose dialog cannot offer it, and for whoever thinks of it too late.

// Keepable says why a request cannot be kept, or returns "": it must be a call that a person allowed, and not by a rule. Whether a rule
// can be written for the call is another question.
func (r *Request) Keepable() string {
	switch {
	case r.Kind != Call:
		return "it is no call, so no rule can answer it"
	case r.State == Pending:
		return "it still waits: answer it with myc approvals approve " + r.ID + " --for rule"
	case r.State != Allowed || r.Answer == nil:
		return "nobody approved it, and only an approval is kept"
	case r.Answer.Via == "model":
		return "a model approved it, and only the approval of a person is kept"
	case r.Answer.Rule != "":
		return "it is kept already, by the rule " + r.Answer.Rule
	}
	return r.Refuses(Rule)
}

// KeepAs is what most people mean who keep an approval of a request: the call itself. A tool whose arguments have words that differ from
// call to call, as the prompt of WebFetch does, would be asked about again each time, so there it is the hosts.
func (r *Request) KeepAs() As {
	if r.Tool != policy.AgentServer+"__Bash" && hasCandidate(*r, ThisHost) {
		return ThisHost
	}
	return ThisCall
}

// Entered adds a call to the settled requests about which an agent's own terminal asked and a person there said yes, so that people find it
// where other answers are. It returns the request with its new id. The call has run: nothing waits for the answer.
func (q *Queue) Entered(ctx context.Context, r Request, a Answer) (Request, error) {
	r.complete()
	e := &entry{bound: r.Bound(), same: r.same(), done: make(chan struct{}), announced: make(chan struct{})}
	a.For, a.Time = Once, q.o.Now()
	if r = r.masked(); r.Created.IsZero() {
		r.Created = a.Time
	}
	r.ID, r.State, r.Answer, r.Waiting, r.Code = newID(), Allowed, &a, 0, r.Code.withoutText()
	e.r = r
	close(e.done)
	close(e.announced)
	if err := q.insertSettled(ctx, e); err != nil {
		return Request{}, fmt.Errorf("store an answer that was given at an agent's own terminal: %w", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.recent = append(q.recent, e); len(q.recent) > maxRecent {
		q.recent = slices.Delete(q.recent, 0, len(q.recent)-maxRecent)
	}
	return r, nil
}

// Keep writes the rule of an approval that was given once, as [Queue.Settle] does for an answer [Rule], and returns the request with the
// name of the rule. as is which calls it allows; empty: [Request.KeepAs]. record is called first, and nothing is kept if it fails. Errors
// are those of Settle; [Request.Keepable] says why a request is not kept.
func (q *Queue) Keep(ctx context.Context, id string, a Answer, s sign.Sign, record func(Request, Answer) error) (Request, error) {
	q.keeping.Lock()
	defer q.keeping.Unlock()
	r, err := q.Show(ctx, id)
	if err != nil {
		return r, err
	}
	if a.As == "" {
		a.As = r.KeepAs()
	}
	a.Allow, a.For, a.Time, a.Sign = true, Rule, q.o.Now(), s
	if err := a.check(); err != nil {
		return r, err
	}
	switch why := r.Keepable(); {
	case why != "":
		return r, badAnswer("request " + r.ID + " cannot be kept: " + why)
	case q.o.WriteRule == nil:
		return r, badAnswer("no rule can be written here")
	case a.Digest != "" && a.Digest != r.Digest:
		return r, ErrDigest
	case r.Demand().Check(s) != nil:
		return r, r.Demand().Check(s)
	case a.As != ThisCall && !hasCandidate(r, a.As):
		return r, badAnswer(fmt.Sprintf("this call cannot be kept as %s: myc approvals show %s lists what it can be kept as", a.As, r.ID))
	}
	if err := record(r, a); err != nil {
		return r, err
	}
	rule, err := q.o.WriteRule(ctx, r, a)
	if err != nil {
		return r, fmt.Errorf("the rule could not be written: %w", err)
	}
	return q.noteRule(r, rule)
}

// noteRule notes the rule of a request that is settled.
func (q *Queue) noteRule(r Request, rule string) (Request, error) {
	answer := *r.Answer
	answer.Rule = rule
	r.Answer = &answer
	if err := q.replaceSettled(&r); err != nil {
		return r, fmt.Errorf("the rule %s is written, but that is not in the database: %w", rule, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, e := range q.recent {
		if e.r.ID == r.ID { // whoever has the entry reads its answer without a lock, so it is replaced and not changed
			next := &entry{r: r, bound: e.bound, same: e.same, done: e.done, announced: e.announced}
			q.recent[i] = next
		}
	}
	return r, nil
}

// leastOfID is how many letters of an id name an answered request.
const leastOfID = 3

// answeredAmong is how many answered requests [Queue.Find] looks among.
const answeredAmong = 500

// Find returns the request whose id begins so, pending or answered, or [ErrUnknown]. An [AmbiguousError] names several.
func (q *Queue) Find(ctx context.Context, prefix string) (Request, error) {
	r, err := q.Show(ctx, prefix)
	if !errors.Is(err, ErrUnknown) || len(prefix) < leastOfID {
		return r, err
	}
	list, err := q.Answered(ctx, answeredAmong)
	if err != nil {
		return r, err
	}
	waiting, err := q.List(ctx)
	if err != nil {
		return r, err
	}
	var found []Request
	for _, one := range append(waiting, list...) {
		if strings.HasPrefix(one.ID, prefix) {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 0:
		return r, ErrUnknown
	case 1:
		return found[0], nil
	}
	ambiguous := &AmbiguousError{Prefix: prefix}
	for _, one := range found {
		ambiguous.IDs = append(ambiguous.IDs, one.ID)
	}
	return r, ambiguous
}

// insertSettled stores a request that is settled already.
func (q *Queue) insertSettled(ctx context.Context, e *entry) error {
	if q.o.DB == nil {
		return nil
	}
	raw, answer, err := encoded(&e.r)
	if err != nil {
		return err
	}
	return q.o.DB.Tx(context.WithoutCancel(ctx), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO approvals (id, session, bound, state, created_at, settled_at, request, answer)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, e.r.ID, e.r.Session, append(e.bound[:len(e.bound):len(e.bound)], e.same[:]...), string(e.r.State),
			e.r.Created.UnixMicro(), e.r.Answer.Time.UnixMicro(), raw, answer)
		return err
	})
}

// replaceSettled stores a settled request anew.
func (q *Queue) replaceSettled(r *Request) error {
	if q.o.DB == nil {
		return nil
	}
	raw, answer, err := encoded(r)
	if err != nil {
		return err
	}
	return q.o.DB.Tx(context.WithoutCancel(q.ctx), func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE approvals SET request = ?, answer = ? WHERE id = ? AND state = ?`, raw, answer, r.ID,
			string(r.State))
		return err
	})
}
