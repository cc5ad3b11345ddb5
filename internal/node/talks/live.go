package talks

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"mycelium/internal/credential"
	"mycelium/internal/transcript"
)

// maxLive is how many conversations a [Live] keeps in memory.
const maxLive = 8

// Live reads the conversations of agents at work from their own files, and keeps them while the files do not change. The zero value is
// ready. It is safe for concurrent use.
type Live struct {
	mu   sync.Mutex
	kept map[string]Said
}

// Said is what was said in a conversation, with the secrets in it replaced.
type Said struct {
	Messages []transcript.Message       // of calls they have the names
	Results  map[string]transcript.Call // the calls that were answered, by the agent's own id

	size    int64
	changed time.Time
}

// Read reads the conversation in a file of an agent. Its path comes from the agent, so it is only read if it can be such a file. A
// conversation without a message is an error.
func (l *Live) Read(agent, path string) (Said, error) {
	if ext := filepath.Ext(path); !filepath.IsAbs(path) || ext != ".jsonl" && ext != ".json" {
		return Said{}, os.ErrNotExist
	}
	st, err := os.Stat(path)
	if err != nil {
		return Said{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := agent + " " + path
	if s, ok := l.kept[key]; ok && s.size == st.Size() && s.changed.Equal(st.ModTime()) {
		return s, nil
	}
	h, err := read(agent, path)
	if err != nil {
		return Said{}, err
	}
	s := Said{Results: map[string]transcript.Call{}, size: st.Size(), changed: st.ModTime()}
	for _, m := range h.Messages {
		var calls []transcript.Call
		for _, c := range m.Calls {
			calls = append(calls, transcript.Call{Name: c.Name})
			if c.ID != "" && (c.Output != "" || c.Failed) {
				s.Results[c.ID] = transcript.Call{Name: c.Name, Output: credential.Mask(c.Output), Failed: c.Failed}
			}
		}
		s.Messages = append(s.Messages, transcript.Message{Role: m.Role, Content: credential.Mask(m.Text),
			Thinking: credential.Mask(m.Thinking), Calls: calls, Time: m.Time})
	}
	if len(l.kept) >= maxLive || l.kept == nil {
		l.kept = map[string]Said{}
	}
	l.kept[key] = s
	return s, nil
}
