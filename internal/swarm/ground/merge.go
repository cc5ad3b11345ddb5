package ground

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/worktree/git"
)

// Bounds of what a conflict says.
const (
	mostConflictText  = 16 << 10 // bytes of one side of one file
	mostConflictFiles = 50       // files with their text; the names of all are said
)

// Candidate is work that waits to become a part of the session's branch.
type Candidate struct {
	ID       string   // of the feature
	Commit   Commit   // the last commit of the attempt
	Message  string   // of the commit that lands
	Trailers []string // its last lines, such as "Feature: login"
	Accepted bool     // a person has seen this very commit, and accepts that it changes governing files
}

// Merged is what the merge of a candidate would be.
type Merged struct {
	// Commit is the one commit that lands. It is empty if there is a conflict, and the base itself if the candidate brings nothing new.
	Commit    Commit
	Conflict  *Conflict // why there is none
	Governing []string  // files that it changes and that govern, sorted
}

// Conflict is a merge that git cannot make.
type Conflict struct {
	Names []string // every file in conflict, sorted
	Files []Sides  // those with their text, at most 50
	Says  string   // what git says about them, bounded
}

// Sides is a file in conflict. A side without the file is empty, and each is at most 16 KiB.
type Sides struct {
	Path               string
	Before, Ours, Text string // in the last common commit, on the session's branch, in the candidate
}

// Merge brings a candidate onto a base: one commit with the base as its only parent. No working tree has a part in it. governing
// says which files govern; paths begin at the top of the repository. On 5,000 files it takes 0.05 s of the processor. The author is
// that of the candidate's last commit.
func (r *Repo) Merge(ctx context.Context, base Commit, c Candidate, governing func(path string) bool) (Merged, error) {
	m, err := r.merge(ctx, base, c, governing)
	if err != nil {
		return Merged{}, fmt.Errorf("merge %s: %w", c.ID, err)
	}
	return m, nil
}

func (r *Repo) merge(ctx context.Context, base Commit, c Candidate, governing func(path string) bool) (m Merged, err error) {
	for _, known := range []*Commit{&c.Commit, &base} {
		if isName(string(*known), len(r.zero)) {
			continue
		}
		if *known, err = r.resolve(ctx, string(*known)); err != nil {
			return m, err
		}
	}
	scratch, err := os.MkdirTemp(r.opts.State, scratchPrefix)
	if err != nil {
		return m, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	g := r.plumbing("GIT_WORK_TREE="+scratch, "GIT_INDEX_FILE="+scratch+".index")
	defer func() { _ = os.Remove(scratch + ".index") }()
	g.Dir = scratch
	if err := attributes(ctx, g, base); err != nil {
		return m, err
	}
	out, err := g.Run(ctx, "merge-tree", "--write-tree", "-z", "--messages", "--allow-unrelated-histories", string(base), string(c.Commit))
	if git.Code(err) == 1 {
		for _, known := range []Commit{c.Commit, base} { // merge-tree ends so as well if it does not know one
			if _, err := r.resolve(ctx, string(known)); err != nil {
				return m, err
			}
		}
		m.Conflict, err = r.conflict(ctx, out)
		return m, err
	}
	if err != nil {
		return m, err
	}
	tree, _, _ := strings.Cut(string(out), "\x00")
	changed, err := g.List(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", string(base), tree)
	if err != nil {
		return m, err
	}
	if len(changed) == 0 {
		return Merged{Commit: base}, nil
	}
	for _, path := range changed {
		if governing != nil && governing(path) {
			m.Governing = append(m.Governing, path)
		}
	}
	m.Commit, err = r.commitTree(ctx, tree, base, c)
	return m, err
}

// isName reports whether a text is the full name of an object, of so many digits.
func isName(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// attributes puts the .gitattributes of a commit into the empty working tree, where merge-tree looks for how each file is merged.
func attributes(ctx context.Context, g git.Git, base Commit) error {
	_, err := g.Run(ctx, "restore", "--quiet", "--worktree", "--source="+string(base), "--", ":(glob)**/.gitattributes")
	if git.Code(err) == 1 {
		return nil // there is none
	}
	return err
}

func (r *Repo) commitTree(ctx context.Context, tree string, base Commit, c Candidate) (Commit, error) {
	who, err := r.plumbing().Line(ctx, "show", "--no-patch", "--format=%an%x00%ae%x00%ad", "--date=raw", string(c.Commit))
	if err != nil {
		return "", err
	}
	author := strings.SplitN(who, "\x00", 3)
	if len(author) < 3 {
		return "", errors.New("git does not say who wrote it")
	}
	g := r.plumbing("GIT_AUTHOR_NAME="+author[0], "GIT_AUTHOR_EMAIL="+author[1], "GIT_AUTHOR_DATE="+author[2])
	message := strings.TrimSpace(c.Message) + "\n"
	if len(c.Trailers) > 0 {
		message += "\n" + strings.Join(c.Trailers, "\n") + "\n"
	}
	var out bytes.Buffer
	err = g.Pipe(ctx, strings.NewReader(message), &out, "commit-tree", "-p", string(base), "-F", "-", tree)
	return Commit(strings.TrimSpace(out.String())), err
}

// conflict reads what merge-tree -z prints: the tree, a record "mode object stage TAB path" for each side, an empty record, messages.
func (r *Repo) conflict(ctx context.Context, out []byte) (*Conflict, error) {
	c := &Conflict{}
	_, rest, _ := strings.Cut(string(out), "\x00")
	records, said, _ := strings.Cut(rest, "\x00\x00")
	for record := range strings.SplitSeq(records, "\x00") {
		info, path, ok := strings.Cut(record, "\t")
		part := strings.Fields(info)
		if !ok || len(part) != 3 {
			continue
		}
		at := slices.IndexFunc(c.Files, func(s Sides) bool { return s.Path == path })
		if at < 0 {
			c.Names = append(c.Names, path)
			if len(c.Files) == mostConflictFiles {
				continue
			}
			c.Files, at = append(c.Files, Sides{Path: path}), len(c.Files)
		}
		text, err := r.blob(ctx, part[0], part[1])
		if err != nil {
			return nil, err
		}
		switch part[2] {
		case "1":
			c.Files[at].Before = text
		case "2":
			c.Files[at].Ours = text
		default:
			c.Files[at].Text = text
		}
	}
	slices.Sort(c.Names)
	c.Names = slices.Compact(c.Names)
	c.Says = cut(messages(said))
	return c, nil
}

// messages takes the texts out of what merge-tree -z says: the number of paths, the paths, a kind and a text, again and again.
func messages(said string) string {
	var out strings.Builder
	parts := strings.Split(said, "\x00")
	for len(parts) > 0 {
		n := 0
		if _, err := fmt.Sscanf(parts[0], "%d", &n); err != nil || n < 0 || n+2 >= len(parts) {
			break
		}
		out.WriteString(parts[n+2])
		parts = parts[n+3:]
	}
	return out.String()
}

// blob returns the beginning of a file, or the commit that a submodule is at.
func (r *Repo) blob(ctx context.Context, mode, object string) (string, error) {
	if mode == "160000" {
		return "submodule at " + object + "\n", nil
	}
	head := &beginning{most: mostConflictText}
	err := r.plumbing().Pipe(ctx, nil, head, "cat-file", "blob", object)
	if head.full {
		return cut(string(head.b)) + "\n[cut]\n", nil
	}
	return string(head.b), err
}

func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), mostConflictText)], "\uFFFD") }

// beginning keeps the first bytes that are written to it, and then ends the writer.
type beginning struct {
	b    []byte
	most int
	full bool
}

func (w *beginning) Write(b []byte) (int, error) {
	keep := min(len(b), w.most-len(w.b))
	w.b = append(w.b, b[:keep]...)
	if keep < len(b) {
		w.full = true
		return keep, io.ErrShortWrite
	}
	return len(b), nil
}

// Checkout brings the queue's working tree, see [Repo.Queue], to a commit, exactly: changed files return and files that git does not
// know go, but what it ignores stays, so that caches are warm.
func (t *Tree) Checkout(ctx context.Context, c Commit) error {
	if t.Branch != "" {
		return fmt.Errorf("the working tree of %s is a worker's and not the queue's: nothing is checked out there", t.Attempt)
	}
	held, unlock, err := t.repo.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	g := t.in()
	g.Hold = held
	if err = os.Remove(filepath.Join(t.own, "index.lock")); errors.Is(err, os.ErrNotExist) { // of a git that was killed
		err = nil
	}
	if err == nil {
		_, err = g.Run(ctx, "checkout", "--quiet", "--force", "--detach", string(c))
	}
	if err == nil {
		_, err = g.Run(ctx, "clean", "--quiet", "-ffd", "--", ".")
	}
	if err == nil {
		err = hideSecrets(ctx, g)
	}
	if err == nil {
		err = t.seed(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("check out %.12s in the queue's working tree: %w", c, err)
	}
	return nil
}
