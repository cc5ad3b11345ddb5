-- +goose Up

-- Messages of ours in chats, so that they are found again after a restart. Queries: approval. Times are unix microseconds.
CREATE TABLE chat_messages (
    bot        TEXT NOT NULL,                 -- which bot sent it: a digest of its token
    chat       INTEGER NOT NULL,
    message    INTEGER NOT NULL,
    request    TEXT NOT NULL DEFAULT '',      -- approvals.id; empty: none
    session    TEXT NOT NULL DEFAULT '',      -- the agent's session to which a reply goes; empty: none
    shown      TEXT NOT NULL DEFAULT '',      -- digest of what it shows now
    final      INTEGER NOT NULL DEFAULT 0,    -- 1: it shows the outcome
    created_at INTEGER NOT NULL,
    PRIMARY KEY (bot, chat, message)
) WITHOUT ROWID;
CREATE INDEX chat_messages_request ON chat_messages (bot, request) WHERE request != '';

-- How far the updates of each bot were taken.
CREATE TABLE chat_bots (
    bot         TEXT PRIMARY KEY,
    last_update INTEGER NOT NULL,
    taken_at    INTEGER NOT NULL              -- after a week without updates Telegram begins to count anew
) WITHOUT ROWID;

PRAGMA user_version = 5;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
