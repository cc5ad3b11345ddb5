package ground

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/text"
)

// Keep is the ground of a session, as far as what git keeps of it is concerned.
type Keep struct{ *Repo }

// Stands returns the top of the person's checkout, and the ref at which the work of the session stands: its branch, or the ref that keeps
// it once it has ended.
func (r Keep) Stands(ctx context.Context) (top, ref string, err error) {
	out, err := r.plumbing().Run(ctx, "for-each-ref", "--format=%(refname)", r.branch(), r.keptAt("sessions"))
	if err != nil {
		return "", "", fmt.Errorf("find where session %s stands: %w", r.opts.Session, err)
	}
	refs := strings.Fields(string(out))
	if len(refs) == 0 {
		return "", "", text.Hinted(fmt.Errorf("git keeps nothing of session %s any more", r.opts.Session),
			"its work is on the branch that took it")
	}
	return r.top, refs[0], nil // the branch, if it is there, because refs are listed in their order
}

// keptAt is where refs of a kind are kept of a session.
func (r Keep) keptAt(kind string) string {
	return "refs/mycelium/" + kind + "/" + r.opts.Session + "/"
}

// Kept is a ref under refs/mycelium, which keeps something of a session.
type Kept struct {
	Ref    string `json:"ref"`
	Commit Commit `json:"commit"`
	// Needed: there is something in it that is in no branch and no tag of the person, and that has not been merged either.
	Needed bool `json:"needed"`

	tree    string
	parents []string
}

// Kept lists what is kept of a session. landed are the last commits of attempts that have landed: what they have was merged if the branch
// of the session, as it stands, is in a branch or a tag of the person. A branch that follows one of a server does not count, because a
// fetch may remove it.
//
// A snapshot is not needed if it has the files of a commit that is not needed either: the one that it was made on, or the one before that.
func (r Keep) Kept(ctx context.Context, landed []Commit) ([]Kept, error) {
	all, err := r.listKept(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	own, err := r.ofPerson(ctx)
	if err != nil {
		return nil, err
	}
	var stands, commits []Commit
	for _, k := range all {
		commits = append(commits, k.Commit)
		if strings.HasPrefix(k.Ref, r.keptAt("sessions")) {
			stands = append(stands, k.Commit)
		}
	}
	alone, err := r.alone(ctx, stands, own)
	if err != nil {
		return nil, err
	}
	if len(stands) > 0 && len(alone) == 0 {
		for _, c := range landed {
			if slices.Contains(commits, c) {
				own = append(own, c)
			}
		}
	}
	if alone, err = r.alone(ctx, commits, own); err != nil {
		return nil, err
	}
	for i := range all {
		k := &all[i]
		snapshot := strings.HasPrefix(k.Ref, r.keptAt("snapshots")) || strings.HasPrefix(k.Ref, r.keptAt("undo"))
		if k.Needed = alone[k.Commit]; !k.Needed || !snapshot {
			continue
		}
		if k.Needed, err = r.adds(ctx, k, alone); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r Keep) listKept(ctx context.Context) (out []Kept, err error) {
	args := []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(tree)%00%(parent)"}
	for _, kind := range []string{"attempts", "moved", "sessions", "snapshots", "undo"} {
		args = append(args, r.keptAt(kind))
	}
	lines, err := r.plumbing().Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list what is kept of session %s: %w", r.opts.Session, err)
	}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) != 4 {
			return nil, fmt.Errorf("git for-each-ref printed %q", text.Truncate(line, 200))
		}
		out = append(out, Kept{Ref: f[0], Commit: Commit(f[1]), tree: f[2], parents: strings.Fields(f[3])})
	}
	return out, nil
}

// ofPerson are the commits at the person's branches and tags. The branches of sessions are ours.
func (r Keep) ofPerson(ctx context.Context) (out []Commit, err error) {
	lines, err := r.plumbing().Run(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", "refs/heads/", "refs/tags/")
	if err != nil {
		return nil, fmt.Errorf("list the branches: %w", err)
	}
	for line := range strings.Lines(string(lines)) {
		f := strings.Fields(line)
		if len(f) > 1 && !strings.HasPrefix(f[0], "refs/heads/swarm/") {
			out = append(out, Commit(f[len(f)-1])) // of a tag, what it is of
		}
	}
	return out, nil
}

// alone are the commits behind some that are not behind others.
func (r Keep) alone(ctx context.Context, of, but []Commit) (map[Commit]bool, error) {
	out := map[Commit]bool{}
	if len(of) == 0 {
		return out, nil
	}
	var said bytes.Buffer
	if err := r.plumbing().Pipe(ctx, revisions(of, but), &said, "rev-list", "--stdin"); err != nil {
		return nil, fmt.Errorf("find what only session %s keeps: %w", r.opts.Session, err)
	}
	for c := range strings.FieldsSeq(said.String()) {
		out[Commit(c)] = true
	}
	return out, nil
}

// revisions is the input of git rev-list --stdin.
func revisions(of, but []Commit) *strings.Reader {
	var in strings.Builder
	for _, c := range of {
		in.WriteString(string(c) + "\n")
	}
	for _, c := range but {
		in.WriteString("^" + string(c) + "\n")
	}
	return strings.NewReader(in.String())
}

// adds reports whether a snapshot has other files than what it was made on and the commit before that.
func (r Keep) adds(ctx context.Context, k *Kept, alone map[Commit]bool) (bool, error) {
	var in strings.Builder
	for _, p := range k.parents {
		if alone[Commit(p)] {
			return true, nil
		}
		in.WriteString(p + "^{tree}\n" + p + "^^{tree}\n")
	}
	var said bytes.Buffer
	if err := r.plumbing().Pipe(ctx, strings.NewReader(in.String()), &said, "cat-file", "--batch-check=%(objectname)"); err != nil {
		return true, fmt.Errorf("compare %s with what it was made on: %w", k.Ref, err)
	}
	return !slices.Contains(strings.Fields(said.String()), k.tree), nil
}

// Frees is how many bytes git stores of what is in some refs and in nothing that stays: no branch, no tag, and none of the others.
func (r Keep) Frees(ctx context.Context, gone, stay []Kept) (int64, error) {
	if len(gone) == 0 {
		return 0, nil
	}
	but, err := r.ofPerson(ctx)
	if err != nil {
		return 0, err
	}
	var of []Commit
	for _, k := range gone {
		of = append(of, k.Commit)
	}
	for _, k := range stay {
		but = append(but, k.Commit)
	}
	var said bytes.Buffer
	if err := r.plumbing().Pipe(ctx, revisions(of, but), &said, "rev-list", "--objects", "--disk-usage", "--stdin"); err != nil {
		return 0, fmt.Errorf("measure what is kept of session %s: %w", r.opts.Session, err)
	}
	return strconv.ParseInt(strings.TrimSpace(said.String()), 10, 64)
}

// Forget removes refs that keep something of a session, all or none: none if one of them has moved since it was looked at.
func (r Keep) Forget(ctx context.Context, gone []Kept) error {
	var changes []change
	for _, k := range gone {
		changes = append(changes, change{k.Ref, Commit(r.zero), k.Commit})
	}
	if len(changes) == 0 {
		return nil
	}
	return r.update(ctx, changes...)
}
