package ground

import (
	"context"

	"mycelium/internal/worktree/git"
)

// Works reports whether the git of this machine is new enough. The error says what is wrong, and how to mend it.
func Works(ctx context.Context, dir string) error { return checkVersion(ctx, git.Git{Dir: dir}) }
