-- +goose Up

ALTER TABLE sessions ADD COLUMN writes TEXT NOT NULL DEFAULT ''; -- the only file that its calls may change, absolute; '': what the policy says

PRAGMA user_version = 12;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
