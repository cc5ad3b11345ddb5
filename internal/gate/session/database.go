package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"mycelium/internal/gate/facts"
	"time"

	"github.com/go-json-experiment/json"
)

// The queries over the table of minted sessions. Times are microseconds since 1970.

const rowColumns = `id, token_hash, name, principal, role, roles, skills, start_role, created_at, expires_at, issuer, issued_at,
	refused_before, asks, writes, folder`

// insertRow keeps a session. A session that is over and has the same hash keeps its row, without the hash.
func (r *Registry) insertRow(ctx context.Context, s *Session) error {
	st := s.state.Load()
	roles, skills, err := marshalBoth(st.may, st.asked)
	if err != nil {
		return err
	}
	return r.db.Tx(ctx, func(tx *sql.Tx) error {
		if s.issuer != "" {
			if _, err := tx.ExecContext(ctx, `UPDATE sessions SET token_hash = NULL WHERE token_hash = ?`, s.hash); err != nil {
				return fmt.Errorf("keep session: %w", err)
			}
		}
		_, err := tx.ExecContext(ctx,
			`INSERT INTO sessions (`+rowColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			s.ID, s.hash, s.Name, s.Principal.ID, st.role, roles, skills, s.start, s.Created.UnixMicro(), s.expires.UnixMicro(),
			s.issuer, micro(st.issued), s.refused, string(s.Asks), s.Writes, s.Folder)
		if err != nil {
			return fmt.Errorf("keep session: %w", err)
		}
		return nil
	})
}

// micro returns the microseconds of a time since 1970, 0 for the zero time.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// updateRow keeps roles and skills, so that they outlast a restart.
func (r *Registry) updateRow(ctx context.Context, id string, st *state) error {
	roles, skills, err := marshalBoth(st.may, st.asked)
	if err != nil {
		return err
	}
	return r.db.Tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE sessions SET role = ?, roles = ?, skills = ?, issued_at = ? WHERE id = ? AND ended_at IS NULL`,
			st.role, roles, skills, micro(st.issued), id)
		if err != nil {
			return fmt.Errorf("keep session %s: %w", id, err)
		}
		if n, err := res.RowsAffected(); err == nil && n == 0 {
			return ErrNoSession
		}
		return nil
	})
}

func (r *Registry) endRow(ctx context.Context, id string) error {
	return r.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE sessions SET ended_at = ? WHERE id = ?`, r.now().UnixMicro(), id); err != nil {
			return fmt.Errorf("end session %s: %w", id, err)
		}
		return nil
	})
}

// restore brings a session from the database into memory.
func (r *Registry) restore(ctx context.Context, where string, key any) (*Session, error) {
	r.live.load.Lock()
	defer r.live.load.Unlock()
	s, err := r.loadRow(ctx, where, key)
	if err != nil {
		return nil, err
	}
	if there := r.live.id(s.ID); there != nil {
		return there, nil // another caller was faster; two copies of one session would disagree about its role
	}
	r.live.put(s)
	r.watch(s)
	return s, nil
}

// loadRow reads one live session. where is one of this file's conditions, with one parameter.
func (r *Registry) loadRow(ctx context.Context, where string, key any) (*Session, error) {
	if r.db == nil {
		return nil, ErrNoSession
	}
	row := r.db.QueryRowContext(ctx,
		`SELECT `+rowColumns+` FROM sessions WHERE `+where+` AND ended_at IS NULL AND expires_at > ?`, key, r.now().UnixMicro())
	s, err := r.scan(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoSession
	}
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	return s, nil
}

// loadRows reads every live session.
func (r *Registry) loadRows(ctx context.Context) ([]*Session, error) {
	if r.db == nil {
		return nil, nil
	}
	rows, err := r.db.QueryContext(ctx,
		`SELECT `+rowColumns+` FROM sessions WHERE ended_at IS NULL AND expires_at > ?`, r.now().UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var out []*Session
	for rows.Next() {
		s, err := r.scan(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return out, nil
}

// scan makes a session from one row.
func (r *Registry) scan(into func(...any) error) (*Session, error) {
	s := &Session{registry: r, done: make(chan struct{})}
	st := &state{}
	var roles, skills string
	var created, expires, issued int64
	err := into(&s.ID, &s.hash, &s.Name, &s.Principal.ID, &st.role, &roles, &skills, &s.start, &created, &expires, &s.issuer, &issued,
		&s.refused, &s.Asks, &s.Writes, &s.Folder)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(roles), &st.may); err != nil {
		return nil, fmt.Errorf("roles of session %s: %w", s.ID, err)
	}
	if err := json.Unmarshal([]byte(skills), &st.asked); err != nil {
		return nil, fmt.Errorf("skills of session %s: %w", s.ID, err)
	}
	s.Written = facts.NewWritten(r.folder, s.ID, r.dir)
	s.Counters = r.limits.Session(s.ID)
	s.Created, s.expires = time.UnixMicro(created), time.UnixMicro(expires)
	if issued != 0 {
		st.issued = time.UnixMicro(issued)
	}
	s.state.Store(st)
	return s, nil
}

func marshalBoth(roles []string, a asked) (string, string, error) {
	r, err := json.Marshal(roles)
	if err != nil {
		return "", "", fmt.Errorf("keep session: %w", err)
	}
	// A nil Only follows the policy; an empty one is no skill at all.
	k, err := json.Marshal(a, json.FormatNilSliceAsNull(true))
	if err != nil {
		return "", "", fmt.Errorf("keep session: %w", err)
	}
	return string(r), string(k), nil
}
