package terminal

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/approval"
)

// picks holds the answers to the questions of one request.
type picks struct {
	at     int          // the question that is being answered
	chosen map[int]bool // its options, from 0
	said   []string     // answers to the questions before it
}

// questionKey handles a key for an agent's question: a digit chooses an option, Enter confirms several, t types another answer.
func (t *terminal) questionKey(r approval.Request, key string) tea.Cmd {
	if t.picks.at >= len(r.Questions) {
		return nil
	}
	q := r.Questions[t.picks.at]
	switch {
	case key == "t":
		t.ask = &prompt{label: "Answer", done: func(text string) tea.Cmd { return t.pick(r, text) }}
	case key == "x":
		return t.answer(r, approval.Answer{For: approval.Once, Reason: "not answered"})
	case key == "enter" && q.Many && len(t.picks.chosen) > 0:
		var texts []string
		for i, option := range q.Options {
			if t.picks.chosen[i] {
				texts = append(texts, option)
			}
		}
		return t.pick(r, strings.Join(texts, ", "))
	case len(key) == 1 && key[0] >= '1' && key[0] <= '9' && int(key[0]-'1') < len(q.Options):
		i := int(key[0] - '1')
		if !q.Many {
			return t.pick(r, q.Options[i])
		}
		if t.picks.chosen == nil {
			t.picks.chosen = map[int]bool{}
		}
		if t.picks.chosen[i] = !t.picks.chosen[i]; !t.picks.chosen[i] {
			delete(t.picks.chosen, i)
		}
	}
	return nil
}

// pick takes the answer to one question and sends all answers after the last one.
func (t *terminal) pick(r approval.Request, text string) tea.Cmd {
	if text == "" {
		return nil
	}
	t.picks.said = append(t.picks.said, text)
	t.picks.at++
	t.picks.chosen = nil
	if t.picks.at < len(r.Questions) {
		return nil
	}
	return t.answer(r, approval.Answer{Allow: true, For: approval.Once, Text: answerText(r.Questions, t.picks.said)})
}

// answerText returns the answers as the agent reads them.
func answerText(questions []approval.Asked, answers []string) string {
	var b strings.Builder
	for i, q := range questions {
		if i < len(answers) {
			fmt.Fprintf(&b, "%s\n→ %s\n", q.Text, answers[i])
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
