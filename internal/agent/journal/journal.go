// Package journal keeps a conversation of our own agent in a file, as it happens.
//
// Each thing that happens is one line of JSON at the end of the file, written before it is shown: whoever kills the program loses
// nothing that was seen. What is sent to the model is always made of these lines, by one function, so that a conversation goes on from
// its file exactly as it would have gone on in memory. The files lie in the state of the project, and are not masked: the model has to
// get back what it wrote. The project's database has a masked copy for people (see transcript).
package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/model"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
)

// Kind is what a line tells.
type Kind string

// The kinds of lines.
const (
	Begin    Kind = "begin"    // the first line: Head
	Said     Kind = "said"     // a person said Text, and the model is shown Blocks
	Text     Kind = "text"     // a piece of the answer
	Thinking Kind = "thinking" // a piece of thinking
	Cut      Kind = "cut"      // the answer ended in the middle; the model is asked to go on
	Answer   Kind = "answer"   // the whole answer, with its pieces again
	Called   Kind = "called"   // a tool is called: ID, Tool and Args
	Outcome  Kind = "outcome"  // the call ID ended: Text is its outcome, Blocks is what the model is shown
	Summary  Kind = "summary"  // Text stands for everything but the last Keep messages
	Spent    Kind = "spent"    // what a turn cost, where its answers do not say it
	Agent    Kind = "agent"    // the agent that has the conversation knows it as ID
)

// Head is what a conversation is.
type Head struct {
	ID     string `json:"id"`
	Engine string `json:"engine"` // api or claude
	Role   string `json:"role,omitempty"`
	Model  string `json:"model,omitempty"`
	Dir    string `json:"dir,omitempty"`
	Above  string `json:"above,omitempty"` // of a sub-agent: the session that started it
}

// Line is one thing that happened.
type Line struct {
	Kind   Kind           `json:"kind"`
	Time   time.Time      `json:"time"`
	Head   *Head          `json:"head,omitempty"`
	ID     string         `json:"id,omitempty"`
	Tool   string         `json:"tool,omitempty"`
	Args   jsontext.Value `json:"args,omitzero"`
	Text   string         `json:"text,omitempty"`
	Blocks []model.Block  `json:"blocks,omitempty"`
	Failed bool           `json:"failed,omitzero"`
	Keep   int            `json:"keep,omitzero"`
	Stop   string         `json:"stop,omitempty"`
	Model  string         `json:"model,omitempty"`
	Usage  *model.Usage   `json:"usage,omitempty"`
	Cost   float64        `json:"cost,omitzero"` // USD
}

const (
	suffix  = ".jsonl"
	maxLine = 64 << 20 // bytes; a longer line is skipped. Answers and results have lower bounds
)

// isOpen is the error of a conversation with which another process goes on.
func isOpen(id string) error {
	return text.Hinted(fmt.Errorf("conversation %s is open in another process", id), "end that one first, or begin a new conversation")
}

// Journal is an open conversation. It is used by one goroutine at a time.
type Journal struct {
	*Talk
	file *os.File
	lock *atomicfile.Lock
}

// New begins a conversation in a folder, which is made where it does not exist. An empty id is chosen. The file appears with the first
// line that is more than a beginning: a chat in which nothing was said leaves nothing.
func New(dir string, h Head) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep the conversation: %w", err)
	}
	if h.ID == "" {
		h.ID = transcript.NewID()
	}
	j := &Journal{Talk: newTalk()}
	if err := j.open(dir, h.ID, os.O_CREATE|os.O_EXCL); err != nil {
		return nil, err
	}
	return j, j.Append(Line{Kind: Begin, Head: &h})
}

// Open opens a conversation to go on with it.
func Open(dir, id string) (*Journal, error) {
	t, err := Read(dir, id)
	if err != nil {
		return nil, err
	}
	j := &Journal{Talk: t}
	if err := j.open(dir, id, 0); err != nil {
		return nil, err
	}
	// Another process may have written since, before it let go of the lock.
	if j.Talk, err = Read(dir, id); err == nil && j.torn {
		_, err = j.file.WriteString("\n") // what a crash of the machine left of a line is skipped as one that cannot be read
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// open takes the lock and opens the file.
func (j *Journal) open(dir, id string, flags int) (err error) {
	path := filepath.Join(dir, id)
	if j.lock, err = atomicfile.LockWait(path+".lock", 0); errors.Is(err, atomicfile.ErrLocked) {
		return isOpen(id)
	} else if err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	if j.file, err = os.OpenFile(path+suffix, os.O_WRONLY|os.O_APPEND|flags, 0o600); err != nil {
		_ = j.lock.Unlock()
		return fmt.Errorf("keep the conversation: %w", err)
	}
	return nil
}

// Append writes one line, and takes it into the conversation.
func (j *Journal) Append(l Line) error {
	if l.Time.IsZero() {
		l.Time = time.Now().UTC()
	}
	b, err := json.Marshal(l, json.Deterministic(true))
	if err == nil {
		_, err = j.file.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	j.take(l)
	return nil
}

// Close closes the file. A conversation in which nothing was said is removed.
func (j *Journal) Close() error {
	err := j.file.Close()
	if len(j.Shown) == 0 {
		err = errors.Join(err, os.Remove(j.file.Name()))
		_ = os.Remove(strings.TrimSuffix(j.file.Name(), suffix) + ".lock")
	}
	return errors.Join(err, j.lock.Unlock())
}

// Remove removes a conversation for good. One that is open in a process stays; one that is not there is no error.
func Remove(dir, id string) error {
	if !valid(id) {
		return absent(id)
	}
	path := filepath.Join(dir, id)
	if _, err := os.Lstat(path + suffix); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := atomicfile.LockWait(path+".lock", 0)
	if errors.Is(err, atomicfile.ErrLocked) {
		return isOpen(id)
	}
	if err != nil {
		return fmt.Errorf("remove conversation %s: %w", id, err)
	}
	defer func() { _ = lock.Unlock() }()
	if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove conversation %s: %w", id, err)
	}
	_ = os.Remove(path + ".lock")
	return nil
}

// Read reads a conversation. A line that cannot be read is skipped.
func Read(dir, id string) (*Talk, error) {
	if !valid(id) {
		return nil, absent(id)
	}
	f, _, err := atomicfile.Open(filepath.Join(dir, id+suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", id, err)
	}
	defer func() { _ = f.Close() }()
	t, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", id, err)
	}
	if t.ID != id {
		return nil, fmt.Errorf("read conversation %s: its file does not begin with it", id)
	}
	return t, nil
}

func absent(id string) error {
	return text.Hinted(fmt.Errorf("there is no conversation %q of this agent", text.Truncate(id, 60)),
		"myc chat list shows those that there are")
}

// valid reports whether an id is one of ours, and therefore no path.
func valid(id string) bool {
	return strings.HasPrefix(id, "c-") && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// read takes all lines of a file.
func read(r io.Reader) (*Talk, error) {
	t := newTalk()
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		whole := append([]byte{}, line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if line, err = lines.ReadSlice('\n'); len(whole) <= maxLine {
				whole = append(whole, line...)
			}
		}
		var l Line
		if len(whole) > 0 && len(whole) <= maxLine && json.Unmarshal(whole, &l) == nil {
			t.take(l)
		}
		switch {
		case errors.Is(err, io.EOF):
			t.torn = len(whole) > 0
			return t, nil
		case err != nil:
			return nil, err
		}
	}
}

// Entry is a conversation in a list.
type Entry struct {
	ID      string
	Updated time.Time
}

// List returns the conversations of a folder, the last changed first.
func List(dir string) ([]Entry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	var out []Entry
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), suffix)
		info, err := e.Info()
		if ok && valid(id) && err == nil && info.Mode().IsRegular() {
			out = append(out, Entry{ID: id, Updated: info.ModTime()})
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return b.Updated.Compare(a.Updated) })
	return out, nil
}

// Last returns the id of the conversation that changed last, of those of a role; an empty role is any. Those of sub-agents do not count.
// "" means that there is none.
func Last(dir, role string) (string, error) {
	all, err := List(dir)
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if t, err := Read(dir, one.ID); err == nil && (role == "" || t.Role == role) && len(t.Shown) > 0 && t.Above == "" {
			return one.ID, nil
		}
	}
	return "", nil
}
