package project

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/audit"
	"mycelium/internal/config"
)

func OperatorFile(dir string) (string, error) {
	state, err := config.StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "operator", ProjectKey(dir)+".json"), nil
}

// ProjectKey names a project outside of it: the first 16 bytes of the SHA-256 of its folder.
func ProjectKey(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:16])
}

// AuditOptions locate the log of a project: segments inside it, key and checkpoint outside.
func AuditOptions(p *config.Project) (audit.Options, error) {
	state, err := config.StateDir()
	if err != nil {
		return audit.Options{}, err
	}
	dir := p.File.Audit.Dir
	if dir == "" {
		dir = filepath.Join(".mycelium", "audit")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	lock := filepath.Join(p.Dir, ".mycelium", "audit.lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		return audit.Options{}, fmt.Errorf("make state folder: %w", err)
	}
	return audit.Options{
		Dir: dir, Lock: lock, KeyDir: filepath.Join(state, "audit", ProjectKey(p.Dir)),
		Redact: p.File.Audit.Redact, Sync: p.File.Audit.Sync,
	}, nil
}

// StoreURL is the database of a project.
func StoreURL(p *config.Project) string {
	if p.File.Store != "" {
		return p.File.Store
	}
	return "sqlite://" + filepath.Join(p.Dir, ".mycelium", "mycelium.db")
}
