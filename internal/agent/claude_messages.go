package agent

import (
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/agent/journal"
)

// Message is what is said to an agent while it works.
type Message struct {
	ID   string // a UUID, by which the program tells its receipt
	Text string
}

// messagesEvery is how often the engine looks for messages.
const messagesEvery = 200 * time.Millisecond

// said is a line of the input of Claude Code. Without an id, nobody waits for its receipt.
func said(m Message) ([]byte, error) {
	line := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": m.Text}}
	if m.ID != "" {
		line["uuid"] = m.ID
	}
	b, err := json.Marshal(line, json.Deterministic(true))
	return append(b, '\n'), err
}

// pass gives the program the messages that wait. It takes them at the next moment at which it would ask its model, or in a turn of their
// own.
func (d *drive) pass() error {
	waiting, err := d.Messages()
	if err != nil {
		return err
	}
	for _, m := range waiting {
		if _, sent := d.unheard[m.ID]; sent || d.heardBefore[m.ID] {
			continue
		}
		line, err := said(m)
		if err == nil {
			_, err = d.program.In.Write(line)
		}
		if err != nil {
			return d.died(err)
		}
		d.unheard[m.ID] = m.Text
	}
	return nil
}

// heard takes the receipt of a message: the program says it again.
func (d *drive) heard(id string) {
	text, ok := d.unheard[id]
	if !ok {
		return
	}
	delete(d.unheard, id)
	d.heardBefore[id] = true
	d.write(journal.Line{Kind: journal.Said, Text: text})
	d.tell(Event{Heard: id})
}
