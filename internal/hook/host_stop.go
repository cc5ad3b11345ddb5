package hook

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mycelium/internal/approval"
)

// maxRetries is how often an agent that stops at an error is told to try another way, for each prompt of its person.
const maxRetries = 2

// What is told of a stop (E31).
const (
	stopMessages = 15
	stopLast     = 800 // characters of what the agent said last
	stopTools    = 5
)

// stops answers an agent that wants to stop. At an error it is told to try another way; in remote mode, where a chat is configured,
// people are asked; else it stops.
func (h *Host) stops(ctx context.Context, r *run, e Event) Answer {
	path := e.transcript()
	var seen lately
	said := e.Text
	if said == "" {
		seen = recent(path, stopMessages)
		said = seen.last
	}
	h.saidLast(r, said)
	h.mu.Lock()
	halted, retries := r.halted, r.retries
	another := halted == "" && stuck(said) && retries < maxRetries && (!e.Again || retries > 0) // else another hook made it go on: no loops
	if another {
		r.retries++
		r.state = approval.Active
	}
	h.mu.Unlock()
	switch {
	case another:
		return Answer{Verdict: Pass, Block: true, Reason: fmt.Sprintf(
			"You stopped at an error. Try a different approach: look at what failed and why, and choose another way (attempt %d of %d). "+
				"If none is left, say so plainly and stop.", retries+1, maxRetries)}
	case halted != "" || h.Ask == nil || h.Mode() != approval.Remote || !h.Chat():
		return Answer{Verdict: Pass}
	}
	if seen.messages == nil {
		seen = recent(path, stopMessages)
	}
	h.mu.Lock()
	req := h.request(r, e, approval.Stop)
	h.mu.Unlock()
	req.Text = seen.forPeople(said)
	req.Reason = "the agent wants to stop"
	defer h.waits(r)()
	got, err := h.Ask(ctx, req)
	if err != nil || !got.Allow {
		return Answer{Verdict: Pass}
	}
	return Answer{Verdict: Pass, Block: true, Reason: cmp.Or(got.Text, got.Reason, "A person says: go on.")}
}

// forPeople is what happened last, as a person reads it who was not there.
func (l lately) forPeople(said string) string {
	var b strings.Builder
	for _, m := range l.messages {
		b.WriteString(bounded(m, maxName) + "\n")
	}
	if tools := lastOf(l.tools, stopTools); len(tools) > 0 {
		b.WriteString("Tools: " + strings.Join(tools, ", ") + "\n")
	}
	if runes := []rune(strings.TrimSpace(said)); len(runes) > 0 {
		b.WriteString("\n" + string(runes[max(0, len(runes)-stopLast):]))
	}
	return strings.TrimSpace(b.String())
}

// Summary is what happened lately in a run of an agent, for people. id is the agent's own session id.
func (h *Host) Summary(id string) (string, error) {
	h.mu.Lock()
	var e Event
	found := false
	for _, r := range h.runs {
		if r.key.id == id {
			e, found = Event{Agent: r.key.agent, Transcript: r.transcript}, true
		}
	}
	h.mu.Unlock()
	if !found {
		return "", fmt.Errorf("no agent runs a session %q", id)
	}
	seen := recent(e.transcript(), stopMessages)
	return cmp.Or(seen.forPeople(seen.last), "nothing is known of what it did: its transcript is not read"), nil
}

// request is what every request of a run says. The lock is held.
func (h *Host) request(r *run, e Event, k approval.Kind) approval.Request {
	p := r.session.Scope().Principal
	return approval.Request{
		Kind: k, Session: r.session.ID, Principal: p.ID, Role: p.Role, Agent: e.Agent, Label: r.label, Dir: r.dir, Surface: surface,
	}
}

// stuck reports whether a last word tells of an error and of no success (E31).
func stuck(said string) bool {
	said = strings.ToLower(said)
	return mentions(said,
		"error", "errors", "failed", "fails", "failing", "failure", "exception", "unable", "cannot", "can't", "couldn't", "blocked", "crashed",
		"エラー", "失敗", "例外", "できません", "できなかった") && !mentions(said,
		"success", "successful", "successfully", "succeeded", "succeeds", "done", "completed", "complete", "fixed", "resolved", "pass", "passed",
		"passes", "finished", "works", "working", "no error", "no errors", "without errors", "成功", "完了", "解決", "修正しました", "直りました", "終わりました")
}

// mentions reports whether a text in lower case has one of the words: a Latin one whole, a Japanese one where it stands.
func mentions(text string, words ...string) bool {
	for _, word := range words {
		for rest := text; ; {
			at := strings.Index(rest, word)
			if at < 0 {
				break
			}
			before, after := rest[:at], rest[at+len(word):]
			if word[0] >= utf8.RuneSelf || !endsInLetter(before) && !beginsWithLetter(after) {
				return true
			}
			rest = after
		}
	}
	return false
}

func beginsWithLetter(s string) bool {
	return s != "" && s[0] < utf8.RuneSelf && unicode.IsLetter(rune(s[0]))
}

func endsInLetter(s string) bool {
	return s != "" && s[len(s)-1] < utf8.RuneSelf && unicode.IsLetter(rune(s[len(s)-1]))
}
