package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"mycelium/internal/text"
)

// How a conversation is made shorter.
const (
	Summarize     = "summarize"      // all but the last messages are replaced by a summary
	Truncate      = "truncate"       // the last messages that fit into the tokens stay
	SlidingWindow = "sliding-window" // the last messages stay
)

// The defaults of a compression (requirements, A39), and the least tokens of a summary.
const (
	DefaultKeep   = 10
	DefaultTarget = 4000
	leastSummary  = 200
)

// Compression says how to make a conversation shorter.
type Compression struct {
	Strategy string // empty: Summarize
	Keep     int    // messages at the end that stay, of Summarize and SlidingWindow
	Target   int    // tokens that it should have afterwards, of Summarize and Truncate
	// Model writes a summary of at most so many tokens; nil: there is no model, and sentences of the conversation are taken.
	Model func(ctx context.Context, said string, tokens int) (string, error)
}

// Compressed is what a compression did. The tokens are estimates.
type Compressed struct {
	Before       int    `json:"messagesBefore"`
	After        int    `json:"messagesAfter"`
	TokensBefore int    `json:"tokensBefore"`
	TokensAfter  int    `json:"tokensAfter"`
	Summary      string `json:"summaryBy,omitempty"` // model or extract; empty: there is no summary
	Note         string `json:"note,omitempty"`      // why it is not as it was asked for
}

// plan is what becomes of the messages of a conversation: the first lead stay, those before keep go, the others stay.
type plan struct {
	lead, keep int
	summary    *Message // in the place of those that go
	last       *Message // in the place of the last message, which alone was too long
}

// Compress makes a conversation of a caller shorter. What is removed is gone: a fork made before has it. System messages at the beginning
// stay, except summaries. A message that is added meanwhile stays too.
func (b *Book) Compress(ctx context.Context, w Caller, id string, o Compression) (Compressed, error) {
	if o.Keep < 0 || o.Target < 1 {
		return Compressed{}, errors.New("keepRecentMessages is at least 0, and targetTokens at least 1")
	}
	c, err := b.Load(ctx, w, id)
	if err != nil {
		return Compressed{}, err
	}
	done := Compressed{Before: c.Count, TokensBefore: c.Tokens, After: c.Count, TokensAfter: c.Tokens}
	p := plan{}
	for p.lead < len(c.Messages) && c.Messages[p.lead].Role == "system" && !c.Messages[p.lead].Summary {
		p.lead++
	}
	switch o.Strategy {
	case Summarize, "", SlidingWindow:
		p.keep = max(p.lead, len(c.Messages)-o.Keep)
	case Truncate:
		b.truncate(c, &p, o.Target)
	default:
		return Compressed{}, fmt.Errorf("there is no strategy %q: there are %s, %s and %s", text.Truncate(o.Strategy, 40), Summarize,
			Truncate, SlidingWindow)
	}
	if p.keep == p.lead && p.last == nil {
		done.Note = "there is nothing to leave out"
		return done, nil
	}
	if o.Strategy == Summarize || o.Strategy == "" {
		if gone := c.Messages[p.lead:p.keep]; len(gone) == 1 && gone[0].Summary {
			done.Note = "all but the last messages is a summary already"
			return done, nil
		}
		if err := b.summarize(ctx, c, &p, o, &done); err != nil {
			return Compressed{}, err
		}
	}
	if err := b.apply(ctx, w, c, p); err != nil {
		return Compressed{}, err
	}
	after, err := b.Load(ctx, w, id)
	if err != nil {
		return Compressed{}, err
	}
	done.After, done.TokensAfter = after.Count, after.Tokens
	return done, nil
}

// truncate keeps the last messages that fit. The last one always stays; if it alone is too long, its content is shortened.
func (b *Book) truncate(c *Conversation, p *plan, target int) {
	tokens := 0
	for _, m := range c.Messages[:p.lead] {
		tokens += m.Tokens
	}
	p.keep = len(c.Messages)
	for p.keep > p.lead && tokens+c.Messages[p.keep-1].Tokens <= target {
		p.keep--
		tokens += c.Messages[p.keep].Tokens
	}
	if p.keep < len(c.Messages) || p.keep == p.lead {
		return
	}
	p.keep--
	last := c.Messages[p.keep]
	last.Thinking, last.Calls = "", nil
	for size := len(last.Content); tokensOf(&last) > max(1, target-tokens) && size > 1; size /= 2 {
		last.Content = text.Middle(c.Messages[p.keep].Content, max(size/2, 100))
		if size/2 < 100 {
			break // a note of what was left out is all that there is room for
		}
	}
	if strings.TrimSpace(last.Content) == "" {
		last.Content = "[left out]"
	}
	last.Tokens = tokensOf(&last)
	p.last = &last
}

// summarize writes the summary of what goes.
func (b *Book) summarize(ctx context.Context, c *Conversation, p *plan, o Compression, done *Compressed) error {
	gone := c.Messages[p.lead:p.keep]
	room := o.Target
	for i, m := range c.Messages {
		if i < p.lead || i >= p.keep {
			room -= m.Tokens
		}
	}
	room = max(room, leastSummary)
	said, by := "", "extract"
	if o.Model != nil {
		answer, err := o.Model(ctx, Plain(gone), room)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			done.Note = "the model gave no summary (" + err.Error() + "); sentences of the conversation stand for it"
		case strings.TrimSpace(answer) != "":
			said, by = strings.TrimSpace(answer), "model"
		}
	}
	if said == "" {
		said = extract(gone, room)
	}
	done.Summary = by
	content := fmt.Sprintf("Summary of %s that came before:\n\n%s", text.Count(len(gone), "message"), said)
	m, err := prepare(Message{Role: "system", Content: content, Summary: true, Time: gone[len(gone)-1].Time}, b.mask, b.now().UTC(), true)
	if err != nil {
		return err
	}
	m.n = gone[len(gone)-1].n
	p.summary = &m
	return nil
}

// apply writes a plan, if the conversation still begins as it did when the plan was made.
func (b *Book) apply(ctx context.Context, w Caller, c *Conversation, p plan) error {
	return b.change(ctx, w, c.ID, func(tx *sql.Tx, _ *Conversation) error {
		now, err := messages(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		for i := range c.Messages {
			if i >= len(now) || now[i].ID != c.Messages[i].ID {
				return errors.New("somebody else compressed the conversation at the same time: look at it again")
			}
		}
		if p.keep > p.lead {
			if _, err := tx.ExecContext(ctx, "DELETE FROM conversation_messages WHERE conversation = ? AND n BETWEEN ? AND ?", c.ID,
				c.Messages[p.lead].n, c.Messages[p.keep-1].n); err != nil {
				return err
			}
		}
		if p.last != nil {
			if _, err := tx.ExecContext(ctx, "DELETE FROM conversation_messages WHERE conversation = ? AND n = ?", c.ID, p.last.n); err != nil {
				return err
			}
		}
		for _, m := range []*Message{p.summary, p.last} {
			if m == nil {
				continue
			}
			if err := insertMessage(ctx, tx, c.ID, m); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE conversations SET changed = 1 WHERE id = ?", c.ID); err != nil {
			return err
		}
		return resize(ctx, tx, c.ID)
	})
}

// Plain writes messages as text, for a model and for the terminal: who said what, and which tools were used.
func Plain(all []Message) string {
	var out strings.Builder
	for i, m := range all {
		if i > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(m.Role + ": " + m.Content)
		for _, c := range m.Calls {
			out.WriteString("\n[used " + c.Name)
			if c.Failed {
				out.WriteString(", which failed")
			}
			out.WriteString("]")
		}
	}
	return out.String()
}
