package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"mycelium/internal/config/source"
)

// Debouncing: changed is called after a time of debounce without events, and at least every maxDelay while events continue. E34 allows
// 500 ms.
const (
	debounce = 200 * time.Millisecond
	maxDelay = time.Second
)

// maxWatched bounds the watched folders below skills/, so that a mistake, such as a link to a large tree, cannot use up the system's
// watches.
const maxWatched = 2000

// Watch calls changed, debounced, after a file of the project or user has changed, until ctx is done. It calls changed on its own goroutine
// and collects further changes meanwhile. It watches folders, not files, because editors rename files.
func Watch(ctx context.Context, p *Project, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer func() { _ = w.Close() }()
	logger := p.options.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	v := &watch{p: p, w: w, logger: logger}
	v.watchFolders()
	if len(w.WatchList()) == 0 {
		return fmt.Errorf("watch files: no folder of %s can be watched", p.Dir)
	}
	return v.run(ctx, changed)
}

// watch is one run of Watch.
type watch struct {
	p      *Project
	w      *fsnotify.Watcher
	logger *slog.Logger
	files  map[string]bool // paths whose events count
	trees  []string        // folders in which every event counts
}

func (v *watch) run(ctx context.Context, changed func()) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	var first time.Time // time of the first collected change; zero: no change
	note := func() {
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		timer.Reset(min(debounce, max(0, maxDelay-now.Sub(first))))
	}
	if v.p.fingerprint() != v.p.loaded { // a file changed between loading and watching
		note()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-v.w.Events:
			if !ok {
				return fmt.Errorf("watch files: the watch ended")
			}
			if v.counts(e) {
				if e.Has(fsnotify.Create) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
					v.watchFolders() // there may be a new folder, or a link may have a new target
				}
				note()
			}
		case err, ok := <-v.w.Errors:
			if !ok {
				return fmt.Errorf("watch files: the watch ended")
			}
			v.logger.Warn("watch files", "err", err) // an overflow: the missed events are unknown
			v.watchFolders()
			note()
		case <-timer.C:
			first = time.Time{}
			changed()
			if v.watchFolders() { // files may have appeared in a new folder before it was watched
				note()
			}
		}
	}
}

// counts reports whether an event is about a configuration file. A change of only mode or time does not count.
func (v *watch) counts(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return v.files[e.Name] // except that a file may have become readable
	}
	if v.files[e.Name] {
		return true
	}
	for _, t := range v.trees {
		if source.Within(t, e.Name) {
			return true
		}
	}
	return false
}

// watchFolders watches the folders that exist now, and reports whether one is new. Watches of removed folders end by themselves.
func (v *watch) watchFolders() bool {
	files, trees := map[string]bool{}, []string(nil)
	dirs := map[string]bool{}
	file := func(path string) {
		files[path] = true
		dirs[filepath.Dir(path)] = true
		if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
			files[target] = true
			dirs[filepath.Dir(target)] = true
		}
	}
	for _, dir := range []string{v.p.Dir, v.p.UserDir} {
		if dir == "" {
			continue
		}
		for _, name := range []string{source.MainFile, source.ConfigFile, source.ClientFile, source.RulesFile} {
			file(filepath.Join(dir, name))
		}
		for _, name := range source.Folders {
			file(filepath.Join(dir, name))
			trees = append(trees, folders(source.Resolve(filepath.Join(dir, name)), dirs)...)
		}
	}
	for _, path := range append([]string{v.p.main}, v.p.watched...) {
		file(path)
	}
	file(storeOf(v.p).Manifest()) // myc trust takes effect in a running daemon
	v.files, v.trees = files, trees
	before := len(v.w.WatchList())
	for dir := range dirs {
		v.add(dir)
	}
	return len(v.w.WatchList()) > before
}

// add watches a folder, or the nearest existing folder above it.
func (v *watch) add(dir string) {
	for path := dir; ; {
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			if err := v.w.Add(path); err != nil {
				v.logger.Warn("watch folder", "folder", path, "err", err)
			}
			return
		}
		up := filepath.Dir(path)
		if up == path {
			return
		}
		v.files[path] = true // its creation counts
		path = up
	}
}

// folders adds a folder and all folders in it to dirs. It returns the folder and the targets of links in it.
func folders(root string, dirs map[string]bool) []string {
	trees, n := []string{root}, 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // loading reports what cannot be read
		}
		if n++; n > maxWatched {
			return fs.SkipAll
		}
		if d.IsDir() {
			if path != root && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			dirs[path] = true
		} else if d.Type()&fs.ModeSymlink != 0 {
			if target, err := filepath.EvalSymlinks(path); err == nil {
				if st, err := os.Stat(target); err == nil && st.IsDir() {
					dirs[target] = true
					trees = append(trees, target)
				} else {
					dirs[filepath.Dir(target)] = true
					trees = append(trees, target)
				}
			}
		}
		return nil
	})
	return trees
}

// fingerprint is a hash of the sizes, times and modes of the files.
func (p *Project) fingerprint() string {
	h := sha256.New()
	note := func(path string) {
		if st, err := os.Stat(path); err == nil {
			fmt.Fprintf(h, "%q %d %d %v\n", path, st.Size(), st.ModTime().UnixNano(), st.Mode())
		}
	}
	note(p.main)
	note(storeOf(p).Manifest())
	for _, dir := range []string{p.UserDir, p.Dir} {
		for _, name := range []string{source.MainFile, source.ConfigFile, source.ClientFile, source.RulesFile} {
			note(filepath.Join(dir, name))
		}
		for _, name := range source.Folders {
			n := 0
			_ = filepath.WalkDir(source.Resolve(filepath.Join(dir, name)), func(path string, _ fs.DirEntry, err error) error {
				if n++; err != nil || n > maxWatched {
					return fs.SkipAll //nolint:nilerr // loading reports what cannot be read
				}
				note(path)
				return nil
			})
		}
	}
	return string(h.Sum(nil))
}
