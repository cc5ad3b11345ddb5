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
	"sync/atomic"
	"time"

	"mycelium/internal/credential"
	"mycelium/internal/policy/sign"
	"mycelium/internal/store"
	"mycelium/internal/text"
)

// DefaultDeadline is how long a request waits where nothing else is configured.
const DefaultDeadline = 300 * time.Second

// The values of [Answer.By] for requests that neither a person nor a model answered.
const (
	ByDeadline = "deadline" // the deadline passed
	ByCaller   = "caller"   // the caller no longer waits
	BySession  = "session"  // the session ended
)

// The bounds of a queue. A request beyond them is refused at once: a person cannot read more, and an agent must not be able to bury one
// question under others.
const (
	maxPending    = 256
	maxPerSession = 16
	maxArgs       = 256 << 10 // bytes of arguments
	maxWords      = 8 << 10   // bytes of any other text
	maxRecent     = 1000      // settled requests that are kept in memory
)

// rejoinTime is how long a restarted queue keeps a request that has no caller: hooks and clients come back within seconds.
const rejoinTime = 30 * time.Second

// Options configure a queue. All fields are optional.
type Options struct {
	DB       *store.DB        // nil: requests do not survive a restart
	Deadline time.Duration    // 0: [DefaultDeadline]; below 0: no deadline; see [Queue.SetDeadline]
	Now      func() time.Time // nil: time.Now
	Logger   *slog.Logger     // nil: discard
	// WriteRule writes a rule for an answer [Rule] into the project's files and returns its name. nil: such answers are refused.
	WriteRule func(ctx context.Context, r Request, a Answer) (rule string, err error)
	// Overruled says why the policy of now denies a call that was just approved, or returns "". nil: the answer does not say.
	Overruled func(ctx context.Context, r Request) string
	Judge     Judge // nil: people are asked at once
}

// Queue holds the requests that wait for an answer. It is safe for concurrent use.
type Queue struct {
	o      Options
	ctx    context.Context // of the judge; done when the queue is closed
	cancel context.CancelFunc
	work   sync.WaitGroup

	keeping sync.Mutex // held while an approval is kept; taken before mu

	mu       sync.Mutex
	open     map[string]*entry             // pending, by id
	byBound  map[[32]byte]*entry           // pending, or answered after a restart before the caller came back
	kept     map[[32]byte]kept             // answers for the rest of a session: approvals by Bound, denials by same
	recent   []*entry                      // settled, oldest first
	watchers map[*subscriber[Request]]bool // true: an observer, see [Queue.Observe]
	closing  chan struct{}                 // closed by Suspend

	deadline atomic.Int64 // of the requests to come, a time.Duration
}

// entry is one request. The queue's lock guards its fields.
type entry struct {
	r         Request
	bound     [32]byte
	same      [32]byte
	done      chan struct{} // closed when it is settled
	timer     *time.Timer   // of its deadline or of rejoinTime; may be nil
	stop      context.CancelFunc
	announced chan struct{} // closed when people may see it: at once, or when the judge has passed it on
	withdrawn bool          // the last caller has given up, and the request is about to expire

	answering sync.Mutex // held while one answer is checked and stored; taken before the queue's lock
}

// New opens a queue. Requests that waited when the last process ended stay open for rejoinTime, so that their callers can come back.
func New(ctx context.Context, o Options) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	q := &Queue{
		o: o, open: map[string]*entry{}, byBound: map[[32]byte]*entry{}, kept: map[[32]byte]kept{},
		watchers: map[*subscriber[Request]]bool{}, closing: make(chan struct{}),
	}
	q.SetDeadline(o.Deadline)
	q.ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := q.load(ctx); err != nil {
		q.cancel()
		return nil, fmt.Errorf("open the queue of approvals: %w", err)
	}
	return q, nil
}

// Suspend returns [ErrClosed] to every caller and keeps the requests for the next process. It must come before the callers are
// disconnected: a caller that disconnects from a queue at work withdraws its request.
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

// Close suspends the queue and waits for the judges at work.
func (q *Queue) Close() {
	q.Suspend()
	q.cancel()
	q.work.Wait()
}

// halt stops the timer and the judge of an entry. The queue's lock is held.
func (e *entry) halt() {
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.stop != nil {
		e.stop()
	}
}

// SetDeadline sets how long the requests to come wait, in the form of [Options.Deadline]. Those that wait already keep theirs.
func (q *Queue) SetDeadline(d time.Duration) {
	if d == 0 {
		d = DefaultDeadline
	}
	q.deadline.Store(int64(d))
}

// Ask waits until a request is settled and returns the answer. A deadline that passes is a denial by [ByDeadline]. An error means denied
// too: [ErrFull], [ErrTooLarge], [ErrClosed], the cause of ctx, or the request could not be stored. A request with the same [Request.Bound]
// as one that waits joins it.
//
// The queue masks secrets in the request and sets ID, State, Created and Deadline. If the caller sets a Deadline, the earlier one counts.
func (q *Queue) Ask(ctx context.Context, r Request) (Answer, error) { return q.AskTelling(ctx, r, nil) }

// AskTelling is like Ask. It calls told once, when people may see the request; told must not block and may be nil.
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
			return *e.r.Answer, nil // it does not change any more
		case <-q.closing:
			return Answer{}, ErrClosed
		case <-ctx.Done():
			q.removeWaiter(e)
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

// join returns the answer if it is known already. Otherwise it returns the entry to wait for, a new one if there is none.
func (q *Queue) join(ctx context.Context, r Request) (*entry, Answer, error) {
	r.complete()
	bound, same := r.Bound(), r.same()
	r = r.masked()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.suspended() {
		return nil, Answer{}, ErrClosed
	}
	if a, ok := q.remembered(&r, bound, same); ok {
		return nil, a, nil
	}
	if e := q.byBound[bound]; e != nil {
		if e.r.State != Pending { // answered while its caller was away
			delete(q.byBound, bound)
			e.halt()
			return nil, *e.r.Answer, nil
		}
		q.addWaiter(e)
		return e, Answer{}, nil
	}
	if err := q.checkRoom(&r); err != nil {
		return nil, Answer{}, err
	}
	now := q.o.Now()
	r.ID, r.State, r.Created, r.Answer, r.Waiting = newID(), Pending, now, nil, 1
	if wait := time.Duration(q.deadline.Load()); wait > 0 {
		if d := now.Add(wait); r.Deadline.IsZero() || d.Before(r.Deadline) {
			r.Deadline = d
		}
	}
	if r.Changed == "" {
		r.Changed = q.changedSince(&r, same)
	}
	e := &entry{r: r, bound: bound, same: same, done: make(chan struct{}), announced: make(chan struct{})}
	if err := q.insert(ctx, e); err != nil {
		return nil, Answer{}, fmt.Errorf("store the request: %w", err)
	}
	q.open[r.ID], q.byBound[bound] = e, e
	if !r.Deadline.IsZero() {
		q.expireAfter(e, r.Deadline.Sub(now), ByDeadline)
	}
	q.askJudge(e)
	return e, Answer{}, nil
}

// addWaiter counts one more caller. The lock is held.
func (q *Queue) addWaiter(e *entry) {
	e.withdrawn = false
	if e.r.Waiting++; e.r.Waiting == 1 { // its caller is back after a restart: its own deadline counts again
		e.halt()
		e.timer = nil
		if !e.r.Deadline.IsZero() {
			q.expireAfter(e, e.r.Deadline.Sub(q.o.Now()), ByDeadline)
		}
	}
	q.publish(e)
}

// checkRoom refuses a request that is too large or for which the queue is too full. The lock is held.
func (q *Queue) checkRoom(r *Request) error {
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

// removeWaiter counts one caller less. The request expires with the last one.
func (q *Queue) removeWaiter(e *entry) {
	q.mu.Lock()
	e.r.Waiting--
	last := e.r.Waiting == 0 && e.r.State == Pending && !q.suspended()
	e.withdrawn = last
	if !last && e.r.State == Pending {
		q.publish(e)
	}
	q.mu.Unlock()
	if last {
		q.expire(e, ByCaller)
	}
}

// expireAfter starts the timer that denies a request. The lock is held.
func (q *Queue) expireAfter(e *entry, d time.Duration, by string) {
	e.timer = time.AfterFunc(max(d, 0), func() { q.expire(e, by) })
}

// expire denies a request that was not answered.
func (q *Queue) expire(e *entry, by string) {
	e.answering.Lock()
	defer e.answering.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.r.State != Pending || q.suspended() || by == ByCaller && e.r.Waiting > 0 {
		return
	}
	if err := q.finish(e, Expired, Answer{For: Once, By: by, Time: q.o.Now()}); err != nil {
		q.o.Logger.Error("an approval that expired is not in the database", "id", e.r.ID, "error", err) // the next process expires it again
	}
}

// Settle answers a request and returns its new state. The first answer wins. Errors: [ErrUnknown], a [LateError], [ErrDigest],
// [ErrNoWords], a [*sign.MissingError] if s is not what [Request.Demand] demands, an invalid answer (see [IsBadAnswer]), or the answer could
// not be stored; the request then still waits.
func (q *Queue) Settle(ctx context.Context, id string, a Answer, s sign.Sign) (Request, error) {
	if err := a.check(); err != nil {
		return Request{}, err
	}
	q.mu.Lock()
	e := q.open[id]
	q.mu.Unlock()
	if e == nil {
		return q.refuseLate(ctx, id)
	}
	e.answering.Lock()
	defer e.answering.Unlock()
	q.mu.Lock()
	r, closing, withdrawn := e.r, q.suspended(), e.withdrawn
	q.mu.Unlock()
	a.Time, a.Sign = q.o.Now(), s
	if r.Kind == Question && a.Allow && a.Text == "" {
		a.Text = a.Reason // some surfaces have a reason only
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
	case a.Allow && r.Demand().Check(s) != nil:
		return r, r.Demand().Check(s)
	case a.Allow && r.Refuses(a.For) != "":
		return r, badAnswer(r.Refuses(a.For))
	case a.As != "" && a.As != ThisCall && !hasCandidate(r, a.As):
		return r, badAnswer(fmt.Sprintf("this call cannot be approved as %s: myc approvals show %s lists what it can be approved as", a.As, r.ID))
	case late || withdrawn: // its expiry is under way
		by := ByDeadline
		if !late {
			by = ByCaller
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		err := q.finish(e, Expired, Answer{For: Once, By: by, Time: a.Time})
		return e.r, errors.Join(&LateError{e.r}, err)
	}
	if err := q.carryOut(ctx, r, &a); err != nil {
		return r, err
	}
	state := Denied
	if a.Allow {
		state = Allowed
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.finish(e, state, a); err != nil {
		return e.r, fmt.Errorf("the answer could not be stored, and the call still waits: %w", err)
	}
	return e.r, nil
}

// carryOut writes the rule of an answer, and asks the policy what it makes of the call now.
func (q *Queue) carryOut(ctx context.Context, r Request, a *Answer) (err error) {
	if a.For == Rule {
		if q.o.WriteRule == nil {
			return badAnswer("no rule can be written here; approve it once or for the session")
		}
		if a.Rule, err = q.o.WriteRule(ctx, r, *a); err != nil {
			return fmt.Errorf("the rule could not be written, and the call still waits: %w", err)
		}
	}
	if a.Allow && r.Kind == Call && q.o.Overruled != nil {
		a.Overruled = credential.Mask(text.Truncate(q.o.Overruled(ctx, r), maxWords))
	}
	return nil
}

// finish moves a request to its final state, in the database first. If that fails, an approval is void and a denial stands. Both locks are
// held.
func (q *Queue) finish(e *entry, state State, a Answer) error {
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
		q.kept[e.key(&a)] = kept{e.same, a, next}
	}
	e.r.Code = e.r.Code.withoutText()
	if e.r.Waiting == 0 && state != Expired && !remember {
		q.byBound[e.bound] = e // a restart disconnected its caller, who may still come back for the answer
		e.timer = time.AfterFunc(rejoinTime, func() { q.dropAnswer(e) })
	}
	if q.recent = append(q.recent, e); len(q.recent) > maxRecent {
		q.recent = slices.Delete(q.recent, 0, len(q.recent)-maxRecent)
	}
	close(e.done)
	q.publish(e)
	return err
}

// dropAnswer drops an answer whose caller did not come back.
func (q *Queue) dropAnswer(e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byBound[e.bound] == e {
		delete(q.byBound, e.bound)
	}
}

// List returns the requests that wait, oldest first.
func (q *Queue) List(context.Context) ([]Request, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.list(), nil
}

// list is List. The lock is held.
func (q *Queue) list() []Request {
	out := make([]Request, 0, len(q.open))
	for _, e := range q.open {
		out = append(out, e.r)
	}
	slices.SortFunc(out, func(a, b Request) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Show returns a request, pending or settled, or [ErrUnknown].
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

// refuseLate refuses an answer to a request that does not wait.
func (q *Queue) refuseLate(ctx context.Context, id string) (Request, error) {
	r, err := q.Show(ctx, id)
	if err != nil {
		return r, err
	}
	return r, &LateError{r}
}
