// Package gitconfig takes over what a command changed in its private copy of a git configuration. Most keys of that file name programs
// that git runs, so only what says where branches and remotes are is taken.
package gitconfig

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Merge takes over into a configuration what a command changed in its copy: keys of branches, and addresses of remotes. It returns the
// other changed keys, which are dropped.
func Merge(ctx context.Context, original, before, after string) (dropped []string, err error) {
	a, errA := os.ReadFile(before)
	b, errB := os.ReadFile(after)
	if errA == nil && errB == nil && bytes.Equal(a, b) {
		return nil, nil
	}
	was, err := list(ctx, before)
	if err != nil {
		return nil, err
	}
	is, err := list(ctx, after)
	if err != nil {
		return nil, err
	}
	for _, key := range changed(was, is) {
		if !taken(key, is[key]) {
			dropped = append(dropped, key)
			continue
		}
		if err := set(ctx, original, key, is[key]); err != nil {
			return dropped, err
		}
	}
	return dropped, nil
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
		return slices.Contains([]string{"remote", "merge", "rebase", "pushremote", "description"}, name)
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

// list reads a configuration file, without the files that it includes.
func list(ctx context.Context, file string) (map[string][]string, error) {
	out, err := git(ctx, "config", "--file", file, "--no-includes", "--null", "--list")
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if key, value, _ := strings.Cut(entry, "\n"); key != "" {
			all[key] = append(all[key], value)
		}
	}
	return all, nil
}

// set gives a key these values, and no others.
func set(ctx context.Context, file, key string, values []string) error {
	_, err := git(ctx, "config", "--file", file, "--unset-all", key)
	for i := 0; i < len(values); i++ {
		if _, err = git(ctx, "config", "--file", file, "--add", key, values[i]); err != nil {
			break
		}
	}
	if len(values) == 0 || err == nil {
		return nil //nolint:nilerr // a key that is not there need not be removed
	}
	return err
}

// git runs git where no configuration but the named file has effect.
func git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent"}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}
