package ground

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// TakeBack makes a candidate for the merge queue that takes back what a commit has changed: brought onto a later tip, it conflicts only
// where somebody has changed the same lines since. Taking back the commit that lands of it brings the work again.
func (r *Repo) TakeBack(ctx context.Context, c Commit) (Commit, error) {
	var out bytes.Buffer
	// With the commit as its parent, the commit is what both sides of the merge have in common, as in git revert.
	err := r.plumbing().Pipe(ctx, strings.NewReader("Take back "+string(c)+"\n"), &out, "commit-tree", "-p", string(c), "-F", "-",
		string(c)+"^^{tree}")
	back := Commit(strings.TrimSpace(out.String()))
	if err == nil { // git must not lose it while it waits
		err = r.update(ctx, change{"refs/mycelium/undo/" + r.opts.Session + "/landed/" + string(c[:12]), back, ""})
	}
	if err != nil {
		return "", fmt.Errorf("take back %.12s: %w", c, err)
	}
	return back, nil
}
