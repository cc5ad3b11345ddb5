-- +goose Up

-- Saved conversations. Queries: transcript. Times are unix microseconds. A conversation belongs to a principal in a role; for others it
-- does not exist.
CREATE TABLE conversations (
    id         TEXT PRIMARY KEY,
    principal  TEXT NOT NULL,
    role       TEXT NOT NULL,
    name       TEXT NOT NULL,
    tags       TEXT NOT NULL DEFAULT '[]',    -- a JSON array of text
    agent      TEXT NOT NULL DEFAULT '',      -- the agent from whose files it was imported; '': none
    agent_id   TEXT NOT NULL DEFAULT '',      -- the id by which that agent resumes it
    dir        TEXT NOT NULL DEFAULT '',      -- where that agent worked
    model      TEXT NOT NULL DEFAULT '',
    fork_of    TEXT NOT NULL DEFAULT '',      -- the conversation of which it was forked, which may be gone
    fork_at    INTEGER NOT NULL DEFAULT 0,    -- how many messages it took over
    changed    INTEGER NOT NULL DEFAULT 0,    -- 1: it is no longer what was imported
    bytes      INTEGER NOT NULL DEFAULT 0,    -- of its messages
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX conversations_owner ON conversations (principal, role, updated_at);
CREATE UNIQUE INDEX conversations_import ON conversations (principal, role, agent, agent_id) WHERE agent_id != '';

CREATE TABLE conversation_messages (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    n            INTEGER NOT NULL,            -- the order; there may be gaps
    id           TEXT NOT NULL,
    role         TEXT NOT NULL,               -- user, assistant or system
    summary      INTEGER NOT NULL DEFAULT 0,  -- 1: it stands for messages that were removed
    content      TEXT NOT NULL,
    thinking     TEXT NOT NULL DEFAULT '',
    calls        TEXT NOT NULL DEFAULT '',    -- a JSON array; '': none
    tokens       INTEGER NOT NULL,            -- an estimate
    time         INTEGER NOT NULL,
    PRIMARY KEY (conversation, n)
) WITHOUT ROWID;

PRAGMA user_version = 10;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
