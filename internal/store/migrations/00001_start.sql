-- +goose Up

-- Live credentials and what each may do now. Queries: gate. Times are unix microseconds. roles is a JSON array of text; skills
-- what was asked for, as {"only", "added", "removed"}: what is active follows from it and the policy of now.
CREATE TABLE sessions (
    id         TEXT PRIMARY KEY,
    token_hash BLOB UNIQUE,                   -- NULL: no token, a session that only its process knows
    name       TEXT NOT NULL DEFAULT '',
    principal  TEXT NOT NULL,
    parent     TEXT NOT NULL DEFAULT '',      -- the parent session or principal; '': none
    role       TEXT NOT NULL DEFAULT '',      -- the role it has now
    roles      TEXT NOT NULL DEFAULT '[]',    -- the only roles that it may take
    skills     TEXT NOT NULL DEFAULT '{}',
    start_role TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    expires_at INTEGER,                       -- NULL: never
    ended_at   INTEGER                        -- NULL: alive
);

-- The index of the audit log: one row a call, its decision joined with its outcome. Queries: audit. It can be dropped and
-- rebuilt from the log.
CREATE TABLE audit_calls (
    seq             INTEGER PRIMARY KEY,      -- of the decision's line
    id              TEXT NOT NULL UNIQUE,
    time            INTEGER NOT NULL,         -- unix microseconds
    session         TEXT NOT NULL,
    principal       TEXT NOT NULL,
    role            TEXT NOT NULL,
    surface         TEXT NOT NULL,
    item_kind       TEXT NOT NULL,
    tool            TEXT NOT NULL,
    server          TEXT NOT NULL,
    args            TEXT,
    effect          TEXT NOT NULL,
    unknown         INTEGER NOT NULL,
    rule            TEXT NOT NULL,
    reason          TEXT NOT NULL,
    decided_by      TEXT NOT NULL,
    outcome         TEXT NOT NULL,            -- ok, error, denied or unfinished
    error           TEXT NOT NULL,
    duration_us     INTEGER,                  -- NULL: unfinished
    thinking        TEXT,                     -- JSON; NULL: none
    thinking_type   TEXT NOT NULL,
    thinking_tokens INTEGER NOT NULL
);
CREATE INDEX audit_calls_time ON audit_calls (time);
CREATE INDEX audit_calls_session ON audit_calls (session, seq);
CREATE INDEX audit_calls_tool ON audit_calls (tool, seq);
CREATE INDEX audit_calls_role ON audit_calls (role, seq);
CREATE INDEX audit_calls_outcome ON audit_calls (outcome, seq);

-- The words of the reasoning; bigrams has every pair of neighbours in writing without spaces (Japanese, Chinese, Korean).
CREATE VIRTUAL TABLE audit_text USING fts5 (words, bigrams, content = '', tokenize = 'unicode61');

-- How far the index has read; one row.
CREATE TABLE audit_position (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    segment TEXT NOT NULL,
    offset  INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    mac     TEXT NOT NULL                     -- of the last line that was read: another chain means another index
);

PRAGMA user_version = 1;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
