package project

import (
	"context"
	"path/filepath"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/credential/held"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
	"mycelium/internal/worktree/git"
)

// doctorTracked says which files with secrets git has in the project. In the sandbox they are closed, in commits too; everywhere else every
// clone and every commit shows them.
func doctorTracked(ctx context.Context, v *project.View, home string, add base.Report) {
	dir := v.Project.Dir
	names, err := git.Git{Dir: dir}.List(ctx, "ls-files", "-z")
	if err != nil {
		return // no repository
	}
	var found []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if held.MayHold(path) && (*held.Reader)(nil).Judged(path, home) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return
	}
	add("warning", "secrets", "git has "+text.Count(len(found), "file")+" with secrets: "+text.Cell(strings.Join(found, ", "), 300)+
		". Commands in the sandbox do not see them, nor the commits that have them; a command outside, and every clone, does",
		"git rm --cached FILE takes one out of the next commits; the old ones keep it, so change the secret as well")
}
