package audit

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Lag is how many bytes of the log the index has not read yet.
func (x *Index) Lag(ctx context.Context) (int64, error) {
	var at Position
	err := x.db.QueryRowContext(ctx, "SELECT segment, offset FROM audit_position").Scan(&at.Segment, &at.Offset)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, wrap("read the position of the audit index", err)
	}
	names, err := segments(x.o.Dir)
	if err != nil {
		return 0, wrap("read the audit log", err)
	}
	lag := int64(0)
	for _, name := range names {
		if name < at.Segment {
			continue
		}
		st, err := os.Stat(filepath.Join(x.o.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was put away meanwhile
		}
		if err != nil {
			return 0, wrap("read the audit log", err)
		}
		lag += st.Size()
		if name == at.Segment {
			lag -= at.Offset
		}
	}
	return max(lag, 0), nil
}
