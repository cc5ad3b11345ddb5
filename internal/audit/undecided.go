package audit

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/rawjson"
)

// ErrTooFar is the error of Undecided for calls that lie too far back in the log.
var ErrTooFar = errors.New("the log is too long to be searched")

// The bounds on the part of the log that Undecided searches, in bytes.
const (
	firstSearch = 256 << 10
	mostSearch  = 256 << 20
)

// Undecided returns those of an agent's own ids of calls about which the log has no decision of a surface since a time.
func (l *Log) Undecided(ctx context.Context, surface string, since time.Time, ids []string) ([]string, error) {
	left := map[string]bool{}
	for _, id := range ids {
		left[id] = true
	}
	names, err := segments(l.o.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(names) {
		over, err := searchBack(ctx, filepath.Join(l.o.Dir, name), surface, since, left)
		if err != nil {
			return nil, err
		}
		if over || len(left) == 0 {
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !left[id] }), nil
}

// searchBack takes the ids of calls that a segment decides out of left. over reports that the rest is from before since.
func searchBack(ctx context.Context, path, surface string, since time.Time, left map[string]bool) (over bool, err error) {
	for most := int64(firstSearch); ; most *= 4 {
		if most > mostSearch {
			return false, ErrTooFar
		}
		raw, err := endOf(path, most)
		if err != nil {
			return false, err
		}
		whole := int64(len(raw)) < most
		for len(raw) > 0 && len(left) > 0 {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			i := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
			line := bytes.TrimSuffix(raw[i:], []byte("\n"))
			raw = raw[:i]
			if at, err := time.Parse(time.RFC3339Nano, rawjson.TextAt(line, "time")); err == nil && at.Before(since) {
				return true, nil
			}
			if !bytes.Contains(line, []byte(`"toolUse":`)) || rawjson.TextAt(line, "kind") != string(Decided) ||
				rawjson.TextAt(line, "surface") != surface {
				continue
			}
			delete(left, rawjson.TextAt(line, "toolUse"))
		}
		if whole || len(left) == 0 {
			return false, nil
		}
	}
}
