package memory

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/store"
)

// MaxLimit is the most entries that one search returns, and DefaultLimit as many as it returns where nobody says how many (requirements,
// A23).
const (
	MaxLimit     = 100
	DefaultLimit = 10
)

// Query is what to look for.
type Query struct {
	Text  string   // words in any order; without one the newest entries are found
	Roles []string // whose memories are searched
	Type  string   // "": of any type
	Tags  []string // entries with any of them; none: all entries
	Limit int      // 0: DefaultLimit
}

// Found is what a search found, the most relevant first, and of equal ones the newest first.
type Found struct {
	Entries []Entry
	Total   int     // matching entries, also those beyond the limit
	Unread  []error // of files that could not be read, if others could
}

// Index searches the files of a folder. The rows in the database are derived: whoever deletes them costs the next search some time.
type Index struct {
	Folder Folder
	DB     *store.DB
}

// Search finds entries. The files of the roles are looked at first, and those that changed are read.
//
// How relevant an entry is depends on the memories that are searched only: the rarer among them a word of the query, the more it counts.
// So the order of the answer tells nothing of memories that the caller may not read.
func (x Index) Search(ctx context.Context, q Query) (Found, error) {
	files, unread, err := x.update(ctx, q.Roles)
	if err == nil && len(files) == 0 && len(unread) > 0 {
		err = unread[0]
	}
	var found Found
	if err == nil {
		found, err = x.search(ctx, q, files)
	}
	if err != nil {
		return Found{}, fmt.Errorf("search the memories: %w", err)
	}
	found.Unread = unread
	return found, nil
}

// hit is an entry that a query matches.
type hit struct {
	row, created int64
	score        float64
}

func (x Index) search(ctx context.Context, q Query, files map[int64]string) (Found, error) {
	ids := make([]int64, 0, len(files))
	for id := range files {
		ids = append(ids, id)
	}
	in, err := json.Marshal(ids)
	if err != nil {
		return Found{}, err
	}
	hits, err := x.hits(ctx, q, string(in))
	if err != nil {
		return Found{}, err
	}
	order := make([]hit, 0, len(hits))
	for _, h := range hits {
		order = append(order, *h)
	}
	slices.SortFunc(order, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.created, a.created), cmp.Compare(b.row, a.row))
	})
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	out := Found{Total: len(order)}
	for _, h := range order[:min(len(order), q.Limit, MaxLimit)] {
		e, err := x.load(ctx, h.row, files)
		if err != nil {
			return Found{}, err
		}
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}

// hits are the entries of files that match a query, by row.
func (x Index) hits(ctx context.Context, q Query, files string) (map[int64]*hit, error) {
	list := terms(q.Text)
	if len(list) == 0 {
		list = []string{""}
	}
	var all float64
	if err := x.DB.QueryRowContext(ctx, `SELECT count(*) FROM memory_entries WHERE file IN (SELECT value FROM json_each(?))`,
		files).Scan(&all); err != nil {
		return nil, err
	}
	out := map[int64]*hit{}
	for _, term := range list {
		matching, err := x.matching(ctx, term, q, files)
		if err != nil {
			return nil, err
		}
		weight := math.Log(1 + all/float64(max(len(matching), 1)))
		for _, h := range matching {
			if out[h.row] == nil {
				out[h.row] = &h
			}
			out[h.row].score += weight
		}
	}
	return out, nil
}

// matching are the entries that match one term and have the type and one of the tags; "" is no term.
func (x Index) matching(ctx context.Context, term string, q Query, files string) ([]hit, error) {
	tags, err := json.Marshal(append([]string{}, CleanTags(q.Tags)...))
	if err != nil {
		return nil, err
	}
	from := `memory_words w JOIN memory_entries e ON e.id = w.rowid WHERE memory_words MATCH ?4 AND`
	if term == "" {
		from = `memory_entries e WHERE ?4 = '' AND`
	}
	rows, err := x.DB.QueryContext(ctx, `SELECT e.id, e.created FROM `+from+` e.file IN (SELECT value FROM json_each(?1))
		AND (?2 = '' OR e.type = ?2)
		AND (?3 = '[]' OR EXISTS (SELECT 1 FROM json_each(e.tags) WHERE value IN (SELECT value FROM json_each(?3))))`,
		files, q.Type, string(tags), term)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []hit
	for rows.Next() {
		var h hit
		if err := rows.Scan(&h.row, &h.created); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

func (x Index) load(ctx context.Context, row int64, files map[int64]string) (Entry, error) {
	var e Entry
	var tags string
	var file, created int64
	err := x.DB.QueryRowContext(ctx, `SELECT file, entry, type, tags, source, created, content FROM memory_entries WHERE id = ?`, row).
		Scan(&file, &e.ID, &e.Type, &tags, &e.Source, &created, &e.Content)
	if err == nil {
		err = json.Unmarshal([]byte(tags), &e.Tags)
	}
	if created != 0 {
		e.Created = time.UnixMilli(created).UTC()
	}
	e.Role = files[file]
	return e, err
}

// file is a row of memory_files.
type file struct {
	id    int64
	path  string
	role  string
	stamp Stamp
}

// update brings the index up to date with the files of roles, and returns their rows with the roles. It forgets files that are gone.
func (x Index) update(ctx context.Context, roles []string) (out map[int64]string, unread []error, err error) {
	known, err := x.files(ctx)
	if err != nil {
		return nil, nil, err
	}
	out, current := map[int64]string{}, map[string]bool{}
	for _, k := range known {
		stamp := Stamp{}
		if filepath.Dir(k.path) == x.Folder.Dir {
			if stamp, err = x.Folder.Stat(k.role); err != nil {
				return nil, nil, err
			}
		}
		if stamp == (Stamp{}) {
			if err := x.forget(ctx, k.id); err != nil {
				return nil, nil, err
			}
		} else if stamp == k.stamp && slices.Contains(roles, k.role) {
			out[k.id], current[k.role] = k.role, true
		}
	}
	for _, role := range roles {
		if current[role] {
			continue
		}
		current[role] = true
		d, stamp, err := x.Folder.Read(role)
		if err != nil {
			unread = append(unread, err)
		}
		if err != nil || stamp == (Stamp{}) {
			continue
		}
		id, err := x.renew(ctx, file{path: x.Folder.Path(role), role: role, stamp: stamp}, d.Entries())
		if err != nil {
			return nil, nil, err
		}
		out[id] = role
	}
	return out, unread, nil
}

func (x Index) files(ctx context.Context) ([]file, error) {
	rows, err := x.DB.QueryContext(ctx, `SELECT id, path, role, inode, size, modified FROM memory_files`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []file
	for rows.Next() {
		var f file
		var inode int64
		if err := rows.Scan(&f.id, &f.path, &f.role, &inode, &f.stamp.Size, &f.stamp.Modified); err != nil {
			return nil, err
		}
		f.stamp.Inode = uint64(inode) //nolint:gosec // stored as the same bits
		out = append(out, f)
	}
	return out, rows.Err()
}

// forget removes a file with its entries.
func (x Index) forget(ctx context.Context, id int64) error {
	return x.DB.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM memory_words WHERE rowid IN
			(SELECT id FROM memory_entries WHERE file = ?)`, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM memory_files WHERE id = ?`, id) // and its entries with it
		return err
	})
}

// renew makes the rows of a file what the file says. Rows of entries that have not changed stay.
func (x Index) renew(ctx context.Context, f file, entries []Entry) (id int64, err error) {
	err = x.DB.Tx(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `INSERT INTO memory_files (path, role, inode, size, modified) VALUES (?1, ?2, ?3, ?4, ?5)
			ON CONFLICT (path) DO UPDATE SET role = ?2, inode = ?3, size = ?4, modified = ?5 RETURNING id`,
			f.path, f.role, int64(f.stamp.Inode), f.stamp.Size, f.stamp.Modified).Scan(&id); err != nil { //nolint:gosec // the same bits
			return err
		}
		kept, err := keptRows(ctx, tx, id)
		if err != nil {
			return err
		}
		var added []entryRow
		for _, e := range entries {
			r, err := rowOf(e)
			if err != nil {
				return err
			}
			if had, ok := kept[e.ID]; ok && had.entryRow == r {
				delete(kept, e.ID)
				continue
			}
			added = append(added, r)
		}
		for _, gone := range kept {
			if _, err := tx.ExecContext(ctx, `DELETE FROM memory_words WHERE rowid = ?`, gone.row); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM memory_entries WHERE id = ?`, gone.row); err != nil {
				return err
			}
		}
		return insert(ctx, tx, id, added)
	})
	return id, err
}

// entryRow is an entry as the database has it.
type entryRow struct {
	id, kind, tags, source, content string
	created                         int64
}

type keptRow struct {
	entryRow
	row int64
}

func rowOf(e Entry) (entryRow, error) {
	tags, err := json.Marshal(append([]string{}, e.Tags...))
	r := entryRow{id: e.ID, kind: e.Type, tags: string(tags), source: e.Source, content: e.Content}
	if !e.Created.IsZero() {
		r.created = e.Created.UnixMilli()
	}
	return r, err
}

// keptRows are the entries that the database has of a file, by id.
func keptRows(ctx context.Context, tx *sql.Tx, file int64) (map[string]keptRow, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, entry, type, tags, source, created, content FROM memory_entries WHERE file = ?`, file)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]keptRow{}
	for rows.Next() {
		var k keptRow
		if err := rows.Scan(&k.row, &k.id, &k.kind, &k.tags, &k.source, &k.created, &k.content); err != nil {
			return nil, err
		}
		out[k.id] = k
	}
	return out, rows.Err()
}

func insert(ctx context.Context, tx *sql.Tx, file int64, list []entryRow) error {
	if len(list) == 0 {
		return nil
	}
	entries, err := tx.PrepareContext(ctx, `INSERT INTO memory_entries (file, entry, type, tags, source, created, content)
		VALUES (?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer func() { _ = entries.Close() }()
	words, err := tx.PrepareContext(ctx, `INSERT INTO memory_words (rowid, words, grams) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer func() { _ = words.Close() }()
	for _, r := range list {
		res, err := entries.ExecContext(ctx, file, r.id, r.kind, r.tags, r.source, r.created, r.content)
		if err != nil {
			return err
		}
		row, err := res.LastInsertId()
		if err != nil {
			return err
		}
		w, g := indexed(r.content + "\n" + r.tags)
		if _, err := words.ExecContext(ctx, row, w, g); err != nil {
			return err
		}
	}
	return nil
}
