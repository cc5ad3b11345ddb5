-- +goose Up

ALTER TABLE sessions ADD COLUMN asks TEXT NOT NULL DEFAULT ''; -- what becomes of its calls that need an approval: wait, deny, reached; '': not said

PRAGMA user_version = 8;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
