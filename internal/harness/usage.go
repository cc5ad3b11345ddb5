package harness

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"mycelium/internal/rawjson"
)

// Usage is the tokens that one answer of an agent's model used, from the transcript.
type Usage struct {
	Model          string
	Input          int64
	Output         int64
	CacheRead      int64
	CacheWrite     int64 // of any lifetime, CacheWriteHour included
	CacheWriteHour int64
	Searches       int64 // web searches
	Fast           bool
}

// usageLine is one line of Claude Code's transcript, with the members that matter for costs. A message has one line for each block of its
// content, each with the usage of the whole message.
type usageLine struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Request   string `json:"requestId"`
	Message   struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage *struct {
			Input      int64 `json:"input_tokens"`
			Output     int64 `json:"output_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
			Creation   struct {
				Hour int64 `json:"ephemeral_1h_input_tokens"`
			} `json:"cache_creation"`
			Tools struct {
				Searches int64 `json:"web_search_requests"`
			} `json:"server_tool_use"`
			Speed string `json:"speed"`
		} `json:"usage"`
	} `json:"message"`
}

// UsageLine is the usage in one line of a transcript: message, tokens and time.
type UsageLine struct {
	Message string // identifies the message: in its file, or everywhere if Unique is set
	Unique  bool   // Message includes the id of the request, so a copy in another file (a resumed session) is the same message
	Time    time.Time
	Usage   Usage
}

// ParseUsage parses one line. ok is false for a line without costs; an error means that the line may have costs but cannot be read.
func ParseUsage(line []byte) (s UsageLine, ok bool, err error) {
	if !bytes.Contains(line, []byte(`"usage"`)) {
		return UsageLine{}, false, nil
	}
	var l usageLine
	if err := rawjson.Decode(line, &l); err != nil {
		return UsageLine{}, false, errors.New("a line of the transcript cannot be read")
	}
	u := l.Message.Usage
	if l.Type != "assistant" || u == nil || l.Message.Model == "<synthetic>" { // Claude Code's own messages have a usage of zero
		return UsageLine{}, false, nil
	}
	if l.Message.ID == "" {
		return UsageLine{}, false, errors.New("a message of the transcript has no id")
	}
	s = UsageLine{Message: l.Message.ID, Usage: Usage{
		Model: l.Message.Model, Input: max(0, u.Input), Output: max(0, u.Output), CacheRead: max(0, u.CacheRead),
		CacheWrite:     max(0, u.CacheWrite),
		CacheWriteHour: max(0, u.Creation.Hour), Searches: max(0, u.Tools.Searches), Fast: u.Speed == "fast",
	}}
	if l.Request != "" {
		s.Message, s.Unique = l.Message.ID+" "+l.Request, true
	}
	if t, err := time.Parse(time.RFC3339, l.Timestamp); err == nil {
		s.Time = t
	}
	return s, true, nil
}

// maxLine bounds one line of a transcript, in bytes. Lines with images are large; no answer of a model is.
const maxLine = 16 << 20

// ErrGone means that a transcript was there before and is not now.
var ErrGone = errors.New("the transcript is gone")

// Follower reads the new lines of a file. It remembers its offset. It reads a file that became shorter from the beginning.
type Follower struct {
	Path   string
	Offset int64 // where the next line begins
	Most   int64 // one Read ends with the line that reaches so many bytes; 0: with the last one
	seen   bool
	skips  bool // Offset is inside a line that is too long
}

// Read calls line for every new whole line. A file that does not exist yet has no lines; a file that has disappeared is ErrGone. Read
// opens regular files only.
func (t *Follower) Read(line func([]byte)) error {
	st, err := os.Stat(t.Path)
	switch {
	case errors.Is(err, os.ErrNotExist) && t.seen:
		return ErrGone
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read transcript: %w", err)
	case !st.Mode().IsRegular():
		return errors.New("read transcript: it is not a regular file")
	}
	t.seen = true
	if st.Size() == t.Offset {
		return nil
	}
	if st.Size() < t.Offset {
		t.Offset = 0
	}
	f, _, err := openPlain(t.Path)
	if err != nil {
		return fmt.Errorf("read transcript: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(t.Offset, io.SeekStart); err != nil {
		return fmt.Errorf("read transcript: %w", err)
	}
	return t.lines(bufio.NewReaderSize(f, 256<<10), line)
}

// lines reads up to the last newline. It skips a line longer than maxLine.
func (t *Follower) lines(r *bufio.Reader, line func([]byte)) error {
	var whole []byte
	for n := int64(0); t.Most == 0 || n < t.Most || len(whole) > 0; {
		piece, err := r.ReadSlice('\n')
		n += int64(len(piece))
		whole = append(whole, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(whole) <= maxLine:
			continue
		case errors.Is(err, bufio.ErrBufferFull): // a line without end is not read twice
			t.Offset, t.skips, whole = t.Offset+int64(len(whole)), true, whole[:0]
			continue
		case errors.Is(err, io.EOF): // an incomplete line is read later
			return nil
		case err != nil:
			return fmt.Errorf("read transcript: %w", err)
		}
		t.Offset += int64(len(whole))
		if !t.skips && len(whole) <= maxLine {
			line(whole)
		}
		t.skips, whole = false, whole[:0]
	}
	return nil
}

// Children returns the folder with the transcripts of the subagents of a run.
func (path Transcript) Children() string {
	return strings.TrimSuffix(string(path), ".jsonl") + "/subagents"
}
