package node

import (
	"context"
	"fmt"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/gate"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/secret"
)

// followCatalog compiles again when a server offers something else.
func (n *Node) followCatalog(ctx context.Context) error {
	for {
		changed := n.pool.Changed()
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		n.recompile()
	}
}

// followFiles reloads when files change.
func (n *Node) followFiles(ctx context.Context) error {
	n.mu.Lock()
	p := n.view.Project
	n.mu.Unlock()
	return config.Watch(ctx, p, func() {
		if err := n.reload(ctx); err != nil {
			n.logger.Warn("files changed and are not in force", "err", err)
		}
	})
}

// reload reads the files again. Good ones take effect at once; a broken role, rules or mycelium file keeps the last good policy.
func (n *Node) reload(context.Context) error {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	p, err := n.Load()
	if err != nil {
		return err
	}
	n.mu.Lock()
	old := n.view
	n.mu.Unlock()
	next := old.With(p)
	next.Compile()
	if project.FilesRoot(p) != old.Root {
		n.logger.Warn("the folder of the built-in files server changes at the next start", "now", old.Root, "then", project.FilesRoot(p))
	}
	if project.BrokenFiles(p, next.Problems) && !project.BrokenFiles(old.Project, old.Problems) {
		n.keepProblems(next)
		return fmt.Errorf("the last good policy stays in force: %s", project.FirstProblem(next.Problems))
	}
	if p.SecretOptions() != old.Project.SecretOptions() {
		n.pool.SetSecrets(secret.New(p.SecretOptions()))
	}
	if err := n.pool.Reconfigure(p.Servers); err != nil {
		return err
	}
	next.Compile()
	n.swap(next)
	return nil
}

// recompile takes a changed catalog into the policy that is in force.
func (n *Node) recompile() {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	n.mu.Lock()
	old := n.view
	n.mu.Unlock()
	next := old.With(old.Project)
	next.Compile()
	n.swap(next)
}

// readable reports whether a search may look into a file: as far as the caller could read it by name, and where it may not read at
// all, as far as no rule keeps the search itself from it.
func (n *Node) readable(scope policy.Scope, path string) bool {
	v := n.View()
	args := policy.Args{"path": path}
	for _, tool := range []string{"read_file", "search_files"} {
		it := policy.Item{Server: "files", Name: tool}
		facts, err := gate.Facts(it, v.Annotations(it), args, v.Root, v.Project.Home)
		if err != nil {
			return false
		}
		d := v.Policy.Decide(policy.Call{Scope: scope, Item: it, Args: args, Facts: facts, Time: time.Now()})
		if !d.Unknown {
			return d.Effect == policy.Allow
		}
	}
	return false
}

func (n *Node) swap(next *project.View) {
	n.mu.Lock()
	n.view = next
	n.mu.Unlock()
	n.keepProblems(next)
	n.gate.Swap(next.World())
	n.renewChats()
}

// View is the view in force.
func (n *Node) View() *project.View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.view
}

// keepProblems remembers what is wrong with the files on disk, for status and doctor.
func (n *Node) keepProblems(v *project.View) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bad = nil
	if project.BrokenFiles(v.Project, v.Problems) {
		n.bad = v.Problems
	}
}
