-- +goose Up

-- What finds the calls of an agent, of a program and to a host, and the changes of sessions, without reading the lines of the log. The index
-- begins anew (the daemon fills it again from the log).
DROP TABLE audit_calls;
DROP TABLE audit_scopes;
DELETE FROM audit_verdicts;
DELETE FROM audit_names;
DELETE FROM audit_thinking;
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
    agent     TEXT NOT NULL,
    item_kind TEXT NOT NULL,
    server    TEXT NOT NULL,
    UNIQUE (session, tool, role, principal, surface, agent, item_kind, server)
);

-- Which programs a call would run and which hosts it would reach: one row for each combination. Each name stands between line feeds.
CREATE TABLE audit_reaches (
    reach    INTEGER PRIMARY KEY,
    programs TEXT NOT NULL,
    hosts    TEXT NOT NULL,
    UNIQUE (programs, hosts)
);

-- One row a call, its decision joined with its outcome. Queries: audit.
CREATE TABLE audit_calls (
    seq         INTEGER PRIMARY KEY,      -- of the decision's line
    id          TEXT NOT NULL UNIQUE,
    time        INTEGER NOT NULL,         -- unix microseconds
    scope       INTEGER NOT NULL,
    tool        INTEGER NOT NULL,         -- audit_names, as in its scope
    role        INTEGER NOT NULL,
    verdict     INTEGER NOT NULL,
    reach       INTEGER NOT NULL,         -- audit_reaches; 0: no program and no host
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
CREATE INDEX audit_calls_tool ON audit_calls (tool, seq);
CREATE INDEX audit_calls_role ON audit_calls (role, seq);
CREATE INDEX audit_calls_bad ON audit_calls (outcome, seq) WHERE outcome <> 'ok';

-- The beginnings, ends, changes of role and of skills of sessions.
CREATE TABLE audit_changes (
    seq         INTEGER PRIMARY KEY,
    time        INTEGER NOT NULL,         -- unix microseconds
    session     TEXT NOT NULL,
    role        TEXT NOT NULL,
    segment     INTEGER NOT NULL,         -- where the line stands in the log
    line_end    INTEGER NOT NULL,
    line_length INTEGER NOT NULL
);

PRAGMA user_version = 7;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
