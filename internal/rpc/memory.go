package rpc

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"
)

// DefaultMemory is the bound of a process on the bytes of the messages that it holds at once. The whole process shall stay within 256 MiB
// (docs/decisions/0071): a message is copied while it is read and written, and Go's collector lets the garbage of those copies grow to
// about the size of what is live.
const DefaultMemory = 64 << 20

// greed is how many times what is left one holder may hold. A single holder gets three quarters of the memory, and the next one three
// quarters of the rest, so that there is always something left for a holder that has nothing yet.
const greed = 3

// Memory bounds the bytes of all messages that are held at once: bodies and lines while they are read, requests while they are served,
// answers until they are written. Each holder (a session, a server) has a share. It is safe for concurrent use. A nil Memory has no bound.
type Memory struct {
	most int
	work chan struct{} // holds one for each large message that is worked on

	mu    sync.Mutex
	used  int
	peak  int
	by    map[string]int             // holder → bytes
	large map[string]bool            // holder → one of its large answers is read
	wait  map[string][]chan struct{} // holder → those that wait to be read on, oldest first
}

// NewMemory returns a bound of so many bytes.
func NewMemory(most int) *Memory {
	return &Memory{most: most, work: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), by: map[string]int{}, large: map[string]bool{}, wait: map[string][]chan struct{}{}}
}

// Work calls f, which works on a message of n bytes and waits for nobody. Large messages take no more than half of the processors, so that a
// small one does not wait behind each of them at each step of its way: to check 4 MiB takes as long as a hundred small calls.
func (m *Memory) Work(n int, f func()) {
	if m == nil || n <= largeFrom {
		f()
		return
	}
	m.work <- struct{}{}
	defer func() { <-m.work }()
	f()
}

// Used returns how many bytes are held now, and the most that were held at once.
func (m *Memory) Used() (now, peak int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, m.peak
}

// Claim begins a claim of a holder, which holds nothing yet.
func (m *Memory) Claim(holder string) *Claim {
	if m == nil {
		return nil
	}
	return &Claim{memory: m, holder: holder}
}

// Claim is the memory that belongs to one message. The memory's lock guards it. A nil Claim has no bound.
type Claim struct {
	memory *Memory
	holder string
	held   int
	large  bool // see Large
	over   bool
}

// Only one answer of more than largeFrom bytes is read at once for one holder. A hundred that are read side by side would have no memory to
// become whole, and all would fail; one after the other, they come.
const largeFrom = 128 << 10

// Large waits until the answer of the claim, which is a large one, may be read on. The error is that of ctx.
func (c *Claim) Large(ctx context.Context) error {
	if c == nil {
		return nil
	}
	m := c.memory
	m.mu.Lock()
	if c.large || c.over {
		m.mu.Unlock()
		return nil
	}
	if !m.large[c.holder] {
		m.large[c.holder], c.large = true, true
		m.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	m.wait[c.holder] = append(m.wait[c.holder], turn)
	m.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.wait[c.holder], turn); i >= 0 { // ctx ended first
		m.wait[c.holder] = slices.Delete(m.wait[c.holder], i, i+1)
		return ctx.Err()
	}
	c.large = true // the place was handed over
	if c.over {
		c.small()
	}
	return nil
}

// small ends what Large began. The lock is held.
func (c *Claim) small() {
	if !c.large {
		return
	}
	m := c.memory
	c.large = false
	if waiting := m.wait[c.holder]; len(waiting) > 0 {
		close(waiting[0])
		m.wait[c.holder] = waiting[1:]
		return
	}
	delete(m.wait, c.holder)
	delete(m.large, c.holder)
}

// Hold takes n more bytes. The error is [ErrBusy] if the holder has its share already, or after Release.
func (c *Claim) Hold(n int) error {
	if c == nil || n == 0 {
		return nil
	}
	m := c.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.over || m.by[c.holder]+n > greed*(m.most-m.used-n) {
		return ErrBusy
	}
	m.used += n
	m.peak = max(m.peak, m.used)
	m.by[c.holder] += n
	c.held += n
	return nil
}

// Give returns n bytes.
func (c *Claim) Give(n int) {
	if c == nil {
		return
	}
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.give(min(n, c.held))
}

// Release returns everything. The claim can hold nothing after it.
func (c *Claim) Release() {
	if c == nil {
		return
	}
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.give(c.held)
	c.small()
	c.over = true
}

// give returns n bytes. The lock is held.
func (c *Claim) give(n int) {
	m := c.memory
	c.held -= n
	m.used -= n
	if m.by[c.holder] -= n; m.by[c.holder] == 0 {
		delete(m.by, c.holder)
	}
}

// RetryBusy is when a caller that found no memory or no place may try again.
const RetryBusy = time.Second

// ErrBusy is the refusal of a message for which there is no memory now.
var ErrBusy = Busy("too much is held in memory for this caller at the moment")

// Busy returns the error for what is refused only for now.
func Busy(why string) *Error {
	return &Error{Code: CodeBusy, Message: "busy: " + why + "; try again later", Data: []byte(`{"retryAfterMs":1000}`)}
}

// firstRead is the size of the first buffer for a message, in bytes.
const firstRead = 4 << 10

// ReadAll reads r to its end, at most limit bytes. It makes memory for what has come, never for what was announced: announced is the
// declared length, or -1, and only saves a copy at the end. The claim holds the memory that the result occupies; it may be nil. The
// error is [ErrTooLong], [ErrBusy] or that of r.
func ReadAll(r io.Reader, announced int64, limit int, c *Claim) (b []byte, err error) {
	return readAll(r, announced, limit, c, func() error { return nil })
}

// ReadAnswer is ReadAll for the answer of a server: a large one waits for its turn ([Claim.Large]). The error may be that of ctx.
func ReadAnswer(ctx context.Context, r io.Reader, announced int64, limit int, c *Claim) (b []byte, err error) {
	return readAll(r, announced, limit, c, func() error { return c.Large(ctx) })
}

func readAll(r io.Reader, announced int64, limit int, c *Claim, large func() error) (b []byte, err error) {
	most := limit + 1 // one more byte shows that there is more
	if announced >= 0 && announced < int64(limit) {
		most = int(announced) + 1
	}
	for {
		if len(b) == cap(b) {
			if len(b) >= most {
				most = limit + 1 // more than announced came
			}
			if len(b) >= largeFrom {
				if err := large(); err != nil {
					return nil, err
				}
			}
			if b, err = reserve(b, 1, most, c); err != nil {
				return nil, err
			}
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > limit:
			return nil, ErrTooLong
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

// reserve returns b with space for n more bytes. It doubles the buffer, but makes it no larger than most unless n needs that.
func reserve(b []byte, n, most int, c *Claim) ([]byte, error) {
	if cap(b)-len(b) >= n {
		return b, nil
	}
	size := max(len(b)+n, min(most, max(firstRead, 2*cap(b))))
	if err := c.Hold(size); err != nil {
		return nil, err
	}
	longer := make([]byte, len(b), size)
	copy(longer, b)
	c.Give(cap(b))
	return longer, nil
}

// Meter returns a reader of r for [Events], which has each byte twice while it puts an event together. The claim holds those bytes until
// Reset, and a large event waits for its turn ([Claim.Large]). The reader's error is [ErrBusy] if the claim cannot, or that of ctx.
func (c *Claim) Meter(ctx context.Context, r io.ReadCloser) *Meter {
	return &Meter{ReadCloser: r, ctx: ctx, claim: c}
}

// Meter is a reader whose bytes a claim holds.
type Meter struct {
	io.ReadCloser
	ctx   context.Context //nolint:containedctx // of the reading, which has no other way to it
	claim *Claim
	held  int
}

func (m *Meter) Read(p []byte) (int, error) {
	if m.held >= 2*largeFrom {
		if err := m.claim.Large(m.ctx); err != nil {
			return 0, err
		}
	}
	n, err := m.ReadCloser.Read(p)
	if herr := m.claim.Hold(2 * n); herr != nil {
		return 0, herr
	}
	m.held += 2 * n
	return n, err
}

// Reset gives back what was read: the event is over.
func (m *Meter) Reset() {
	if m.claim == nil || m.held == 0 {
		return
	}
	m.claim.memory.mu.Lock()
	defer m.claim.memory.mu.Unlock()
	m.claim.give(min(m.held, m.claim.held))
	m.claim.small()
	m.held = 0
}
