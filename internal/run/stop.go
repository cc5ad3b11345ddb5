package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// maxRetries is how often an agent that stops at an error is told to try a different approach after each prompt.
const maxRetries = 2

// The bounds on the report of a stop (E31).
const (
	stopMessages = 15
	stopLast     = 800 // characters of what the agent said last
	stopTools    = 5
)

// stop answers an agent that wants to stop. At an error, it tells the agent to try a different approach. In remote mode with a chat, it
// asks people. Otherwise the agent stops.
func (g *Registry) stop(ctx context.Context, r *run, e harness.Event) harness.Answer {
	path := e.RunTranscript()
	var seen harness.Recent
	said := e.Text
	if said == "" {
		seen = path.Recent(stopMessages)
		said = seen.Said
	}
	r.stopped(said)
	r.mu.Lock()
	halted, retries := r.halted, r.retries
	retry := halted == "" && stuck(said) && retries < maxRetries && (!e.StopHookActive || retries > 0) // no loop with other hooks
	if retry {
		r.retries++
		r.state = approval.Active
	}
	r.mu.Unlock()
	if why, held := hold(ctx, g, r, e); held && !retry {
		return harness.Answer{Verdict: harness.Pass, Block: true, Reason: why}
	}
	switch {
	case retry:
		return harness.Answer{Verdict: harness.Pass, Block: true, Reason: fmt.Sprintf(
			"You stopped at an error. Try a different approach: look at what failed and why, and choose another way (attempt %d of %d). "+
				"If none is left, say so plainly and stop.", retries+1, maxRetries)}
	case halted != "" || g.Queue == nil || !elsewhere(g.People, e) || !g.People.Chat():
		return harness.Answer{Verdict: harness.Pass}
	}
	if seen.Messages == nil {
		seen = path.Recent(stopMessages)
	}
	req := r.request(approval.Stop)
	req.Text = forPeople(seen, said)
	req.Reason = "the agent wants to stop"
	defer r.waits()()
	got, err := g.Queue.Ask(ctx, req)
	if err != nil || !got.Allow {
		return harness.Answer{Verdict: harness.Pass}
	}
	return harness.Answer{Verdict: harness.Pass, Block: true, Reason: cmp.Or(got.Text, got.Reason, "A person says: go on.")}
}

// forPeople describes what happened last, for a person who was not there. It masks secrets before it cuts anything.
func forPeople(l harness.Recent, said string) string {
	var b strings.Builder
	for _, m := range l.Messages {
		b.WriteString(text.TruncateRunes(credential.Mask(m), maxName) + "\n")
	}
	if tools := lastOf(l.Tools, stopTools); len(tools) > 0 {
		b.WriteString("Tools: " + strings.Join(tools, ", ") + "\n")
	}
	if runes := []rune(strings.TrimSpace(credential.Mask(said))); len(runes) > 0 {
		b.WriteString("\n" + string(runes[max(0, len(runes)-stopLast):]))
	}
	return strings.TrimSpace(b.String())
}

// Summary describes what a run of an agent did lately, for people. id is the agent's own session id.
func (g *Registry) Summary(id string) (string, error) {
	var e *harness.Event
	for _, r := range g.all() {
		if r.key.id == id {
			e = r.transcribed()
		}
	}
	if e == nil {
		return "", fmt.Errorf("no agent runs a session %q", id)
	}
	seen := e.RunTranscript().Recent(stopMessages)
	return cmp.Or(forPeople(seen, seen.Said), "what it did is not known, because its transcript is not read"), nil
}

// transcribed returns an event that only says where the run's transcript is.
func (r *run) transcribed() *harness.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &harness.Event{Agent: r.key.agent, Transcript: r.transcript}
}

// stuck reports whether a message mentions an error and no success (E31).
func stuck(said string) bool {
	said = strings.ToLower(said)
	return mentions(said,
		"error", "errors", "failed", "fails", "failing", "failure", "exception", "unable", "cannot", "can't", "couldn't", "blocked", "crashed",
		"エラー", "失敗", "例外", "できません", "できなかった") && !mentions(said,
		"success", "successful", "successfully", "succeeded", "succeeds", "done", "completed", "complete", "fixed", "resolved", "pass", "passed",
		"passes", "finished", "works", "working", "no error", "no errors", "without errors", "成功", "完了", "解決", "修正しました",
		"直りました", "終わりました")
}

// mentions reports whether a text in lower case has one of the words: a Latin word whole, a Japanese word anywhere.
func mentions(said string, words ...string) bool {
	for _, word := range words {
		for rest := said; ; {
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
