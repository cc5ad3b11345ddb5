// Package gitconfig takes over what a command changed in its private copy of a git configuration. Most keys of that file name programs
// that git runs, so only what says where branches and remotes are is taken.
package gitconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// File is a file or folder that a configuration names.
type File struct {
	Path  string // as it stands there
	Hooks bool   // a folder with hooks; otherwise a file with more configuration
}

// errUnreadable says that git does not take a text for a configuration.
var errUnreadable = errors.New("git cannot read it")

// Merge returns the configuration now, with what a command changed in its copy: keys of branches, and addresses of remotes. was is the
// copy before the command and is the copy after it; nil if nothing can be read from it any more. The other changed keys are dropped. git is
// the program, and dir a folder for temporary files.
func Merge(ctx context.Context, git, dir string, was, is, now []byte) (out []byte, dropped []string, err error) {
	if bytes.Equal(was, is) && is != nil {
		return now, nil, nil
	}
	if is == nil {
		return now, []string{wholeFile}, nil
	}
	g := program{git, dir}
	before, err := g.list(ctx, was)
	if err != nil {
		return now, nil, err
	}
	after, err := g.list(ctx, is)
	if errors.Is(err, errUnreadable) {
		return now, []string{wholeFile}, nil
	}
	if err != nil {
		return now, nil, err
	}
	var take []string
	for _, key := range changed(before, after) {
		if taken(key, after[key]) {
			take = append(take, key)
		} else {
			dropped = append(dropped, key)
		}
	}
	out, err = g.set(ctx, now, take, after)
	return out, dropped, err
}

// wholeFile stands for the key where no key can be named.
const wholeFile = "(the whole file)"

// Clean returns what may stay of a configuration that a command made: what describes the repository, branches and remotes. If something is
// dropped, the result is a new file. inside reports whether a relative path leads to a place in the project.
func Clean(ctx context.Context, git, dir string, data []byte, inside func(rel string) bool) (out []byte, dropped []string, err error) {
	g := program{git, dir}
	all, err := g.list(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	var take []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		ok := taken(key, all[key]) || slices.Contains(describing, key) ||
			key == "core.worktree" && !slices.ContainsFunc(all[key], func(v string) bool { return !inside(v) }) ||
			strings.HasPrefix(key, "submodule.") && (strings.HasSuffix(key, ".active") ||
				strings.HasSuffix(key, ".url") && !slices.ContainsFunc(all[key], runs))
		if ok {
			take = append(take, key)
		} else {
			dropped = append(dropped, key)
		}
	}
	out, err = g.set(ctx, nil, take, all)
	return out, dropped, err
}

// describing are the keys that say what a repository is like, and who works in it (git-config(1)).
var describing = []string{"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase",
	"core.precomposeunicode", "core.symlinks", "core.autocrlf", "extensions.objectformat", "extensions.refstorage", "submodule.active",
	"user.name", "user.email"}

// NamesFiles reports whether a configuration may name files: then [Files] reads it.
func NamesFiles(data []byte) bool {
	low := bytes.ToLower(data)
	return bytes.Contains(low, []byte("hookspath")) || bytes.Contains(low, []byte("include"))
}

// Files lists the files and folders from which git would take more configuration, and hooks.
func Files(ctx context.Context, git, dir string, data []byte) ([]File, error) {
	all, err := program{git, dir}.list(ctx, data)
	if err != nil {
		return nil, err
	}
	var out []File
	for key, values := range all {
		hooks := key == "core.hookspath"
		if !hooks && key != "include.path" && (!strings.HasPrefix(key, "includeif.") || !strings.HasSuffix(key, ".path")) {
			continue
		}
		for _, v := range values {
			out = append(out, File{v, hooks})
		}
	}
	return out, nil
}

// changed lists the keys whose values differ, sorted.
func changed(was, is map[string][]string) []string {
	var out []string
	for key := range is {
		if !slices.Equal(was[key], is[key]) {
			out = append(out, key)
		}
	}
	for key := range was {
		if _, ok := is[key]; !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// taken reports whether a key with these values may be taken over: it only says where something is.
func taken(key string, values []string) bool {
	section, name := key[:strings.IndexByte(key+".", '.')], key[strings.LastIndexByte(key, '.')+1:]
	if strings.Count(key, ".") < 2 { // section.name, without the branch or remote
		return false
	}
	switch section {
	case "branch":
		if name == "remote" || name == "pushremote" { // the name of a remote, or an address
			return !slices.ContainsFunc(values, runs)
		}
		return slices.Contains([]string{"merge", "rebase", "description"}, name)
	case "remote":
		switch name {
		case "fetch":
			return true
		case "url":
			return !slices.ContainsFunc(values, runs)
		}
	}
	return false
}

// runs reports whether git starts a program that an address names: a helper ("ext::sh -c …", "name://" with a helper of that name is
// another program of git), or an option in the place of a host.
func runs(url string) bool {
	if strings.Contains(url, "::") || strings.HasPrefix(url, "-") {
		return true
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return strings.Contains(url, ":-") // host:-path of scp
	}
	return !slices.Contains([]string{"https", "http", "ssh", "git", "file"}, scheme) || strings.HasPrefix(rest, "-")
}

// program is git, with a folder for its temporary files.
type program struct{ git, dir string }

// list reads a configuration, without the files that it includes.
func (p program) list(ctx context.Context, data []byte) (map[string][]string, error) {
	all := map[string][]string{}
	_, err := p.on(ctx, data, func(run runner) error {
		out, err := run("--no-includes", "--null", "--list")
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return errUnreadable
		}
		for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if key, value, _ := strings.Cut(entry, "\n"); key != "" {
				all[key] = append(all[key], value)
			}
		}
		return err
	})
	return all, err
}

// set gives keys of a configuration their values, and no others.
func (p program) set(ctx context.Context, data []byte, keys []string, values map[string][]string) ([]byte, error) {
	return p.on(ctx, data, func(run runner) error {
		for _, key := range keys {
			_, _ = run("--unset-all", "--", key) // a key that is not there need not be removed
			for _, value := range values[key] {
				if _, err := run("--add", "--", key, value); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// runner runs `git config` on one file.
type runner func(args ...string) ([]byte, error)

// on does something with a copy of a configuration, where no other configuration has effect, and returns the copy afterwards.
func (p program) on(ctx context.Context, data []byte, do func(runner) error) ([]byte, error) {
	f, err := os.CreateTemp(p.dir, "config-")
	if err != nil {
		return nil, fmt.Errorf("make a copy for git: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("make a copy for git: %w", err)
	}
	err = do(func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, p.git, append([]string{"config", "--file", f.Name()}, args...)...) //nolint:gosec // see the caller
		cmd.Dir = "/"
		cmd.Env = []string{"PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent"}
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("git config: %w", err)
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(f.Name())
}
