-- +goose Up

-- The swarm. Queries: swarm/book. Times are unix microseconds. A session is written whole in each change, with its event.
CREATE TABLE swarm_sessions (
    id      TEXT PRIMARY KEY,
    open    INTEGER NOT NULL,            -- 1: it goes on; at most one session does
    holder  TEXT NOT NULL DEFAULT '',    -- who drives it; '': nobody
    until   INTEGER NOT NULL DEFAULT 0,  -- the holder's lease ends then
    doc     TEXT NOT NULL,               -- the session without its features, as JSON
    began   INTEGER NOT NULL,
    changed INTEGER NOT NULL
);
CREATE UNIQUE INDEX swarm_open ON swarm_sessions (open) WHERE open = 1;

CREATE TABLE swarm_features (
    session TEXT NOT NULL REFERENCES swarm_sessions (id) ON DELETE CASCADE,
    n       INTEGER NOT NULL,            -- the order
    id      TEXT NOT NULL,
    doc     TEXT NOT NULL,               -- the feature with its attempts, as JSON
    PRIMARY KEY (session, n)
) WITHOUT ROWID;

CREATE TABLE swarm_events (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES swarm_sessions (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    feature TEXT NOT NULL DEFAULT '',    -- '': of the session
    attempt INTEGER NOT NULL DEFAULT 0,  -- 0: of the feature
    text    TEXT NOT NULL
);
CREATE INDEX swarm_events_of ON swarm_events (session, seq);

PRAGMA user_version = 11;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
