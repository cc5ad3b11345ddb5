package model

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// OfAgent is the purpose of the questions of our own agent.
const OfAgent = "agent"

// Entry is one line of the ledger: the cost of one question.
type Entry struct {
	Time    time.Time `json:"timestamp"`
	Model   string    `json:"model"`
	Purpose string    `json:"purpose"` // judge, reply …
	Session string    `json:"session,omitempty"`
	Tokens  Tokens    `json:"tokens"`
	Cents   float64   `json:"costCents"` // in US cents
}

// Tokens is a usage in the ledger.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead,omitzero"`
	CacheWrite int64 `json:"cacheWrite,omitzero"`
}

// Spent is the sums of a ledger in USD.
type Spent struct {
	Today  float64 `json:"today"`
	Month  float64 `json:"month"`
	Asked  int     `json:"asked"`           // number of questions today
	Unread int     `json:"unread,omitzero"` // lines that could not be read, whose cost is missing above
}

// Ledger keeps costs in a folder, with one JSON Lines file for each day, costs-YYYY-MM-DD.jsonl. Days are those of the clock's time zone,
// and an entry goes into the file of its own day. It is safe for concurrent use, also by several processes: each entry is one write to
// the end of a file.
type Ledger struct {
	Dir string
	Now func() time.Time // nil: time.Now

	mu sync.Mutex
}

// Record adds the cost of an answer.
func (l *Ledger) Record(purpose, session string, a Answer) error {
	e := Entry{Time: l.now(), Model: a.Model, Purpose: purpose, Session: session, Cents: a.Cost * 100,
		Tokens: Tokens{Input: a.Usage.Input, Output: a.Usage.Output, CacheRead: a.Usage.CacheRead, CacheWrite: a.Usage.CacheWrite}}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("record costs: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return fmt.Errorf("record costs: %w", err)
	}
	f, err := os.OpenFile(l.file(e.Time.Format(time.DateOnly)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("record costs: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("record costs: %w", err)
	}
	return nil
}

// Spent returns the sums of today and of this month.
func (l *Ledger) Spent() (Spent, error) {
	now, s := l.now(), Spent{}
	files, err := filepath.Glob(l.file(now.Format("2006-01") + "-??"))
	if err != nil {
		return s, fmt.Errorf("read costs: %w", err)
	}
	for _, path := range files {
		if err := s.add(path, path == l.file(now.Format(time.DateOnly))); err != nil {
			return s, fmt.Errorf("read costs: %w", err)
		}
	}
	return s, nil
}

// add adds the entries of one file.
func (s *Spent) add(path string, today bool) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || !(e.Cents >= 0) {
			s.Unread++
			continue
		}
		s.Month += e.Cents / 100
		if today {
			s.Today += e.Cents / 100
			s.Asked++
		}
	}
	return lines.Err()
}

// Of returns the entries of a purpose since the day of a time. Lines that cannot be read are left out.
func (l *Ledger) Of(purpose string, since time.Time) (out []Entry, err error) {
	files, err := filepath.Glob(l.file("????-??-??"))
	for _, path := range files {
		if path < l.file(since.Format(time.DateOnly)) {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read costs: %w", err)
		}
		for line := range strings.Lines(string(raw)) {
			var e Entry
			if json.Unmarshal([]byte(line), &e) == nil && e.Purpose == purpose && e.Cents >= 0 {
				out = append(out, e)
			}
		}
	}
	return out, err
}

func (l *Ledger) file(day string) string {
	return filepath.Join(l.Dir, strings.Join([]string{"costs-", day, ".jsonl"}, ""))
}

func (l *Ledger) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}
