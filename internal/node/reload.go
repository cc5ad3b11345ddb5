package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/config/restart"
	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
	"mycelium/internal/node/project"
	"mycelium/internal/secret"
)

// reloader has the view that is in force, and replaces it when files or catalogs change.
type reloader struct {
	loader  *project.Loader
	pool    *backend.Pool
	logger  *slog.Logger
	log     *audit.Log            // nil: changes that wait are not told of
	post    func(approval.Notice) // tells people; nil: nobody is told
	changed func(*project.View)   // is called with every new view, before the change is over
	started *config.Project       // what the process was opened with
	serves  bool                  // see restart.How

	reloading sync.Mutex // held while files are read and compiled
	mu        sync.Mutex // guards what follows
	view      *project.View
	broken    string // why the files on disk are not what is in force; "": they are
}

func newReloader(l *project.Loader, v *project.View, logger *slog.Logger) *reloader {
	return &reloader{loader: l, pool: v.Pool, logger: logger, started: v.Project, view: v, broken: v.Broken()}
}

// View returns the view in force.
func (r *reloader) View() *project.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view
}

// Project returns the files in force.
func (r *reloader) Project() *config.Project { return r.View().Project }

// Broken says why the files on disk are not in force; "" if they are.
func (r *reloader) Broken() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// Reload reads the files again. Good ones take effect at once. If a role, the rules or mycelium.yaml is broken, the last good policy
// stays in force.
func (r *reloader) Reload(context.Context) error {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	p, err := r.loader.Load()
	if err != nil {
		return err
	}
	old := r.View()
	next := old.With(p)
	next.Compile()
	same := p.Trusted == old.Project.Trusted && p.User.Trusted == old.Project.User.Trusted // else consent was taken back or is lost
	if why := next.Broken(); why != "" && old.Broken() == "" && same {
		r.mu.Lock()
		r.broken = why
		r.mu.Unlock()
		return fmt.Errorf("the last good policy stays in force: %s", why)
	}
	if p.SecretOptions() != old.Project.SecretOptions() {
		r.pool.SetSecrets(secret.New(p.SecretOptions()))
	}
	if err := r.pool.Reconfigure(p.Servers); err != nil {
		return err
	}
	next.Compile()
	r.replace(next)
	if waits := next.Waits(r.started); len(waits) > 0 && !slices.Equal(waits, old.Waits(r.started)) {
		r.logger.Warn("keys of mycelium.yaml were accepted and wait for a restart", "keys", strings.Join(waits, " "), "hint",
			restart.How(r.serves))
	}
	return nil
}

// load reads the files as Reload does, and changes nothing.
func (r *reloader) load() (*config.Project, error) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	return r.loader.Load()
}

// Recompile takes a changed catalog into the policy in force.
func (r *reloader) Recompile() {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	old := r.View()
	next := old.With(old.Project)
	next.Compile()
	r.replace(next)
}

// Latest is the view in force, after a changed catalog was taken into it: for lists, which tell what the servers offer now.
func (r *reloader) Latest() *project.View {
	v := r.View()
	select {
	case <-v.Outdated:
		r.Recompile()
		return r.View()
	default:
		return v
	}
}

// replace puts a view in force.
func (r *reloader) replace(next *project.View) {
	next.Enforce()
	r.mu.Lock()
	r.view, r.broken = next, next.Broken()
	r.mu.Unlock()
	if r.changed != nil {
		r.changed(next)
	}
}

// watchCatalog recompiles when a server offers something else, until ctx is done.
func (r *reloader) watchCatalog(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.View().Outdated:
		}
		r.Recompile()
	}
}

// watchFiles reloads when files change, until ctx is done.
func (r *reloader) watchFiles(ctx context.Context) error {
	r.tellWaiting(ctx)
	return config.Watch(ctx, r.Project(), func() {
		if err := r.Reload(ctx); err != nil {
			r.logger.Warn("files changed and are not in force", "err", err)
		}
		r.tellWaiting(ctx)
	})
}

// writeRule adds what an answer allows to the rules of the project, and puts it in force. It returns which rule it wrote, and where.
func (r *reloader) writeRule(ctx context.Context, q approval.Request, a approval.Answer) (string, error) {
	p := r.Project()
	if !p.Trusted {
		return "", errors.New("nobody has accepted the files of this folder, so its rules take no effect: myc trust")
	}
	rule, err := rules.Approved(q, a.As)
	if err != nil {
		return "", err
	}
	file := source.RulesFile
	for _, name := range p.File.Policy.Rules { // those of the project are relative to it
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~") {
			file = name
			break
		}
	}
	comment, reason := rules.Comment(q, a)
	err = p.Write(time.Now(), func(folders []string) error { return rules.Append(folders, file, comment, reason, rule) })
	if err != nil {
		return "", err
	}
	if err := r.Reload(ctx); err != nil { // the rule is written, so this call is approved all the same
		r.logger.Warn("a rule was written and is not in force", "rule", rule.Name, "err", err)
	}
	return fmt.Sprintf("%s in %s", rule.Name, file), nil
}
