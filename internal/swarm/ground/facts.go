package ground

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Facts are what git knows about an attempt, whatever its worker says of itself.
type Facts struct {
	Branch      bool     // the branch of the attempt exists, and the tree is on it
	Head        Commit   // what the tree is on
	Base        Commit   // what Touched and Diff compare with
	Commits     int      // since the base, without those of the session's branch
	Uncommitted []string // files that differ from Head, those that git does not know yet among them; ignored ones are not
	Untracked   []string // those of them that Head does not have
	Touched     []File   // what differs from the base, committed or not
	Diff        string   // SHA-256 of that difference as git prints it, hexadecimal; the same change has the same one
	Nested      []string // repositories inside the tree, whose files are in none of these
}

// File is a file that an attempt has changed.
type File struct {
	Path    string `json:"path"` // from the top of the tree, with slashes
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"` // lines; 0 for a binary file
	Binary  bool   `json:"binary,omitzero"`
}

// Facts finds the facts of an attempt that began at a commit. Where the worker has brought in what the session's branch has got
// since, the base is the last commit that both have, so that the work of others does not count as its own. The tree and its index
// stay as they are.
func (t *Tree) Facts(ctx context.Context, began Commit) (Facts, error) {
	l, err := t.look(ctx)
	if err != nil {
		return Facts{}, err
	}
	defer l.close()
	f := Facts{Head: l.head, Base: began, Nested: l.nested}
	if err := t.fill(ctx, l, &f); err != nil {
		return Facts{}, fmt.Errorf("find the facts of %s: %w", t.Attempt, err)
	}
	return f, nil
}

func (t *Tree) fill(ctx context.Context, l *looked, f *Facts) (err error) {
	g := t.repo.plumbing()
	on, _ := l.Line(ctx, "symbolic-ref", "--quiet", "HEAD") // none if no branch is checked out
	f.Branch = t.Branch != "" && on == "refs/heads/"+t.Branch
	if shared, err := g.Line(ctx, "merge-base", string(f.Head), t.repo.branch()); err == nil && shared != string(f.Base) {
		if _, err := g.Run(ctx, "merge-base", "--is-ancestor", string(f.Base), shared); err == nil {
			f.Base = Commit(shared)
		}
	}
	count, err := g.Line(ctx, "rev-list", "--count", string(f.Head), "^"+string(f.Base), "^"+t.repo.branch())
	if err != nil {
		return err
	}
	if f.Commits, err = strconv.Atoi(count); err != nil {
		return err
	}
	if l.tree != l.was {
		if f.Uncommitted, err = l.changed(ctx, "ADMT", string(l.head), l.tree, nil); err != nil {
			return err
		}
		if f.Untracked, err = l.changed(ctx, "A", string(l.head), l.tree, nil); err != nil {
			return err
		}
	}
	f.Touched, f.Diff, err = t.repo.diff(ctx, string(f.Base), l.tree)
	return err
}

// Brought returns what a commit has changed: the files, and the SHA-256 of the difference as in [Facts]. from is its parent.
func (r *Repo) Brought(ctx context.Context, c Commit) (from Commit, files []File, sum string, err error) {
	if from, err = r.resolve(ctx, string(c)+"^"); err == nil {
		files, sum, err = r.diff(ctx, string(from), string(c))
	}
	if err != nil {
		return "", nil, "", fmt.Errorf("find what %.12s has changed: %w", c, err)
	}
	return from, files, sum, nil
}

// Difference returns which files differ between two commits, and how, as text. The text is cut where it is longer than most bytes.
func (r *Repo) Difference(ctx context.Context, from, to Commit, most int) (files []File, patch string, err error) {
	lines, err := r.plumbing().List(ctx, "diff-tree", "-r", "-z", "--numstat", "--no-renames", string(from), string(to))
	if err != nil {
		return nil, "", fmt.Errorf("find what %.12s changes: %w", to, err)
	}
	for _, line := range lines {
		files = append(files, parseNumstat(line))
	}
	patch, err = r.patch(ctx, from, to, most)
	return files, patch, err
}

// Patch returns how some files differ between two commits, as text. It is cut where it is longer than most bytes.
func Patch(ctx context.Context, r *Repo, from, to Commit, paths []string, most int) (string, error) {
	if len(paths) == 0 {
		return "", nil
	}
	return r.patch(ctx, from, to, most, append([]string{"--"}, paths...)...)
}

// patch is Patch of all files, or of those that more names.
func (r *Repo) patch(ctx context.Context, from, to Commit, most int, more ...string) (string, error) {
	args := append([]string{"diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", string(from), string(to)},
		more...)
	out, err := r.plumbing().Run(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("show what %.12s changes: %w", to, err)
	}
	if len(out) > most {
		return strings.ToValidUTF8(string(out[:most]), "") + "\n(it is longer: git diff shows it whole)", nil
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), nil
}

func (r *Repo) diff(ctx context.Context, from, to string) (files []File, digest string, err error) {
	g := r.plumbing()
	lines, err := g.List(ctx, "diff-tree", "-r", "-z", "--numstat", "--no-renames", from, to)
	if err != nil {
		return nil, "", err
	}
	for _, line := range lines {
		files = append(files, parseNumstat(line))
	}
	sum := sha256.New()
	err = g.Pipe(ctx, nil, sum, "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--no-color", "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/", from, to)
	return files, hex.EncodeToString(sum.Sum(nil)), err
}

// parseNumstat reads a record such as "3\t1\tname"; a binary file has "-" for both.
func parseNumstat(line string) File {
	added, rest, _ := strings.Cut(line, "\t")
	deleted, name, _ := strings.Cut(rest, "\t")
	f := File{Path: name, Binary: added == "-"}
	f.Added, _ = strconv.Atoi(added)
	f.Deleted, _ = strconv.Atoi(deleted)
	return f
}

// Missing returns the packages in which no file was touched. A package is the end of a folder's path, such as "auth" or
// "internal/auth"; files in folders below it count.
func Missing(packages []string, touched []File) []string {
	return slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		want := "/" + strings.Trim(path.Clean(p), "/") + "/"
		return slices.ContainsFunc(touched, func(f File) bool { return strings.Contains("/"+path.Dir(f.Path)+"/", want) })
	})
}

// Overlap is another attempt, or feature, that has touched the same files.
type Overlap struct {
	With  string   `json:"with"`
	Files []string `json:"files"` // sorted
}

// Overlaps says who else has touched files that one has touched, by name. A rollback of that one warns of them. only, if not empty,
// are the files or folders that are to be taken back.
func Overlaps(of string, touched map[string][]string, only ...string) []Overlap {
	var found []Overlap
	mine := slices.DeleteFunc(slices.Clone(touched[of]), func(file string) bool {
		return len(only) > 0 && !slices.ContainsFunc(only, func(o string) bool { return under(file, o) })
	})
	for with, files := range touched {
		if with == of {
			continue
		}
		both := slices.DeleteFunc(slices.Clone(files), func(f string) bool {
			// One of both ways is a file that became a folder, or the other way round.
			return !slices.ContainsFunc(mine, func(m string) bool { return under(f, m) || under(m, f) })
		})
		if slices.Sort(both); len(both) > 0 {
			found = append(found, Overlap{with, slices.Compact(both)})
		}
	}
	slices.SortFunc(found, func(a, b Overlap) int { return strings.Compare(a.With, b.With) })
	return found
}

// under reports whether a path is the other one or lies below it.
func under(file, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return file == folder || strings.HasPrefix(file, folder+"/")
}
