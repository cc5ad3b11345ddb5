-- +goose Up

-- Calls have the tool and the role themselves, so that the newest of a tool are found without reading all of them. The index begins anew
-- (the daemon fills it again from the log).
DROP TABLE audit_calls;
DELETE FROM audit_scopes;
DELETE FROM audit_verdicts;
DELETE FROM audit_thinking;
DELETE FROM audit_position;
INSERT INTO audit_text (audit_text) VALUES ('delete-all');

-- The names of tools and roles.
CREATE TABLE audit_names (
    name_id INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE
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

PRAGMA user_version = 6;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
