package ground

import (
	"context"
	"fmt"
)

// maxCommitMessage bounds the message of a commit, in bytes: a worker wrote it.
const maxCommitMessage = 16 << 10

// Message returns the message of a commit. A longer one than 16 KiB is cut.
func (r *Repo) Message(ctx context.Context, c Commit) (string, error) {
	out, err := r.plumbing().Run(ctx, "show", "--no-patch", "--format=%B", "--end-of-options", string(c))
	if err != nil {
		return "", fmt.Errorf("read the message of %.12s: %w", c, err)
	}
	return string(out[:min(len(out), maxCommitMessage)]), nil
}
