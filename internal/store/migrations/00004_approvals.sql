-- +goose Up

-- Calls, stops and questions that wait for an answer, and what was answered. Queries: approval. Times are unix microseconds.
CREATE TABLE approvals (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,
    bound      BLOB NOT NULL,                 -- digest of all that an answer holds for; see approval.Request.Bound
    state      TEXT NOT NULL,                 -- pending, allowed, denied or expired
    remembered INTEGER NOT NULL DEFAULT 0,    -- 1: the answer holds for the rest of the session
    created_at INTEGER NOT NULL,
    settled_at INTEGER,                       -- NULL: pending
    request    TEXT NOT NULL,                 -- JSON, its secrets redacted
    answer     TEXT                           -- JSON; NULL: pending
);
CREATE INDEX approvals_pending ON approvals (created_at) WHERE state = 'pending';
CREATE INDEX approvals_remembered ON approvals (session) WHERE remembered = 1;
CREATE INDEX approvals_settled ON approvals (settled_at);

PRAGMA user_version = 4;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
