package ground

import (
	"context"
	"slices"
	"strings"

	"mycelium/internal/credential/held"
	"mycelium/internal/text"
	"mycelium/internal/worktree/git"
)

// Works reports whether the git of this machine is new enough. The error says what is wrong, and how to mend it.
func Works(ctx context.Context, dir string) error { return checkVersion(ctx, git.Git{Dir: dir}) }

// Lacks says what of a commit the workers of a session do not have as a person has it, one sentence each: files with secrets, submodules, and
// files that go through a filter of git, such as those of Git LFS.
func (r *Repo) Lacks(ctx context.Context, at Commit) (out []string, err error) {
	g := r.plumbing()
	entries, err := g.List(ctx, "ls-tree", "-r", "-z", string(at))
	if err != nil {
		return nil, err
	}
	var files []held.Blob
	var modules, hidden, filtered []string
	for _, e := range entries { // 100644 blob OBJECT\tPATH
		about, path, _ := strings.Cut(e, "\t")
		f := strings.Fields(about)
		if len(f) == 3 && f[1] == "commit" {
			modules = append(modules, path)
		} else if len(f) == 3 {
			files = append(files, held.Blob{Object: f[2], Path: path})
		}
	}
	secret, err := secrets(ctx, g, files)
	if err != nil {
		return nil, err
	}
	for _, b := range files {
		if secret[b] {
			hidden = append(hidden, b.Path)
		}
	}
	lines, err := g.Run(ctx, "grep", "-h", "-I", "-E", `^[^#].*[[:space:]]filter=`, string(at), "--", ":(glob)**/.gitattributes")
	if err != nil && git.Code(err) != 1 { // none has one
		return nil, err
	}
	for line := range strings.Lines(string(lines)) {
		if f := strings.Fields(line); len(f) > 1 && !slices.Contains(filtered, f[0]) {
			filtered = append(filtered, f[0])
		}
	}
	for _, lack := range []struct {
		paths []string
		is    string
	}{
		{hidden, "has secrets: workers do not have it, and their commits keep it"},
		{modules, "is a submodule: workers have an empty folder, and their commits keep it"},
		{filtered, "goes through a filter of git: workers have what git keeps, such as the pointer of Git LFS"},
	} {
		if n := len(lack.paths); n > 0 {
			first := text.OneLine(lack.paths[0])
			if n > 1 {
				first += " (and " + text.Count(n-1, "more path") + ")"
			}
			out = append(out, first+" "+lack.is)
		}
	}
	return out, nil
}
