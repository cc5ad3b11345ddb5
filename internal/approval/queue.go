package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/store"
	"mycelium/internal/text"
)

// DefaultDeadline is how long a request waits where nothing else is configured.
const DefaultDeadline = 300 * time.Second

// Who settles a request where no person and no model does.
const (
	ByDeadline = "deadline" // nobody answered in time
	ByCaller   = "caller"   // whoever asked waits no more
	BySession  = "session"  // the session ended
)

// The bounds of a queue. Beyond them a request is refused at once: a person cannot look through more, and an agent must not be
// able to bury one question under others.
const (
	maxPending    = 256
	maxPerSession = 16
	maxArgs       = 256 << 10 // bytes of arguments
	maxWords      = 8 << 10   // bytes of any other text
	maxRecent     = 1000      // settled requests that are kept in memory
)

// rejoin is how long a request without anybody who waits is kept after a restart: hooks and clients come back within seconds.
const rejoin = 30 * time.Second

// Options of a queue. All of them may be left out.
type Options struct {
	DB       *store.DB        // nil: nothing survives a restart
	Deadline time.Duration    // 0: [DefaultDeadline]; below 0: a request waits for as long as its caller does
	Now      func() time.Time // nil: time.Now
	Logger   *slog.Logger     // nil: discard
	// WriteRule writes what an answer [Rule] allows into the project's files, and returns the name of the rule. nil: no such answer.
	WriteRule func(ctx context.Context, r Request, a Answer) (rule string, err error)
	Judge     Judge // nil: people are asked at once
}

// Queue keeps the requests that wait. It is safe for concurrent use.
type Queue struct {
	o      Options
	ctx    context.Context // of judges; ends with the queue
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	open     map[string]*entry   // pending, by id
	byBound  map[[32]byte]*entry // pending, and answered before their caller came back
	kept     map[[32]byte]kept   // answers for the rest of a session
	recent   []*entry            // settled, oldest first
	watchers map[*watcher]struct{}
	closing  chan struct{} // closed by Suspend
}

// entry is one request. What it holds is guarded by the queue's lock.
type entry struct {
	r         Request
	bound     [32]byte
	done      chan struct{} // closed when it is settled
	timer     *time.Timer   // of its deadline, or of the time to rejoin; nil: none
	stop      context.CancelFunc
	announced chan struct{} // closed when people are told of it: at once, or when the judge has passed it on
	withdrawn bool          // whoever waited has given up, and it is about to expire

	settling sync.Mutex // one answer at a time is on its way; taken before the queue's lock
}

// kept is an answer for the rest of a session.
type kept struct {
	session string
	answer  Answer
}

// New opens a queue. Requests that waited when the last process ended wait on for a short time, for whoever asked to come back.
func New(ctx context.Context, o Options) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Deadline == 0 {
		o.Deadline = DefaultDeadline
	}
	q := &Queue{
		o: o, open: map[string]*entry{}, byBound: map[[32]byte]*entry{}, kept: map[[32]byte]kept{},
		watchers: map[*watcher]struct{}{}, closing: make(chan struct{}),
	}
	q.ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := q.load(ctx); err != nil {
		q.cancel()
		return nil, fmt.Errorf("open the queue of approvals: %w", err)
	}
	return q, nil
}

// Suspend lets go of everybody who waits, with [ErrClosed], and keeps the requests for the next process. It is called before
// callers are cut off, so that their going does not count as giving up.
func (q *Queue) Suspend() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.suspended() {
		return
	}
	close(q.closing)
	for _, e := range q.open {
		e.halt()
	}
	for _, e := range q.byBound {
		e.halt()
	}
}

// suspended reports whether Suspend was called. The lock is held.
func (q *Queue) suspended() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

// Close is Suspend, and waits for what is under way.
func (q *Queue) Close() {
	q.Suspend()
	q.cancel()
	q.work.Wait()
}

// halt stops what runs for an entry. The queue's lock is held.
func (e *entry) halt() {
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.stop != nil {
		e.stop()
	}
}

// Ask waits until a request is settled, and returns how: an answer that allows or denies, a deadline that passed being a denial by
// [ByDeadline]. An error is a denial too: [ErrFull], [ErrTooLarge], [ErrClosed], the cause of ctx's end, or the request could not be
// kept. A request that equals one that waits already, in all that an answer holds for, joins it.
//
// The caller gives what the request shows, and the queue masks what has the form of a secret in it; id, state, creation and, where it is
// zero, the deadline are the queue's. A deadline that is given is kept where it is the earlier one.
func (q *Queue) Ask(ctx context.Context, r Request) (Answer, error) { return q.AskTelling(ctx, r, nil) }

// AskTelling is Ask, and calls told once with the request as it waits, when people are told of it; nil: nobody is called. told must not
// wait.
func (q *Queue) AskTelling(ctx context.Context, r Request, told func(Request)) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, context.Cause(ctx)
	}
	e, a, err := q.join(ctx, r)
	if e == nil {
		return a, err
	}
	announced := e.announced
	if told == nil {
		announced = nil
	}
	for {
		select {
		case <-e.done:
			return *e.r.Answer, nil // nobody changes it any more
		case <-q.closing:
			return Answer{}, ErrClosed
		case <-ctx.Done():
			q.leave(e)
			return Answer{}, context.Cause(ctx)
		case <-announced:
			announced = nil
			q.mu.Lock()
			id := e.r.ID
			q.mu.Unlock()
			if r, err := q.Show(ctx, id); err == nil && r.State == Pending {
				told(r)
			}
		}
	}
}

// join finds the answer that is known already, else the request to wait for, which it makes if there is none.
func (q *Queue) join(ctx context.Context, r Request) (*entry, Answer, error) {
	r.Kind = cmp.Or(r.Kind, Call)
	if r.Digest == "" {
		r.Digest = r.Sum(r.Args)
	}
	bound := r.Bound()
	r = r.masked()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.suspended() {
		return nil, Answer{}, ErrClosed
	}
	if k, ok := q.kept[bound]; ok {
		return nil, k.answer, nil
	}
	if e := q.byBound[bound]; e != nil {
		if e.r.State != Pending { // answered while its caller was away
			delete(q.byBound, bound)
			e.halt()
			return nil, *e.r.Answer, nil
		}
		q.rejoined(e)
		return e, Answer{}, nil
	}
	if err := q.room(&r); err != nil {
		return nil, Answer{}, err
	}
	now := q.o.Now()
	r.ID, r.State, r.Created, r.Answer, r.Waiting = newID(), Pending, now, nil, 1
	if q.o.Deadline > 0 {
		if d := now.Add(q.o.Deadline); r.Deadline.IsZero() || d.Before(r.Deadline) {
			r.Deadline = d
		}
	}
	e := &entry{r: r, bound: bound, done: make(chan struct{}), announced: make(chan struct{})}
	if err := q.insert(ctx, e); err != nil {
		return nil, Answer{}, fmt.Errorf("keep the request: %w", err)
	}
	q.open[r.ID], q.byBound[bound] = e, e
	if !r.Deadline.IsZero() {
		q.expireAfter(e, r.Deadline.Sub(now), ByDeadline)
	}
	q.judge(e)
	return e, Answer{}, nil
}

// rejoined counts one more who waits. The lock is held.
func (q *Queue) rejoined(e *entry) {
	e.withdrawn = false
	if e.r.Waiting++; e.r.Waiting == 1 { // it was orphaned by a restart: its own deadline counts again
		e.halt()
		e.timer = nil
		if !e.r.Deadline.IsZero() {
			q.expireAfter(e, e.r.Deadline.Sub(q.o.Now()), ByDeadline)
		}
	}
	q.tell(e)
}

// room refuses a request that is too many or too large. The lock is held.
func (q *Queue) room(r *Request) error {
	if len(r.Args) > maxArgs {
		return ErrTooLarge
	}
	r.Thinking, r.Text, r.Reason = text.Truncate(r.Thinking, maxWords), text.Truncate(r.Text, maxWords), text.Truncate(r.Reason, maxWords)
	n := 0
	for _, e := range q.open {
		if e.r.Session == r.Session {
			n++
		}
	}
	if n >= maxPerSession || len(q.open) >= maxPending {
		return ErrFull
	}
	return nil
}

// leave is one caller who gives up; with the last one the request is withdrawn.
func (q *Queue) leave(e *entry) {
	q.mu.Lock()
	e.r.Waiting--
	last := e.r.Waiting == 0 && e.r.State == Pending && !q.suspended()
	e.withdrawn = last
	if !last && e.r.State == Pending {
		q.tell(e)
	}
	q.mu.Unlock()
	if last {
		q.expire(e, ByCaller)
	}
}

// expireAfter denies a request when its time has come. The lock is held.
func (q *Queue) expireAfter(e *entry, d time.Duration, by string) {
	e.timer = time.AfterFunc(max(d, 0), func() { q.expire(e, by) })
}

// expire denies a request that nobody answered.
func (q *Queue) expire(e *entry, by string) {
	e.settling.Lock()
	defer e.settling.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.r.State != Pending || q.suspended() || by == ByCaller && e.r.Waiting > 0 {
		return
	}
	if err := q.settled(e, Expired, Answer{For: Once, By: by, Time: q.o.Now()}); err != nil {
		q.o.Logger.Error("an approval that expired is not in the database", "id", e.r.ID, "error", err) // the next start finds it expired
	}
}

// Settle answers a request and returns it as it is then. The first answer wins. Errors: [ErrUnknown], a [LateError], [ErrDigest], [ErrNoWords], an
// answer that makes no sense, or the answer could not be kept: then the request waits on.
func (q *Queue) Settle(ctx context.Context, id string, a Answer) (Request, error) {
	if err := a.check(); err != nil {
		return Request{}, err
	}
	q.mu.Lock()
	e := q.open[id]
	q.mu.Unlock()
	if e == nil {
		return q.late(ctx, id)
	}
	e.settling.Lock()
	defer e.settling.Unlock()
	q.mu.Lock()
	r, closing, withdrawn := e.r, q.suspended(), e.withdrawn
	q.mu.Unlock()
	a.Time = q.o.Now()
	if r.Kind == Question && a.Allow && a.Text == "" {
		a.Text = a.Reason // the words of ways that know no other ones
	}
	late := !r.Deadline.IsZero() && !a.Time.Before(r.Deadline)
	switch {
	case r.State != Pending:
		return r, &LateError{r}
	case closing:
		return r, ErrClosed
	case a.Digest != "" && a.Digest != r.Digest:
		return r, ErrDigest
	case r.Kind == Question && a.Allow && strings.TrimSpace(a.Text) == "":
		return r, ErrNoWords
	case late || withdrawn: // what ends it is on its way
		by := ByDeadline
		if !late {
			by = ByCaller
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		err := q.settled(e, Expired, Answer{For: Once, By: by, Time: a.Time})
		return e.r, errors.Join(&LateError{e.r}, err)
	}
	if a.For == Rule {
		if q.o.WriteRule == nil {
			return r, badAnswer("no rule can be written here; approve it once or for the session")
		}
		rule, err := q.o.WriteRule(ctx, r, a)
		if err != nil {
			return r, fmt.Errorf("the rule could not be written, and the call waits on: %w", err)
		}
		a.Rule = rule
	}
	state := Denied
	if a.Allow {
		state = Allowed
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.settled(e, state, a); err != nil {
		return e.r, fmt.Errorf("the answer could not be kept, and the call waits on: %w", err)
	}
	return e.r, nil
}

// check refuses an answer that makes no sense, and fills in what is meant.
func (a *Answer) check() error {
	a.For = cmp.Or(a.For, Once)
	if !a.Allow && a.For == Session {
		a.For = Never
	}
	switch {
	case !slices.Contains([]For{Once, Session, Rule, Never}, a.For):
		return badAnswer(fmt.Sprintf("an answer is for once, session, rule or never, not for %q", a.For))
	case a.Allow && a.For == Never:
		return badAnswer("never is an answer that denies")
	case !a.Allow && a.For == Rule:
		return badAnswer("a denial is for once or for the session; a deny rule is written by hand")
	case a.By == "":
		return badAnswer("an answer says who gives it")
	}
	return nil
}

// settled ends a request: in the database first, then here. An answer that cannot be kept settles nothing; a denial stands all the
// same. Both locks are held.
func (q *Queue) settled(e *entry, state State, a Answer) error {
	next := e.r
	next.State, next.Answer = state, &a
	remember := state != Expired && (a.For == Session || a.For == Never)
	err := q.update(e, &next, remember)
	if err != nil && a.Allow {
		return err
	}
	e.halt()
	e.r = next
	delete(q.open, e.r.ID)
	delete(q.byBound, e.bound)
	if remember {
		q.kept[e.bound] = kept{e.r.Session, a}
	}
	if e.r.Waiting == 0 && state != Expired && !remember {
		q.byBound[e.bound] = e // whoever asked was cut off by a restart, and may still come for it
		e.timer = time.AfterFunc(rejoin, func() { q.giveUp(e) })
	}
	if q.recent = append(q.recent, e); len(q.recent) > maxRecent {
		q.recent = slices.Delete(q.recent, 0, len(q.recent)-maxRecent)
	}
	close(e.done)
	q.tell(e)
	return err
}

// giveUp drops an answer for which nobody came back.
func (q *Queue) giveUp(e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byBound[e.bound] == e {
		delete(q.byBound, e.bound)
	}
}

// Forget drops what was answered for the rest of a session, and denies what waits in it: the session is over.
func (q *Queue) Forget(ctx context.Context, session string) error {
	q.mu.Lock()
	var waiting []*entry
	for _, e := range q.open {
		if e.r.Session == session {
			waiting = append(waiting, e)
		}
	}
	q.mu.Unlock()
	for _, e := range waiting {
		q.expire(e, BySession)
	}
	return q.Reset(ctx, session)
}

// Reset drops what was answered for the rest of a session: the same calls are asked about again.
func (q *Queue) Reset(ctx context.Context, session string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	had := false
	for b, k := range q.kept {
		if k.session == session {
			delete(q.kept, b)
			had = true
		}
	}
	if !had {
		return nil
	}
	return q.unremember(ctx, session)
}

// List returns the requests that wait, oldest first.
func (q *Queue) List(context.Context) ([]Request, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Request, 0, len(q.open))
	for _, e := range q.open {
		out = append(out, e.r)
	}
	slices.SortFunc(out, func(a, b Request) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// Show returns one request, also a settled one; [ErrUnknown].
func (q *Queue) Show(ctx context.Context, id string) (Request, error) {
	q.mu.Lock()
	e := q.open[id]
	if e == nil {
		if i := slices.IndexFunc(q.recent, func(e *entry) bool { return e.r.ID == id }); i >= 0 {
			e = q.recent[i]
		}
	}
	if e != nil {
		defer q.mu.Unlock()
		return e.r, nil
	}
	q.mu.Unlock()
	return q.find(ctx, id)
}

// late refuses an answer to a request that does not wait.
func (q *Queue) late(ctx context.Context, id string) (Request, error) {
	r, err := q.Show(ctx, id)
	if err != nil {
		return r, err
	}
	return r, &LateError{r}
}
