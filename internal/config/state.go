package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/audit"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/state"
)

// AuditLog returns the options of the project's audit log. Its key and checkpoint are in another folder than its segments. It creates the
// folder of the lock.
func (p *Project) AuditLog() (audit.Options, error) {
	if err := os.MkdirAll(p.State.Folder(), 0o700); err != nil {
		return audit.Options{}, fmt.Errorf("make state folder: %w", err)
	}
	return audit.Options{Dir: p.inState(cmp.Or(p.File.Audit.Dir, DefaultAuditDir)), Lock: p.State.AuditLock(), KeyDir: p.State.Keys(),
		Redact: p.File.Audit.Redact, Sync: p.File.Audit.Sync}, nil
}

// inState returns a path of the configuration that is relative to the state of the project.
func (p *Project) inState(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.State.Folder(), path)
}

// checkState refuses a log and a database in the project: whatever changes the project's files would reach them. A log beside its key
// could be written anew by whoever can write there.
func (p *Project) checkState() {
	database, _ := strings.CutPrefix(p.File.Store, "sqlite://")
	for key, path := range map[string]string{"audit.dir": p.inState(p.File.Audit.Dir), "store": database} {
		where := ""
		switch resolved := source.Resolve(path); {
		case source.Within(p.State.Keys(), resolved):
			where = "in the folder of the log's key"
		case source.Within(p.State.Folder(), path): // also where the project is the home folder, and the state below it
			continue
		case source.Within(p.Dir, resolved), source.Within(p.Dir, path):
			where = "in the project, where an agent can change it"
		default:
			continue
		}
		file := p.Sources[key]
		p.Problems = append(p.Problems, source.Fault(file, source.Line(p.texts[file], key), key+" names a place "+where,
			"leave it out: it lies in the state folder, which myc status names"))
		p.breakWith(policy.Broken{All: fmt.Sprintf("%s: %s names a place %s", file, key, where)})
	}
}

// StoreURL returns the URL of the project's database.
func (p *Project) StoreURL() string { return cmp.Or(p.File.Store, "sqlite://"+p.State.Database()) }

// state returns where the state of a project folder is.
func (o *Options) state(dir string) (state.Paths, error) {
	if o.State.Root != "" {
		return o.State, nil
	}
	root, err := state.OfPerson(func(key string) string { return source.Variable(o.Environ, key) })
	return root.Of(dir), err
}
