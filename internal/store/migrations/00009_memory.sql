-- +goose Up

-- This number is for the memory of roles.
PRAGMA user_version = 9;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
