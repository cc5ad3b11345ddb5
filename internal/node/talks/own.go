package talks

import (
	"cmp"
	"context"
	"strings"
	"time"

	"mycelium/internal/agent/journal"
	"mycelium/internal/store"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
)

// Book returns the saved conversations in a database. Those of our own agent come from its files in dir, and are deleted with them.
func Book(db *store.DB, mask func(string) string, dir string) *transcript.Book {
	b := transcript.NewBook(db, mask)
	b.Forget = func(id string) error { return journal.Remove(dir, id) }
	return b
}

// Own brings the conversations of our own agent up to date, from the files in which it keeps them as they happen. One that cannot be
// read is left as it was. role is whose those are that had no role.
func Own(ctx context.Context, b *transcript.Book, dir, principal, role string) error {
	files, err := journal.List(dir)
	if err != nil || len(files) == 0 {
		return err
	}
	kept, err := b.List(ctx, transcript.Caller{Person: true}, nil, 0)
	if err != nil {
		return err
	}
	at := map[string]time.Time{}
	for _, c := range kept {
		if c.Agent == transcript.Own {
			at[c.AgentID] = c.Updated
		}
	}
	for _, f := range files {
		if when, known := at[f.ID]; known && !f.Updated.After(when) {
			continue
		}
		t, err := journal.Read(dir, f.ID)
		if err != nil || len(t.Shown) == 0 {
			continue
		}
		owner := transcript.Caller{Principal: principal, Role: cmp.Or(t.Role, role)}
		if _, _, _, err := b.Import(ctx, owner, ownConversation(t)); err != nil {
			return err
		}
	}
	return nil
}

// ownConversation is a conversation of our own agent as it is kept.
func ownConversation(t *journal.Talk) transcript.Conversation {
	c := transcript.Conversation{Agent: transcript.Own, AgentID: t.ID, Dir: t.Dir, Model: t.Model}
	for _, m := range t.Shown {
		if c.Name == "" && m.Role == "user" {
			c.Name = text.Truncate(strings.Join(strings.Fields(m.Content), " "), 80)
		}
		if strings.TrimSpace(m.Content) != "" || len(m.Calls) > 0 || m.Thinking != "" {
			c.Messages = append(c.Messages, m)
		}
	}
	if strings.TrimSpace(c.Name) == "" {
		c.Name = t.ID
	}
	return c
}
