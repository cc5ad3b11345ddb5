package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/audit"
	"mycelium/internal/state"
)

// AuditLog returns the options of the project's audit log: its segments are in the project, its key and checkpoint outside. It creates the
// folder of the lock.
func (p *Project) AuditLog() (audit.Options, error) {
	paths, err := state.Of(p.Dir)
	if err != nil {
		return audit.Options{}, err
	}
	dir := cmp.Or(p.File.Audit.Dir, DefaultAuditDir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	if err := os.MkdirAll(paths.Folder(), 0o700); err != nil {
		return audit.Options{}, fmt.Errorf("make state folder: %w", err)
	}
	return audit.Options{Dir: dir, Lock: paths.AuditLock(), KeyDir: paths.AuditKeys(), Redact: p.File.Audit.Redact, Sync: p.File.Audit.Sync},
		nil
}

// StoreURL returns the URL of the project's database.
func (p *Project) StoreURL() (string, error) {
	if p.File.Store != "" {
		return p.File.Store, nil
	}
	paths, err := state.Of(p.Dir)
	return "sqlite://" + paths.Database(), err
}
