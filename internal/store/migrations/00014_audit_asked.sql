-- +goose Up

-- By which decision somebody was asked about a call, so that questions are counted without reading the lines of the log. The index begins
-- anew (the daemon fills it again from the log).
ALTER TABLE audit_calls ADD COLUMN asked INTEGER NOT NULL DEFAULT 0; -- audit_verdicts, of the decision that asks; 0: nobody was asked
DELETE FROM audit_calls;
DELETE FROM audit_scopes;
DELETE FROM audit_verdicts;
DELETE FROM audit_names;
DELETE FROM audit_reaches;
DELETE FROM audit_changes;
DELETE FROM audit_thinking;
DELETE FROM audit_position;
INSERT INTO audit_text (audit_text) VALUES ('delete-all');

PRAGMA user_version = 14;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
