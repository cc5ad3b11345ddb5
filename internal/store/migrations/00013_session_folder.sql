-- +goose Up

ALTER TABLE sessions ADD COLUMN folder TEXT NOT NULL DEFAULT ''; -- the linked worktree in which its calls work, absolute; '': the project's folder

PRAGMA user_version = 13;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
