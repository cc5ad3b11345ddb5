package ground

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestKept: what a session keeps is needed until its branch is in one of the person's; then what did not land is still needed, and
// snapshots that have something of their own are. Nothing that is needed loses anything when the rest goes.
func TestKept(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx, keep := t.Context(), Keep{p.Repo}
	stands := func() string {
		top, ref, err := keep.Stands(ctx)
		if err != nil || top != p.top {
			t.Errorf("it stands in %s, %v", top, err)
		}
		return ref
	}
	snap := func(tree *Tree, name string) { must[Commit](t)(tree.Snapshot(ctx, name)) }
	remove := func(tree *Tree) {
		if err := tree.Remove(ctx); err != nil {
			t.Fatal(err)
		}
	}
	won, lost, idle := add(t, p, "won-1"), add(t, p, "lost-1"), add(t, p, "idle-1")
	for _, tree := range []*Tree{won, lost, idle} {
		if err := tree.SnapshotNew(ctx, "start", p.base); err != nil {
			t.Fatal(err)
		}
	}
	first := commit(t, won, map[string]string{"won": "1\n"})
	mine := commit(t, won, map[string]string{"won": "2\n"})
	snap(won, "clean")
	write(t, "scratch\n", won.Dir, "scratch")
	snap(won, "dirty")
	lostTip := commit(t, lost, map[string]string{"lost": "lost\n"})
	write(t, "half\n", idle.Dir, "half")
	snap(idle, "end")
	landed := must[Merged](t)(p.Merge(ctx, p.base, Candidate{ID: "won", Commit: mine, Message: "feat: won"}, nil)).Commit
	if err := p.Land(ctx, p.base, landed); err != nil {
		t.Fatal(err)
	}
	must[Commit](t)(p.TakeBack(ctx, landed))
	for _, tree := range []*Tree{won, lost, idle} {
		remove(tree)
	}
	if got := stands(); got != "refs/heads/swarm/s-1" {
		t.Errorf("it stands at %s", got)
	}
	if err := p.End(ctx); err != nil {
		t.Fatal(err)
	}
	kept := stands()
	if !strings.HasPrefix(kept, "refs/mycelium/sessions/s-1/") {
		t.Errorf("it stands at %s", kept)
	}
	look := func(when string, want ...string) (gone, stay []Kept) {
		t.Helper()
		var needed []string
		for _, k := range must[[]Kept](t)(keep.Kept(ctx, []Commit{mine})) {
			if !k.Needed {
				gone = append(gone, k)
				continue
			}
			stay = append(stay, k)
			kind, rest, _ := strings.Cut(strings.TrimPrefix(k.Ref, "refs/mycelium/"), "/s-1/")
			if strings.Contains(rest, "-1/") && kind == "snapshots" {
				kind = rest
			} else if kind == "attempts" {
				kind = strings.Split(rest, "/")[0]
			}
			needed = append(needed, kind)
		}
		if slices.Sort(needed); fmt.Sprint(needed) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", when, needed, want)
		}
		return gone, stay
	}
	look("before the person took it", "idle-1/end", "lost-1", "sessions", "undo", "won-1", "won-1/clean", "won-1/dirty")
	run(t, p.top, "update-ref", "refs/remotes/origin/main", string(landed))
	look("in a branch that follows one of a server", "idle-1/end", "lost-1", "sessions", "undo", "won-1", "won-1/clean", "won-1/dirty")
	run(t, p.top, "branch", "taken", string(landed))
	gone, stay := look("in a branch of the person", "idle-1/end", "lost-1", "won-1/dirty")
	if n, err := keep.Frees(ctx, gone, stay); err != nil || n <= 0 || n > 10_000 {
		t.Errorf("it frees %d, %v", n, err)
	}
	moved := slices.Clone(gone)
	moved[1].Commit = first
	if err := keep.Forget(ctx, moved); err == nil {
		t.Error("a ref that has moved was removed")
	}
	if again, _ := look("after that", "idle-1/end", "lost-1", "won-1/dirty"); len(again) != len(gone) {
		t.Errorf("%d refs, there were %d", len(again), len(gone))
	}
	if err := keep.Forget(ctx, gone); err != nil {
		t.Fatal(err)
	}
	if none, _ := look("afterwards", "idle-1/end", "lost-1", "won-1/dirty"); len(none) > 0 {
		t.Errorf("left: %v", none)
	}
	run(t, p.top, "-c", "gc.reflogExpire=now", "-c", "gc.reflogExpireUnreachable=now", "reflog", "expire", "--all", "--expire=now")
	run(t, p.top, "prune", "--expire=now")
	for _, file := range []string{string(lostTip) + ":lost", "refs/mycelium/snapshots/s-1/idle-1/end:half",
		"refs/mycelium/snapshots/s-1/won-1/dirty:won", string(landed) + ":won"} {
		run(t, p.top, "cat-file", "-e", file)
	}
	if err := keep.Forget(ctx, stay); err != nil {
		t.Fatal(err)
	}
	if _, _, err := keep.Stands(ctx); err == nil {
		t.Error("it stands somewhere")
	}
}
