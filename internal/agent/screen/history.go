package screen

import (
	"bufio"
	"bytes"
	"os"

	"github.com/go-json-experiment/json"
)

// maxHistory bounds the lines of the history, and maxEntry one of them in bytes.
const (
	maxHistory = 1000
	maxEntry   = 64 << 10
)

// history is what the person wrote before, the newest last. It is kept in a file with one JSON string a line, to which every chat of the
// project appends.
type history struct {
	path  string // empty: it is not kept
	lines []string
	at    int    // the entry that is shown; len(lines): none
	draft string // what the person was writing
}

// openHistory reads the newest entries. A line that is damaged is left out: nobody depends on it.
func openHistory(path string) *history {
	h := &history{path: path}
	raw, err := os.ReadFile(path)
	if err != nil {
		return h
	}
	const most = maxHistory * 256 // bytes; more is not read
	if len(raw) > most {
		_, raw, _ = bytes.Cut(raw[len(raw)-most:], []byte("\n"))
	}
	scan := bufio.NewScanner(bytes.NewReader(raw))
	scan.Buffer(nil, 2*maxEntry)
	for scan.Scan() {
		var said string
		if json.Unmarshal(scan.Bytes(), &said) == nil && said != "" {
			h.lines = append(h.lines, said)
		}
	}
	h.lines = h.lines[max(0, len(h.lines)-maxHistory):]
	h.at = len(h.lines)
	return h
}

// add appends an entry, unless it is the last one again. What cannot be written is not worth a message.
func (h *history) add(said string) {
	if n := len(h.lines); said != "" && (n == 0 || h.lines[n-1] != said) {
		h.lines = append(h.lines, said)
		h.keep(said)
	}
	h.at, h.draft = len(h.lines), ""
}

func (h *history) keep(said string) {
	line, err := json.Marshal(said)
	if h.path == "" || err != nil || len(line) > maxEntry {
		return
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// move goes to an older entry (-1) or a newer one (1), and returns it. ok is false where there is none.
func (h *history) move(by int, now string) (said string, ok bool) {
	to := h.at + by
	if to < 0 || to > len(h.lines) {
		return "", false
	}
	if h.at == len(h.lines) {
		h.draft = now
	}
	if h.at = to; to == len(h.lines) {
		return h.draft, true
	}
	return h.lines[to], true
}
