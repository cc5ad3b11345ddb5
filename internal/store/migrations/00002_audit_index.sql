-- +goose Up

-- The index of the audit log, made smaller: what many calls share is written once, arguments are read from the log, and the index
-- begins anew (the daemon fills it again from the log).
DROP TABLE audit_calls;
DELETE FROM audit_position;
INSERT INTO audit_text (audit_text) VALUES ('delete-all');

-- Who called what: one row for each combination.
CREATE TABLE audit_scopes (
    scope     INTEGER PRIMARY KEY,
    session   TEXT NOT NULL,
    tool      TEXT NOT NULL,
    role      TEXT NOT NULL,
    principal TEXT NOT NULL,
    surface   TEXT NOT NULL,
    item_kind TEXT NOT NULL,
    server    TEXT NOT NULL,
    UNIQUE (session, tool, role, principal, surface, item_kind, server)
);

-- How it was decided: one row for each combination.
CREATE TABLE audit_verdicts (
    verdict    INTEGER PRIMARY KEY,
    effect     TEXT NOT NULL,
    rule       TEXT NOT NULL,
    unknown    INTEGER NOT NULL,
    decided_by TEXT NOT NULL,
    UNIQUE (effect, rule, unknown, decided_by)
);

-- One row a call, its decision joined with its outcome. Queries: audit.
CREATE TABLE audit_calls (
    seq         INTEGER PRIMARY KEY,      -- of the decision's line
    id          TEXT NOT NULL UNIQUE,
    time        INTEGER NOT NULL,         -- unix microseconds
    scope       INTEGER NOT NULL,
    verdict     INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    outcome     TEXT NOT NULL,            -- ok, error, denied or unfinished
    error       TEXT NOT NULL,
    duration_us INTEGER,                  -- NULL: unfinished
    segment     INTEGER NOT NULL,         -- where the decision's line, which has the arguments, stands in the log
    line_end    INTEGER NOT NULL,         -- offset of the byte after it
    line_length INTEGER NOT NULL          -- with its newline
);
CREATE INDEX audit_calls_time ON audit_calls (time);
CREATE INDEX audit_calls_scope ON audit_calls (scope, seq);
CREATE INDEX audit_calls_bad ON audit_calls (outcome, seq) WHERE outcome <> 'ok';

-- The reasoning that came with a call, if any did.
CREATE TABLE audit_thinking (
    seq      INTEGER PRIMARY KEY,
    thinking TEXT NOT NULL,               -- JSON
    type     TEXT NOT NULL,
    tokens   INTEGER NOT NULL
);

PRAGMA user_version = 2;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
