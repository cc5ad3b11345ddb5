package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/store"
	"mycelium/internal/text"
)

// Book has the conversations of a project. It is safe for concurrent use, also by several processes.
type Book struct {
	// Forget removes the file from which a conversation of our own agent comes; nil: this program has none. While it fails, the
	// conversation stays.
	Forget func(id string) error

	db   *store.DB
	mask func(string) string
	now  func() time.Time
}

// NewBook returns the book in a database. mask replaces the secrets in a text, before it is kept.
func NewBook(db *store.DB, mask func(string) string) *Book {
	return &Book{db: db, mask: mask, now: time.Now}
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

const columns = `SELECT c.id, c.principal, c.role, c.name, c.tags, c.agent, c.agent_id, c.dir, c.model, c.fork_of, c.fork_at, c.changed,
	c.created_at, c.updated_at, (SELECT count(*) FROM conversation_messages m WHERE m.conversation = c.id),
	(SELECT coalesce(sum(tokens), 0) FROM conversation_messages m WHERE m.conversation = c.id)
	FROM conversations c WHERE `

// own is the condition that a conversation is there for a caller, with its arguments.
const own = `(? OR c.principal = ? AND c.role = ?)`

func (w Caller) args(more ...any) []any { return append(more, w.Person, w.Principal, w.Role) }

// check refuses a caller without a principal or a role, who has no conversations.
func (w Caller) check() error {
	if !w.Person && (w.Principal == "" || w.Role == "") {
		return errors.New("conversations belong to a role, and this session has none")
	}
	return nil
}

func query(ctx context.Context, q querier, where string, args ...any) ([]Conversation, error) {
	rows, err := q.QueryContext(ctx, columns+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read conversations: %w", err)
	}
	defer rows.Close()
	out := []Conversation{}
	for rows.Next() {
		var c Conversation
		var tags string
		var created, updated int64
		if err := rows.Scan(&c.ID, &c.Principal, &c.Role, &c.Name, &tags, &c.Agent, &c.AgentID, &c.Dir, &c.Model, &c.ForkOf, &c.ForkAt,
			&c.Changed, &created, &updated, &c.Count, &c.Tokens); err != nil {
			return nil, fmt.Errorf("read conversations: %w", err)
		}
		if err := json.Unmarshal([]byte(tags), &c.Tags); err != nil {
			return nil, fmt.Errorf("read the tags of conversation %s: %w", c.ID, err)
		}
		c.Created, c.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
		out = append(out, c)
	}
	return out, rows.Err()
}

// find returns a conversation without its messages.
func find(ctx context.Context, q querier, w Caller, id string) (*Conversation, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	all, err := query(ctx, q, "c.id = ? AND "+own, w.args(id)...)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, absent(id)
	}
	return &all[0], nil
}

// List returns the conversations of a caller that have all these tags, the last changed first, without their messages. A limit of 0 is no
// limit.
func (b *Book) List(ctx context.Context, w Caller, tags []string, limit int) ([]Conversation, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	all, err := query(ctx, b.db, own+" ORDER BY c.updated_at DESC, c.id", w.args()...)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c Conversation) bool {
		return slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(c.Tags, tag) })
	})
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all, nil
}

// Load returns a conversation with its messages.
func (b *Book) Load(ctx context.Context, w Caller, id string) (*Conversation, error) {
	tx, err := b.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one state of both tables
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	defer tx.Rollback()
	c, err := find(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	c.Messages, err = messages(ctx, tx, id)
	return c, err
}

func messages(ctx context.Context, q querier, id string) ([]Message, error) {
	rows, err := q.QueryContext(ctx, `SELECT n, id, role, summary, content, thinking, calls, tokens, time FROM conversation_messages
		WHERE conversation = ? ORDER BY n`, id)
	if err != nil {
		return nil, fmt.Errorf("read the messages of conversation %s: %w", id, err)
	}
	defer rows.Close()
	var out []Message
	for rows.Next() {
		var m Message
		var calls string
		var at int64
		if err := rows.Scan(&m.n, &m.ID, &m.Role, &m.Summary, &m.Content, &m.Thinking, &calls, &m.Tokens, &at); err != nil {
			return nil, fmt.Errorf("read the messages of conversation %s: %w", id, err)
		}
		if calls != "" {
			if err := json.Unmarshal([]byte(calls), &m.Calls); err != nil {
				return nil, fmt.Errorf("read the calls of message %s: %w", m.ID, err)
			}
		}
		m.Time = time.UnixMicro(at).UTC()
		out = append(out, m)
	}
	return out, rows.Err()
}

// Save keeps a new conversation of a caller, with the name, the tags, the origin and the messages of c. It returns it as it is kept.
func (b *Book) Save(ctx context.Context, w Caller, c Conversation) (*Conversation, error) {
	return b.save(ctx, w, c, false)
}

// save is Save; with cut, parts that are too long are shortened.
func (b *Book) save(ctx context.Context, w Caller, c Conversation, cut bool) (*Conversation, error) {
	if w.Principal == "" || w.Role == "" {
		return nil, errors.New("a conversation belongs to a role, and none is named")
	}
	if err := b.prepare(&c, w, cut); err != nil {
		return nil, err
	}
	err := b.db.Tx(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, &c) })
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// prepare makes of c a new conversation of a caller.
func (b *Book) prepare(c *Conversation, w Caller, cut bool) (err error) {
	now := b.now().UTC().Truncate(time.Microsecond)
	if c.Name, err = checkName(b.mask(c.Name)); err != nil {
		return err
	}
	tags := make([]string, len(c.Tags))
	for i, tag := range c.Tags {
		tags[i] = b.mask(tag)
	}
	if c.Tags, err = addTags(nil, tags); err != nil {
		return err
	}
	c.ID, c.Principal, c.Role, c.Created, c.Updated, c.Tokens = newID("c"), w.Principal, w.Role, now, now, 0
	kept := make([]Message, 0, len(c.Messages))
	for i := range c.Messages {
		m, err := prepare(c.Messages[i], b.mask, now, cut)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		kept = append(kept, m)
		c.Tokens += m.Tokens
	}
	c.Messages, c.Count = kept, len(kept)
	return nil
}

// insert writes a new conversation.
func insert(ctx context.Context, tx *sql.Tx, c *Conversation) error {
	var count, owned, size int
	for i := range c.Messages {
		size += sizeOf(&c.Messages[i])
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(bytes), 0) FROM conversations WHERE principal = ? AND role = ?",
		c.Principal, c.Role).Scan(&count, &owned); err != nil {
		return fmt.Errorf("save conversation: %w", err)
	}
	switch {
	case count >= maxConversations:
		return fmt.Errorf("the role %s has %d conversations, which is the most: delete some", c.Role, count)
	case owned+size > maxOwned:
		return fmt.Errorf("the conversations of the role %s would be larger than %d MiB: delete some", c.Role, maxOwned>>20)
	}
	tags, err := json.Marshal(c.Tags)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, principal, role, name, tags, agent, agent_id, dir, model, fork_of,
		fork_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, c.ID, c.Principal, c.Role, c.Name, string(tags),
		c.Agent, c.AgentID, c.Dir, c.Model, c.ForkOf, c.ForkAt, c.Created.UnixMicro(), c.Updated.UnixMicro()); err != nil {
		return fmt.Errorf("save conversation: %w", err)
	}
	return appendTo(ctx, tx, c.ID, c.Messages)
}

// appendTo writes further messages of a conversation, and how large it is then.
func appendTo(ctx context.Context, tx *sql.Tx, id string, more []Message) error {
	next := 0
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(n) + 1, 0) FROM conversation_messages WHERE conversation = ?", id).
		Scan(&next); err != nil {
		return fmt.Errorf("save conversation %s: %w", id, err)
	}
	for i := range more {
		more[i].n = next + i
		if err := insertMessage(ctx, tx, id, &more[i]); err != nil {
			return err
		}
	}
	return resize(ctx, tx, id)
}

func insertMessage(ctx context.Context, tx *sql.Tx, id string, m *Message) error {
	calls := ""
	if len(m.Calls) > 0 {
		raw, err := json.Marshal(m.Calls)
		if err != nil {
			return fmt.Errorf("save the calls of a message: %w", err)
		}
		calls = string(raw)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO conversation_messages (conversation, n, id, role, summary, content, thinking, calls,
		tokens, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, m.n, m.ID, m.Role, m.Summary, m.Content, m.Thinking, calls, m.Tokens,
		m.Time.UnixMicro())
	if err != nil {
		return fmt.Errorf("save a message: %w", err)
	}
	return nil
}

// resize notes how large a conversation is, and refuses one that is too large.
func resize(ctx context.Context, tx *sql.Tx, id string) error {
	var count, size int
	if err := tx.QueryRowContext(ctx, `UPDATE conversations SET bytes = (SELECT coalesce(sum(octet_length(content) +
		octet_length(thinking) + octet_length(calls)), 0) FROM conversation_messages WHERE conversation = conversations.id) WHERE id = ?
		RETURNING bytes, (SELECT count(*) FROM conversation_messages WHERE conversation = conversations.id)`, id).
		Scan(&size, &count); err != nil {
		return fmt.Errorf("measure conversation %s: %w", id, err)
	}
	if count > maxMessages || size > maxBytes {
		return text.Hinted(fmt.Errorf("a conversation has at most %d messages and %d MiB; this one would have %d and %d",
			maxMessages, maxBytes>>20, count, size>>20), "compress it first: session_compress, or myc chat compress")
	}
	return nil
}

// change changes a conversation of a caller in one transaction.
func (b *Book) change(ctx context.Context, w Caller, id string, f func(tx *sql.Tx, c *Conversation) error) error {
	return b.db.Tx(ctx, func(tx *sql.Tx) error {
		c, err := find(ctx, tx, w, id)
		if err != nil {
			return err
		}
		if err := f(tx, c); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, "UPDATE conversations SET updated_at = ? WHERE id = ?", b.now().UnixMicro(), id); err != nil {
			return fmt.Errorf("change conversation %s: %w", id, err)
		}
		return nil
	})
}

// Rename gives a conversation another name, and returns it as it is kept.
func (b *Book) Rename(ctx context.Context, w Caller, id, name string) (string, error) {
	name, err := checkName(b.mask(name))
	if err != nil {
		return "", err
	}
	return name, b.change(ctx, w, id, func(tx *sql.Tx, _ *Conversation) error {
		_, err := tx.ExecContext(ctx, "UPDATE conversations SET name = ? WHERE id = ?", name, id)
		return err
	})
}

// AddTags adds tags to a conversation, and returns all that it has then.
func (b *Book) AddTags(ctx context.Context, w Caller, id string, more []string) (tags []string, err error) {
	masked := make([]string, len(more))
	for i, tag := range more {
		masked[i] = b.mask(tag)
	}
	return tags, b.change(ctx, w, id, func(tx *sql.Tx, c *Conversation) error {
		if tags, err = addTags(c.Tags, masked); err != nil {
			return err
		}
		raw, err := json.Marshal(tags)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE conversations SET tags = ? WHERE id = ?", string(raw), id)
		return err
	})
}

// AddMessage adds a message at the end of a conversation. It returns its index and its id.
func (b *Book) AddMessage(ctx context.Context, w Caller, id string, m Message) (index int, message string, err error) {
	if m, err = prepare(m, b.mask, b.now().UTC(), false); err != nil {
		return 0, "", err
	}
	return index, m.ID, b.change(ctx, w, id, func(tx *sql.Tx, c *Conversation) error {
		index = c.Count
		if _, err := tx.ExecContext(ctx, "UPDATE conversations SET changed = 1 WHERE id = ?", id); err != nil {
			return err
		}
		return appendTo(ctx, tx, id, []Message{m})
	})
}

// Delete removes a conversation for good, with the file of our own agent from which it comes.
func (b *Book) Delete(ctx context.Context, w Caller, id string) error {
	return b.db.Tx(ctx, func(tx *sql.Tx) error {
		c, err := find(ctx, tx, w, id)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM conversations WHERE id = ?", id); err != nil {
			return err
		}
		if c.Agent == Own && b.Forget != nil {
			return b.Forget(c.AgentID)
		}
		return nil
	})
}

// Fork copies a conversation up to a message, that one included, under a new id and with new ids of its messages. A last index of -1 is
// the last message. Without a name it has that of its origin, with "(fork)". The fork belongs to whom the origin belongs.
func (b *Book) Fork(ctx context.Context, w Caller, id string, last int, name string) (*Conversation, error) {
	c, err := b.Load(ctx, w, id)
	if err != nil {
		return nil, err
	}
	if last == -1 {
		last = len(c.Messages) - 1
	}
	if last < -1 || last >= len(c.Messages) {
		return nil, fmt.Errorf("conversation %s has no message %d: it has %s, from 0", id, last, text.Count(len(c.Messages), "message"))
	}
	if name == "" {
		name = text.Truncate(strings.TrimSuffix(c.Name, " (fork)"), maxName-len(" (fork)")) + " (fork)"
	}
	f := Conversation{Name: name, Tags: c.Tags, Dir: c.Dir, Model: c.Model, ForkOf: c.ID, ForkAt: last + 1, Messages: c.Messages[:last+1]}
	return b.Save(ctx, Caller{Principal: c.Principal, Role: c.Role}, f)
}

// Import keeps a conversation of an agent's files. One that was imported before is replaced; one that was changed here since then is left
// as it is, and kept is false. dropped is how many of its first messages were left out because it was too long.
func (b *Book) Import(ctx context.Context, w Caller, c Conversation) (saved *Conversation, kept bool, dropped int, err error) {
	if w.Principal == "" || w.Role == "" {
		return nil, false, 0, errors.New("a conversation belongs to a role, and none is named")
	}
	if err := b.prepare(&c, w, true); err != nil {
		return nil, false, 0, err
	}
	dropped = c.fit()
	if c.Agent == Own {
		c.ID = c.AgentID
	}
	err = b.db.Tx(ctx, func(tx *sql.Tx) error {
		old, err := query(ctx, tx, "c.principal = ? AND c.role = ? AND c.agent = ? AND c.agent_id = ? AND c.agent_id != ''",
			w.Principal, w.Role, c.Agent, c.AgentID)
		if err != nil {
			return err
		}
		if len(old) > 0 {
			if old[0].Changed {
				c = old[0]
				return nil
			}
			c.ID, c.Name, c.Created = old[0].ID, old[0].Name, old[0].Created
			if c.Tags, err = addTags(old[0].Tags, c.Tags); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM conversations WHERE id = ?", c.ID); err != nil {
				return err
			}
		}
		kept = true
		return insert(ctx, tx, &c)
	})
	if err != nil {
		return nil, false, 0, err
	}
	return &c, kept, dropped, nil
}

// fit leaves out the first messages of a conversation that is too long, and returns how many.
func (c *Conversation) fit() int {
	size, first := 0, len(c.Messages)
	for first > 0 && len(c.Messages)-first < maxMessages {
		more := sizeOf(&c.Messages[first-1]) + 100*(1+len(c.Messages[first-1].Calls)) // what JSON adds to calls
		if size+more > maxBytes*3/4 {                                                 // quotation of JSON adds to them, too
			break
		}
		size += more
		first--
	}
	for _, m := range c.Messages[:first] {
		c.Tokens -= m.Tokens
	}
	c.Messages = c.Messages[first:]
	c.Count = len(c.Messages)
	return first
}
