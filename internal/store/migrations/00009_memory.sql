-- +goose Up

-- What is searched of the memories. Everything here is derived from their files, and made anew where a file has changed.
CREATE TABLE memory_files (
    id       INTEGER PRIMARY KEY,
    path     TEXT NOT NULL UNIQUE,
    role     TEXT NOT NULL,
    inode    INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL -- nanoseconds since 1970
) STRICT;

CREATE TABLE memory_entries (
    id      INTEGER PRIMARY KEY, -- the row in memory_words
    file    INTEGER NOT NULL REFERENCES memory_files (id) ON DELETE CASCADE,
    entry   TEXT NOT NULL,
    type    TEXT NOT NULL,
    tags    TEXT NOT NULL,   -- JSON array
    source  TEXT NOT NULL,
    created INTEGER NOT NULL, -- milliseconds since 1970; 0: not said
    content TEXT NOT NULL,
    UNIQUE (file, entry)
) STRICT;

CREATE VIRTUAL TABLE memory_words USING fts5 (
    words, -- texts and tags
    grams, -- pairs of letters of scripts that put no spaces between words
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

PRAGMA user_version = 9;

-- +goose Down
SELECT 1; -- there is no way back: a database is never made older
