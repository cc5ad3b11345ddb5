package ops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/atomicfile"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/export"
	"mycelium/internal/swarm/ground"
)

// TakenError means that a file is there that no export has written.
type TakenError struct{ File string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%q is there, and no export has written it", e.File)
}

// Export writes the views of a session into a folder, and returns their paths. With an error before the first is written, none is. A file
// that is there is replaced only if an export has written it, or with force: else the error is a *TakenError.
func (o Ops) Export(ctx context.Context, s *book.Session, folder string, force bool) (paths []string, err error) {
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	at := export.Place{Prefix: g.Prefix()}
	if at.Repository, at.Revision, err = (ground.Keep{Repo: g}).Stands(ctx); err != nil {
		return nil, err
	}
	events, err := o.Events(ctx, s.ID, 0, export.Entries)
	if err != nil {
		return nil, err
	}
	files, err := export.Files(s, events, at)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if ours, err := written(path, f.Head); err != nil || !ours && !force {
			return nil, errors.Join(err, &TakenError{path})
		}
		paths = append(paths, path)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the views: %w", err)
	}
	for i, f := range files {
		mode := fs.FileMode(0o600)
		if f.Program {
			mode = 0o700
		}
		if err := atomicfile.Write(paths[i], []byte(f.Data), mode); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// written reports whether an export has written what is at a path, or nothing is there. No link and no folder is ours.
func written(path, head string) (bool, error) {
	f, info, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		if _, seen := os.Lstat(path); seen == nil { // a link, or not for us to read
			return false, nil
		}
		return false, fmt.Errorf("look at %q: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, len(head))
	n, _ := f.Read(b)
	return info.Mode().IsRegular() && strings.HasPrefix(string(b[:n]), head), nil
}
