package main

import (
	"context"
	"fmt"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/secret"
)

// followCatalog compiles again when a server offers something else.
func (n *node) followCatalog(ctx context.Context) error {
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
func (n *node) followFiles(ctx context.Context) error {
	n.mu.Lock()
	p := n.view.project
	n.mu.Unlock()
	return config.Watch(ctx, p, func() {
		if err := n.reload(ctx); err != nil {
			n.logger.Warn("files changed and are not in force", "err", err)
		}
	})
}

// reload reads the files again. Good ones take effect at once; a broken role, rules or mycelium file keeps the last good policy.
func (n *node) reload(context.Context) error {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	p, err := n.app.load()
	if err != nil {
		return err
	}
	n.mu.Lock()
	old := n.view
	n.mu.Unlock()
	next := old.with(p)
	next.compile()
	if filesRoot(p) != old.root {
		n.logger.Warn("the folder of the built-in files server changes at the next start", "now", old.root, "then", filesRoot(p))
	}
	if brokenFiles(p, next.problems) && !brokenFiles(old.project, old.problems) {
		n.keepProblems(next)
		return fmt.Errorf("the last good policy stays in force: %s", firstProblem(next.problems))
	}
	if p.SecretOptions() != old.project.SecretOptions() {
		n.pool.SetSecrets(secret.New(p.SecretOptions()))
	}
	if err := n.pool.Reconfigure(p.Servers); err != nil {
		return err
	}
	next.compile()
	n.swap(next)
	return nil
}

// recompile takes a changed catalog into the policy that is in force.
func (n *node) recompile() {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	n.mu.Lock()
	old := n.view
	n.mu.Unlock()
	next := old.with(old.project)
	next.compile()
	n.swap(next)
}

// readable reports whether a search may look into a file: as far as the caller could read it by name, and where it may not read at
// all, as far as no rule keeps the search itself from it.
func (n *node) readable(scope policy.Scope, path string) bool {
	v := n.current()
	args := policy.Args{"path": path}
	for _, tool := range []string{"read_file", "search_files"} {
		it := policy.Item{Server: "files", Name: tool}
		facts, err := gate.Facts(it, v.annotations(it), args, v.root, v.project.Home)
		if err != nil {
			return false
		}
		d := v.policy.Decide(policy.Call{Scope: scope, Item: it, Args: args, Facts: facts, Time: time.Now()})
		if !d.Unknown {
			return d.Effect == policy.Allow
		}
	}
	return false
}

func (n *node) swap(next *view) {
	n.mu.Lock()
	n.view = next
	n.mu.Unlock()
	n.keepProblems(next)
	n.gate.Swap(next.world())
	n.renewChats()
}

// current is the view in force.
func (n *node) current() *view {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.view
}

// keepProblems remembers what is wrong with the files on disk, for status and doctor.
func (n *node) keepProblems(v *view) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bad = nil
	if brokenFiles(v.project, v.problems) {
		n.bad = v.problems
	}
}

// brokenFiles reports whether a file that could have restricted calls did not load. A broken skill is none: it removes itself.
func brokenFiles(p *config.Project, _ []policy.Problem) bool {
	return p.Broken.All != "" || len(p.Broken.Roles) > 0
}

func firstProblem(ps []policy.Problem) string {
	for _, p := range ps {
		if !p.Warning {
			return problemText(p)
		}
	}
	return "a file does not load"
}
