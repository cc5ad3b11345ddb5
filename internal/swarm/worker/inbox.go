package worker

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
)

// maxMessage bounds a message, in bytes.
const maxMessage = 16 << 10

// Tell leaves a message for the worker, which is given it while it works.
func (f Folder) Tell(message string) error {
	message = strings.TrimSpace(message)
	if message == "" || len(message) > maxMessage {
		return fmt.Errorf("a message has from 1 to %d bytes, this one has %d", maxMessage, len(message))
	}
	return atomicfile.Write(f.file("inbox", fmt.Sprintf("%020d.md", time.Now().UnixNano())), []byte(message), 0o600)
}

// Message is one that the worker has not received yet.
type Message struct {
	ID   string // a UUID, the same in every folder
	Text string

	file string
}

// Inbox returns the messages that wait, the oldest first.
func (f Folder) Inbox() (out []Message, err error) {
	entries, err := os.ReadDir(f.file("inbox"))
	if err != nil {
		return nil, fmt.Errorf("look for messages: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".md") { // it is being written
			continue
		}
		b, err := os.ReadFile(f.file("inbox", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read a message: %w", err)
		}
		out = append(out, Message{ID: idOf(e.Name(), b), Text: string(b), file: e.Name()})
	}
	return out, nil
}

// idOf is the id of a message: a UUID of version 8 (RFC 9562).
func idOf(name string, message []byte) string {
	s := sha256.Sum256(append([]byte(name+"\x00"), message...))
	s[6], s[8] = s[6]&0x0f|0x80, s[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", s[:4], s[4:6], s[6:8], s[8:10], s[10:16])
}

// Inherit takes over the messages that another folder's worker has not received.
func (f Folder) Inherit(from Folder) error {
	waiting, err := from.Inbox()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, m := range waiting {
		err = errors.Join(err, os.Rename(from.file("inbox", m.file), f.file("inbox", m.file)))
	}
	return err
}

// Received records that a message has reached the agent, and takes it out of the inbox. A worker that dies in between is given it again.
func (w *Work) Received(id string) error {
	waiting, err := w.Inbox()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(waiting, func(m Message) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	if err := w.Write(Event{Kind: Heard, Text: waiting[i].Text}); err != nil {
		return err
	}
	return os.Remove(w.file("inbox", waiting[i].file))
}
