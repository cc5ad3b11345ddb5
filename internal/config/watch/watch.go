// Package watch says when one of a set of configuration files changes.
package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// Most bounds the watched folders below a tree, so that a mistake, such as a link to a large tree, cannot use up the system's watches.
const Most = 2000

// Set is the files to watch, by absolute path. They need not exist.
type Set struct {
	Files []string
	Trees []string // folders with everything below them
}

// Marks are files by absolute path, each with its [Mark] before it was read.
type Marks map[string]string

// Note notes a file that is about to be read, or that does not exist.
func (m *Marks) Note(path string) {
	if *m == nil {
		*m = Marks{}
	}
	if _, ok := (*m)[path]; !ok {
		(*m)[path] = Mark(path)
	}
}

// Until calls changed, debounced, after a file of the set or one of more has changed, until ctx is done. It calls changed on its own
// goroutine and collects further changes meanwhile. It watches folders, not files, because editors rename files. If the [Set.Fingerprint]
// is not before any more, or a file of more has another [Mark] by now, something changed already. A nil logger discards.
func Until(ctx context.Context, set Set, more Marks, before string, logger *slog.Logger, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer func() { _ = w.Close() }()
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	v := &watch{set: set, more: more, before: before, w: w, logger: logger}
	v.watchFolders()
	if len(w.WatchList()) == 0 {
		return errors.New("watch files: none of their folders can be watched")
	}
	return v.run(ctx, changed)
}

// watch is one run of Until.
type watch struct {
	set    Set
	more   Marks  // further files
	before string // fingerprint of the set when it was read
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
	if v.changedEarly() {
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

// changedEarly reports whether a file changed between reading and watching.
func (v *watch) changedEarly() bool {
	for path, before := range v.more {
		if Mark(path) != before {
			return true
		}
	}
	return v.set.Fingerprint() != v.before
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
	for _, path := range slices.Concat(v.set.Trees, v.set.Files, slices.Collect(maps.Keys(v.more))) {
		file(path)
	}
	for _, tree := range v.set.Trees {
		trees = append(trees, folders(source.Resolve(tree), dirs)...)
	}
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
		if n++; n > Most {
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

// Mark is the size, time and mode of a file; empty: there is none.
func Mark(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d %v", st.Size(), st.ModTime().UnixNano(), st.Mode())
}

// Fingerprint is a hash of the sizes, times and modes of the files.
func (s Set) Fingerprint() string {
	h := sha256.New()
	note := func(path string) {
		if mark := Mark(path); mark != "" {
			fmt.Fprintf(h, "%q %s\n", path, mark)
		}
	}
	for _, path := range s.Files {
		note(path)
	}
	for _, tree := range s.Trees {
		n := 0
		_ = filepath.WalkDir(source.Resolve(tree), func(path string, _ fs.DirEntry, err error) error {
			if n++; err != nil || n > Most {
				return fs.SkipAll //nolint:nilerr // loading reports what cannot be read
			}
			note(path)
			return nil
		})
	}
	return string(h.Sum(nil))
}
