package run

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// DefaultWarn is the share of a budget at which people are warned (requirements, E20).
const DefaultWarn = 0.8

// Limits are budgets in USD. 0 is no limit.
type Limits struct {
	Session float64 // of one session of an agent, over its whole life
	Total   float64 // of all sessions of a day
	Warn    float64 // share of either at which people are warned; 0: DefaultWarn
	Turns   int     // answers of the model in one session, without those of its subagents (requirements, E2); 0: no limit
}

// BudgetOptions of a [Budget]. Limits and Price are required.
type BudgetOptions struct {
	Limits func() Limits
	// Price returns the cost of a usage in USD. If known is false, the cost is an estimate, which must not be too low.
	Price  func(harness.Usage) (usd float64, known bool)
	Dir    string           // keeps the sums of each day; empty: they are lost when the process ends
	Now    func() time.Time // nil: time.Now; it also sets the time zone of the days
	Logger *slog.Logger     // nil: discard
}

// Budget follows the costs of agents in their transcripts and says when a budget is used up. It is safe for concurrent use. Requests
// outside of the conversation (titles, summaries) are in no transcript and are not counted.
type Budget struct {
	o BudgetOptions

	mu       sync.Mutex
	sessions map[string]*spending
	counted  map[string]*spending // the session to which a message with a request id was counted
	day      string
	floor    dayCosts // of the day: what an earlier process has kept
	total    float64  // of the day
	warned   string   // the day for which people were warned about the total
}

type spending struct {
	files    map[string]*harness.Follower
	messages map[string]float64 // what each message cost, by file and id
	used     map[string]int64   // the tokens of each message
	days     map[string]*SessionCost
	usd      float64 // over the life of the session
	tokens   int64   // likewise
	turns    int     // messages of the model, without those of subagents
	guessed  bool    // the price of a model is not known
	unread   int     // lines that could not be parsed
	warned   bool
}

// Spending is the state of a session's budget.
type Spending struct {
	USD     float64 // of the session
	Turns   int     // answers of the model in the session
	Tokens  int64   // of the session: read, written, and of the cache
	Total   float64 // of all sessions today
	Guessed bool    // a model is not in the price table, and the highest price was used
	Warn    string  // for people, once for each budget; may be empty
	Stop    string  // why the next call is denied and the agent must stop; empty: it may continue
}

// NewBudget returns a budget.
func NewBudget(o BudgetOptions) *Budget {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Budget{o: o, sessions: map[string]*spending{}, counted: map[string]*spending{}}
}

// Check reads what is new in the transcripts of a session and its subagents, and compares the cost with the budgets. An agent without a
// transcript costs nothing that Check can see. If a transcript has disappeared or cannot be read, the budget counts as used up, because
// the cost is not known.
func (b *Budget) Check(session string, transcript harness.Transcript) Spending {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	s := b.sessions[session]
	if s == nil {
		s = &spending{files: map[string]*harness.Follower{}, messages: map[string]float64{}, used: map[string]int64{},
			days: map[string]*SessionCost{}}
		b.sessions[session] = s
	}
	limits := b.o.Limits()
	err := b.follow(s, transcript)
	b.sum()
	out := Spending{USD: s.usd, Turns: s.turns, Tokens: s.tokens, Total: b.total, Guessed: s.guessed}
	if err != nil && (limits.Session > 0 || limits.Total > 0 || limits.Turns > 0) {
		out.Stop = fmt.Sprintf("The costs or turns of this session are limited and cannot be followed any more: %v. Stop here and tell your "+
			"person.", err)
		return out
	}
	b.judge(s, limits, &out)
	return out
}

// judge compares the cost with the limits. The lock is held.
func (b *Budget) judge(s *spending, l Limits, out *Spending) {
	if l.Warn <= 0 || l.Warn > 1 {
		l.Warn = DefaultWarn
	}
	guess := ""
	if s.guessed {
		guess = " (the price of a model is not known; the dearest is taken)"
	}
	switch {
	case l.Session > 0 && s.usd >= l.Session:
		out.Stop = fmt.Sprintf("The budget of this session is used up: $%.2f of $%.2f%s. Stop here, and say what is left to do.", s.usd,
			l.Session, guess)
	case l.Total > 0 && b.total >= l.Total:
		out.Stop = fmt.Sprintf("The budget of today is used up: $%.2f of $%.2f%s. Stop here, and say what is left to do.", b.total, l.Total,
			guess)
	case l.Turns > 0 && s.turns > l.Turns: // the last turn may use its tools, as with --max-turns of Claude Code
		out.Stop = fmt.Sprintf("This session has used up its %s. Stop here, and say what is left to do.", text.Count(l.Turns, "turn"))
	}
	if l.Session > 0 && s.usd >= l.Warn*l.Session && !s.warned {
		s.warned = true
		out.Warn = fmt.Sprintf("This session has used $%.2f of its $%.2f%s.", s.usd, l.Session, guess)
	}
	if l.Total > 0 && b.total >= l.Warn*l.Total && b.warned != b.day {
		b.warned = b.day
		out.Warn = strings.TrimSpace(out.Warn + fmt.Sprintf(" All sessions have used $%.2f of today's $%.2f.", b.total, l.Total))
	}
}

// Spent returns the cost of a session as of its last Check, and that of all sessions today, in USD.
func (b *Budget) Spent(session string) (usd, total float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	b.sum()
	if s := b.sessions[session]; s != nil {
		usd = s.usd
	}
	return usd, b.total
}

// Charge adds to the cost of a session what a sub-agent of it cost, which no transcript of it has.
func (b *Budget) Charge(session string, usd float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.sessions[session]; s != nil && usd > 0 {
		s.usd += usd
	}
}

// Forget drops a session that has ended. Its cost of today stays in the sum of the day.
func (b *Budget) Forget(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	b.sum()
	maps.DeleteFunc(b.counted, func(_ string, s *spending) bool { return s == b.sessions[session] })
	delete(b.sessions, session)
}

// follow reads the transcripts of a session.
func (b *Budget) follow(s *spending, transcript harness.Transcript) error {
	if transcript == "" {
		return nil
	}
	err := b.read(s, string(transcript), true)
	dir := transcript.Children()
	children, dirErr := os.ReadDir(dir)
	if dirErr != nil && !errors.Is(dirErr, fs.ErrNotExist) {
		err = errors.Join(err, dirErr)
	}
	names := map[string]bool{string(transcript): true}
	for _, c := range children {
		if strings.HasSuffix(c.Name(), ".jsonl") {
			path := filepath.Join(dir, c.Name())
			names[path] = true
			err = errors.Join(err, b.read(s, path, false))
		}
	}
	for path := range s.files {
		if !names[path] && path != string(transcript) && filepath.Dir(path) == dir {
			err = errors.Join(err, harness.ErrGone)
		}
	}
	return err
}

// read reads what is new in one transcript: the agent's own, or that of a subagent.
func (b *Budget) read(s *spending, path string, own bool) error {
	t := s.files[path]
	if t == nil {
		t = &harness.Follower{Path: path}
		s.files[path] = t
	}
	return t.Read(func(line []byte) {
		l, ok, err := harness.ParseUsage(line)
		switch {
		case err != nil:
			if s.unread++; s.unread == 1 {
				b.o.Logger.Warn("the costs of an agent are incomplete", "transcript", path, "error", err)
			}
		case ok:
			if b.count(s, path, l) && own {
				s.turns++
			}
		}
	})
}

// count adds the cost of a message once, and reports whether the message is a new one. If a later line of the message has a higher usage,
// count adds the difference.
func (b *Budget) count(s *spending, path string, l harness.UsageLine) (fresh bool) {
	key := path + " " + l.Message
	if l.Unique {
		key = l.Message
	}
	before, had := s.messages[key]
	if other := b.counted[key]; l.Unique && other != nil && other != s {
		return false // the transcript of a resumed session holds a copy
	}
	usd, known := b.o.Price(l.Usage)
	s.guessed = s.guessed || !known
	if l.Unique {
		b.counted[key] = s
	}
	if had && usd <= before {
		return false
	}
	s.messages[key] = usd
	tokens := l.Usage.Input + l.Usage.Output + l.Usage.CacheRead + l.Usage.CacheWrite
	s.tokens += tokens - s.used[key]
	s.used[key] = tokens
	at := l.Time
	if at.IsZero() || at.After(b.o.Now()) {
		at = b.o.Now() // a time in the future would not count today
	}
	s.usd += usd - before
	day := at.In(b.o.Now().Location()).Format(time.DateOnly)
	if s.days[day] == nil {
		s.days[day] = &SessionCost{}
	}
	s.days[day].add(l.Usage.Model, usd-before)
	return !had
}

// turn starts a new day if the date has changed. The lock is held.
func (b *Budget) turn() {
	day := b.o.Now().Format(time.DateOnly)
	if day == b.day {
		return
	}
	b.day, b.floor, b.total = day, dayCosts{}, 0
	if b.o.Dir == "" {
		return
	}
	costs, err := readDay(costsFile(b.o.Dir, day))
	if err != nil {
		b.o.Logger.Warn("the agents' costs of today cannot be read; the count restarts", "error", err)
	}
	b.floor, b.total = costs, costs.total()
}

// sum adds up the day and saves it. The sum of a session never decreases, even if its transcript becomes shorter.
func (b *Budget) sum() {
	changed := false
	for id, s := range b.sessions {
		if today := s.days[b.day]; today != nil && today.USD > b.floor[id].USD {
			b.floor[id], changed = today.clone(), true
		}
	}
	if !changed {
		return
	}
	b.total = b.floor.total()
	if b.o.Dir == "" {
		return
	}
	data, err := json.Marshal(b.floor, json.Deterministic(true))
	if err == nil {
		err = os.MkdirAll(b.o.Dir, 0o700)
	}
	if err == nil {
		err = atomicfile.Note(costsFile(b.o.Dir, b.day), append(data, '\n'), 0o600)
	}
	if err != nil {
		b.o.Logger.Warn("the agents' costs of today were not saved", "error", err)
	}
}
