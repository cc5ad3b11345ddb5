package telegram

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/store"
)

// sent is one message of the bot in a chat.
type sent struct {
	chat    int64
	message int
	request string // that it shows, or the question of an agent's own terminal; empty: it is another notice or a summary
	session string // that it is about; replies to a notice or a summary go there
	shown   string // digest of what the message shows now
}

// messages keeps the messages of a bot in the database, so that a restart finds them again.
type messages struct {
	db  *store.DB
	bot string // [TokenDigest] of its token
}

// messageLife is how long a message is kept: nobody replies later. Telegram itself sets no limit.
const messageLife = 30 * 24 * time.Hour

func (m messages) add(ctx context.Context, s sent, now time.Time) error {
	err := m.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM chat_messages WHERE created_at < ?", now.Add(-messageLife).UnixMicro()); err != nil {
			return err
		}
		final := strings.HasPrefix(s.request, approval.TerminalPrefix) // the message of a notice does not change
		_, err := tx.ExecContext(ctx, `INSERT INTO chat_messages (bot, chat, message, request, session, shown, final, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (bot, chat, message) DO NOTHING`,
			m.bot, s.chat, s.message, s.request, s.session, s.shown, final, now.UnixMicro())
		return err
	})
	return describe("store a chat message", err)
}

// shows records what a message shows now.
func (m messages) shows(ctx context.Context, s sent, final bool) error {
	err := m.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE chat_messages SET shown = ?, final = ? WHERE bot = ? AND chat = ? AND message = ?",
			s.shown, final, m.bot, s.chat, s.message)
		return err
	})
	return describe("store what a chat message shows", err)
}

// each calls scan for every row of a query.
func (m messages) each(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := m.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// of returns the messages of a request.
func (m messages) of(ctx context.Context, request string) (all []sent, err error) {
	err = m.each(ctx, func(rows *sql.Rows) error {
		var s sent
		err := rows.Scan(&s.chat, &s.message, &s.request, &s.session, &s.shown)
		all = append(all, s)
		return err
	}, "SELECT chat, message, request, session, shown FROM chat_messages WHERE bot = ? AND request = ? ORDER BY message", m.bot, request)
	return all, describe("find the messages of a request", err)
}

// open returns the requests whose messages do not show the outcome yet.
func (m messages) open(ctx context.Context) (all []string, err error) {
	err = m.each(ctx, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		all = append(all, id)
		return err
	}, "SELECT DISTINCT request FROM chat_messages WHERE bot = ? AND final = 0 AND request != ''", m.bot)
	return all, describe("find open chat messages", err)
}

// at returns a message. ok is false if it is not known.
func (m messages) at(ctx context.Context, chat int64, message int) (s sent, ok bool, err error) {
	s = sent{chat: chat, message: message}
	err = m.db.QueryRowContext(ctx, "SELECT request, session, shown FROM chat_messages WHERE bot = ? AND chat = ? AND message = ?",
		m.bot, chat, message).Scan(&s.request, &s.session, &s.shown)
	if errors.Is(err, sql.ErrNoRows) {
		return s, false, nil
	}
	return s, err == nil, describe("find a chat message", err)
}

// describe adds to an error what failed.
func describe(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// updateLife is how long the number of the last update is valid: after a week without updates, Telegram starts at a random number.
const updateLife = 6 * 24 * time.Hour

// lastUpdate returns the number of the last update that was taken, or 0 if it is unknown or older than updateLife.
func (m messages) lastUpdate(ctx context.Context, now time.Time) (update int64, err error) {
	err = m.db.QueryRowContext(ctx, "SELECT last_update FROM chat_bots WHERE bot = ? AND taken_at > ?", m.bot,
		now.Add(-updateLife).UnixMicro()).Scan(&update)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return update, describe("find the last chat update", err)
}

// take records an update as taken. fresh is false if it was taken before. take comes before the update is acted on: a crash loses an act
// rather than doing it twice.
func (m messages) take(ctx context.Context, update int64, now time.Time) (fresh bool, err error) {
	err = m.db.Tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO chat_bots (bot, last_update, taken_at) VALUES (?, ?, ?)
			ON CONFLICT (bot) DO UPDATE SET last_update = excluded.last_update, taken_at = excluded.taken_at
			WHERE last_update < excluded.last_update OR taken_at <= ?`,
			m.bot, update, now.UnixMicro(), now.Add(-updateLife).UnixMicro())
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		fresh = n > 0
		return err
	})
	return fresh && err == nil, describe("store the last chat update", err)
}
