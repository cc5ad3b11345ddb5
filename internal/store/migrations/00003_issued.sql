-- +goose Up

-- Sessions whose credential somebody else issued (OAuth). Queries: gate. Times are unix microseconds.
ALTER TABLE sessions ADD COLUMN issuer TEXT NOT NULL DEFAULT '';            -- who vouches for the holder; '': the token is ours
ALTER TABLE sessions ADD COLUMN issued_at INTEGER NOT NULL DEFAULT 0;       -- of the newest token: an older one that says something else is void
ALTER TABLE sessions ADD COLUMN refused_before INTEGER NOT NULL DEFAULT 0;  -- an operator ended the session then: tokens issued before are void

PRAGMA user_version = 3;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
