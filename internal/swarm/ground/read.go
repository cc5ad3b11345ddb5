package ground

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Blob is a file of a commit. It is no link and no submodule.
type Blob struct {
	Path   string // from the project, with slashes
	Size   int64  // bytes
	object string
}

// Files lists the files of the project in a commit, in the order of their paths.
func (r *Repo) Files(ctx context.Context, c Commit) ([]Blob, error) {
	tree := string(c) + ":" + strings.TrimSuffix(r.prefix, "/")
	lines, err := r.plumbing().List(ctx, "ls-tree", "-r", "-l", "-z", tree)
	if err != nil {
		return nil, fmt.Errorf("list the files of %.12s: %w", c, err)
	}
	var out []Blob
	for _, line := range lines { // 100644 blob OBJECT    SIZE\tPATH
		about, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if !ok || len(fields) != 4 || !strings.HasPrefix(fields[0], "100") {
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree printed %q", fields[3])
		}
		out = append(out, Blob{path, size, fields[2]})
	}
	return out, nil
}

// Read returns the content of a file, of which the caller knows the size.
func (r *Repo) Read(ctx context.Context, b Blob) (string, error) {
	out, err := r.plumbing().Run(ctx, "cat-file", "blob", b.object)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", b.Path, err)
	}
	return string(out), nil
}
