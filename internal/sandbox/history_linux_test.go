package sandbox

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/policy"
)

// gitIn runs git outside.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// put writes a file of the past: git compares the contents of those that are as new as its index.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

// ranInside runs a script of a shell in the sandbox and returns what it prints.
func ranInside(t *testing.T, c *Command, script string) string {
	t.Helper()
	var out bytes.Buffer
	run := *c
	run.Argv, run.Out, run.Err = []string{"sh", "-c", script}, &out, &out
	run.Env = []string{"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost"}
	result, err := Run(t.Context(), self(t), &run)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if len(result.Left.Quarantined) > 0 {
		t.Errorf("%q was put away", result.Left.Quarantined)
	}
	return out.String()
}

// withHistory is a project with two versions of a secret, in commits, in a stash and in the index.
func withHistory(t *testing.T, how string) *Command {
	t.Helper()
	c := projectCommand(t)
	c.History = filepath.Join(filepath.Dir(c.Scratch), "history")
	gitIn(t, c.Project, "init", "-q", "-b", "main")
	put(t, c.Project, ".env.production", "KEY=first-hidden\n")
	put(t, c.Project, "notes/plan.md", "plan-hidden\n")
	put(t, c.Project, "a.txt", "a\n")
	gitIn(t, c.Project, "add", "-f", "-A")
	gitIn(t, c.Project, "commit", "-qm", "one")
	gitIn(t, c.Project, "branch", "old")
	put(t, c.Project, ".env.production", "KEY=second-hidden\n")
	put(t, c.Project, "a.txt", "a\nb\n")
	gitIn(t, c.Project, "add", "-f", "-A")
	gitIn(t, c.Project, "commit", "-qm", "two")
	put(t, c.Project, ".env.production", "KEY=stash-hidden\n")
	gitIn(t, c.Project, "stash", "-q")
	put(t, c.Project, ".env.production", "KEY=second-hidden\n")
	gitIn(t, c.Project, "update-index", "--refresh", "-q")
	if how == "packed" {
		gitIn(t, c.Project, "-c", "pack.writeReverseIndex=true", "gc", "-q", "--aggressive")
	}
	glob := "notes/**"
	c.Closed = policy.Closed{Dir: c.Project, Rules: []policy.ClosedRule{{Rule: "notes", Read: true,
		Groups: []policy.ClosedGroup{{Paths: policy.Values{{Glob: &glob}}}}}}}
	return c
}

// TestClosedFilesInCommits: no git inside prints a file that no agent may open, from any commit, and what agents do every day works.
func TestClosedFilesInCommits(t *testing.T) {
	for _, how := range []string{"loose", "packed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := withHistory(t, how)
			said := ranInside(t, c, `cat .env.production notes/plan.md; git show HEAD:.env.production; git show old:.env.production
git show HEAD:notes/plan.md
git log -p --all; git log -p -- a.txt; git stash show -p; git grep -a hidden HEAD; git grep -a hidden; git diff old HEAD
git cat-file --batch-all-objects --batch; git show ":.env.production"; git archive HEAD | cat
for f in $(git rev-list --all --objects --missing=print | cut -c1-40); do git cat-file -p $f; done
for f in $(find .git/objects -type f -name '??????????????????????????????????????'); do
cat $f | python3 -c 'import sys,zlib; d=sys.stdin.buffer.read(); print(zlib.decompress(d) if d else "")'; done`)
			if strings.Contains(said, "hidden") {
				t.Errorf("git prints what is closed:\n%s", said)
			}
			if !strings.Contains(said, "one") || !strings.Contains(said, "+b") {
				t.Errorf("git prints nothing at all:\n%s", said)
			}
			said = ranInside(t, c, `set -e; git status --porcelain; echo work > work.txt; git add -A; git commit -qm three; git status --porcelain
git checkout -q -b side; echo s > side.txt; git add -A; git commit -qm side
git checkout -q main; echo m > m.txt; git add -A
git commit -qm m
git merge -q -m merge side
git checkout -q -b top HEAD~1; echo r > r.txt; git add -A; git commit -qm r
git rebase -q main; git checkout -q main; git merge -q top
echo x >> a.txt; git stash -q; git stash pop -q; git commit -qam x
git log --oneline | wc -l
 git diff HEAD~1 --stat; git show --stat --format= HEAD`)
			if !strings.Contains(said, "a.txt | 1 +") || strings.Contains(said, ".env") || strings.Contains(said, "notes") ||
				strings.Contains(said, "fatal") {
				t.Errorf("the day's work:\n%s", said)
			}
			// Whatever collects objects inside, and whoever wants them gone.
			ranInside(t, c, `git gc -q; git repack -adfq; git repack -Adq; git prune --expire=now; git prune-packed; git gc -q --prune=now --aggressive
git reflog expire --expire=now --all; git -c remote.x.promisor=true -c extensions.partialClone=x repack -adq; git repack -adq --filter=blob:none`)
			// Outside nothing is lost, and the commits of the command have the files as they were.
			gitIn(t, c.Project, "fsck", "--full", "--strict")
			for rev, want := range map[string]string{"HEAD:.env.production": "KEY=second-hidden\n", "old:.env.production": "KEY=first-hidden\n",
				"HEAD:notes/plan.md": "plan-hidden\n", "HEAD:work.txt": "work\n"} {
				if got := gitIn(t, c.Project, "show", rev); got != want {
					t.Errorf("%s is %q", rev, got)
				}
			}
			if got := gitIn(t, c.Project, "status", "--porcelain"); got != "" {
				t.Errorf("outside git says %q", got)
			}
			old := filepath.Join(c.History, "pack-old")
			long := time.Now().Add(-2 * keepCopies)
			if err := errors.Join(os.Mkdir(old, 0o700), os.Chtimes(old, long, long)); err != nil {
				t.Fatal(err)
			}
			gitIn(t, c.Project, "gc", "-q")
			said = ranInside(t, c, "git show HEAD:.env.production; git log --oneline | head -1")
			if strings.Contains(said, "hidden") || !strings.Contains(said, "x") {
				t.Errorf("after a gc outside: %s", said)
			}
			if exists(old) {
				t.Error("a copy that nobody uses is kept")
			}
		})
	}
}

// TestHiddenHistory: a command cannot hide that a commit has a closed file, so that a later command finds the object.
func TestHiddenHistory(t *testing.T) {
	t.Parallel()
	c := withHistory(t, "packed")
	ranInside(t, c, "true")
	put(t, c.Project, ".env.production", "KEY=later-hidden\n") // known at the next run, before its command can do anything
	gitIn(t, c.Project, "commit", "-qam", "later")
	id := strings.TrimSpace(gitIn(t, c.Project, "rev-parse", "HEAD:.env.production"))
	first := strings.TrimSpace(gitIn(t, c.Project, "rev-parse", "old:.env.production"))
	ranInside(t, c, `tree=$(printf '100644 blob `+id+`\topen.txt\n100644 blob `+first+`\tfirst.txt\n' | git mktree --missing)
git update-ref refs/heads/open $(echo open | git commit-tree $tree); git update-index --add --cacheinfo 100644,`+id+`,open.txt
git update-ref -d refs/heads/old; git update-ref --no-deref HEAD refs/heads/open; git update-ref -d refs/stash
git for-each-ref --format='delete %(refname)' refs/heads | grep -v open | git update-ref --stdin
rm -rf .git/logs; git rev-parse HEAD > .git/shallow`)
	// Under another policy too: what this one closes was found before.
	for _, closed := range []policy.Closed{c.Closed, {}} {
		c.Closed = closed
		said := ranInside(t, c, "git cat-file --batch-all-objects --batch; git cat-file -p "+id+"; git cat-file -p "+first+"; git show open:open.txt")
		if strings.Contains(said, "KEY=") {
			t.Errorf("it is found again:\n%q", said)
		}
	}
}

// TestOpenCopy: a closed file and an open one with the same contents are one object, which stays; so does an empty file.
func TestOpenCopy(t *testing.T) {
	t.Parallel()
	c := withHistory(t, "loose")
	put(t, c.Project, ".env.local", "KEY=\n")
	put(t, c.Project, ".env.example", "KEY=\n")
	put(t, c.Project, "credentials.json", "")
	put(t, c.Project, "empty.txt", "")
	gitIn(t, c.Project, "add", "-fA")
	gitIn(t, c.Project, "commit", "-qm", "copies")
	if said := ranInside(t, c, "git show HEAD:.env.example && git show HEAD:empty.txt && echo shown"); said != "KEY=\nshown\n" {
		t.Errorf("%q", said)
	}
}

// TestWithoutClosedFiles: where commits have none, git is as it is.
func TestWithoutClosedFiles(t *testing.T) {
	t.Parallel()
	c := projectCommand(t)
	c.History = filepath.Join(filepath.Dir(c.Scratch), "history")
	gitIn(t, c.Project, "init", "-q")
	put(t, c.Project, "a.txt", "a\n")
	gitIn(t, c.Project, "add", "a.txt")
	gitIn(t, c.Project, "commit", "-qm", "one")
	if o := c.closedObjects(t.Context()); len(o.paths()) > 0 || o.why != "" {
		t.Errorf("%v", o)
	}
	if said := ranInside(t, c, "env; cat .git/config; git gc -q && git show HEAD:a.txt"); strings.Contains(said, "ALTERNATE") ||
		strings.Contains(said, "checkStat") || !strings.HasSuffix(said, "a\n") {
		t.Errorf("%q", said)
	}
}

// TestFileAsNewAsTheIndex: git inside takes a covered file for unchanged also where its time does not say so yet.
func TestFileAsNewAsTheIndex(t *testing.T) {
	t.Parallel()
	c := withHistory(t, "loose")
	if err := os.WriteFile(filepath.Join(c.Project, ".env.production"), []byte("KEY=third-hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gitIn(t, c.Project, "commit", "-qam", "three")
	if said := ranInside(t, c, "git status --porcelain; echo x > x.txt; git add -A; git commit -qm x; cat "+
		".env.production"); strings.Contains(said, "env") ||
		strings.Contains(said, "KEY") {
		t.Errorf("%q", said)
	}
	if got := gitIn(t, c.Project, "show", "HEAD:.env.production"); got != "KEY=third-hidden\n" {
		t.Errorf("the command committed %q", got)
	}
}

// TestLinkedWorktreeHistory: a linked working tree shares the objects, and has an index of its own.
func TestLinkedWorktreeHistory(t *testing.T) {
	t.Parallel()
	c := withHistory(t, "packed")
	tree := filepath.Join(filepath.Dir(c.Project), "tree")
	gitIn(t, c.Project, "worktree", "add", "-q", "-b", "side", tree, "main")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(tree, ".env.production"), past, past); err != nil {
		t.Fatal(err)
	}
	gitIn(t, tree, "update-index", "--refresh", "-q")
	c.Worktree = &Worktree{Own: filepath.Join(c.Project, ".git/worktrees/tree"), Common: filepath.Join(c.Project, ".git")}
	c.Project, c.Dir = tree, tree
	said := ranInside(t, c, "cat .env.production notes/plan.md; git show HEAD:.env.production; git show HEAD:notes/plan.md; "+
		"git cat-file --batch-all-objects --batch; git status --porcelain; echo x > x.txt; git add -A && git commit -qm x && git log --oneline | head -1")
	if strings.Contains(said, "hidden") || strings.Contains(said, "M .env") || !strings.Contains(said, " x\n") {
		t.Errorf("%s", said)
	}
	gitIn(t, tree, "fsck", "--full")
}

// TestRepositoryThatCannotBeRead: where it cannot be told which objects are closed, git finds none, and says so; the rest works.
func TestRepositoryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := withHistory(t, "loose")
	tree := strings.TrimSpace(gitIn(t, c.Project, "rev-parse", "old^{tree}"))
	if err := os.Remove(filepath.Join(c.Project, ".git/objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.Argv, c.Out, c.Err = []string{"sh", "-c", "cat a.txt; git show HEAD:.env.production"}, &out, &out
	result, err := Run(t.Context(), self(t), c)
	if err != nil || !strings.HasPrefix(out.String(), "a\n") || strings.Contains(out.String(), "hidden") || !strings.Contains(result.Left.Git, tree) {
		t.Errorf("%v %+v %s", err, result, out.String())
	}
	// A repository without a commit is none of these.
	c = projectCommand(t)
	c.History = filepath.Join(filepath.Dir(c.Scratch), "history")
	gitIn(t, c.Project, "init", "-q")
	if said := ranInside(t, c, "echo a > a.txt; git add a.txt && git commit -qm one && git log --format=%s"); said != "one\n" {
		t.Errorf("%q", said)
	}
}

// TestAnotherPolicy: the end of a command judges what it made by the rules of that command: what a later command must not change was there.
func TestAnotherPolicy(t *testing.T) {
	t.Parallel()
	c := withHistory(t, "loose")
	c.Closed = policy.Closed{}
	before, err := c.look(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	glob := "notes/**"
	c.Closed = policy.Closed{Dir: c.Project, Rules: []policy.ClosedRule{{Rule: "r", Change: true,
		Groups: []policy.ClosedGroup{{Paths: policy.Values{{Glob: &glob}}}}}}}
	after, err := c.look(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	if governed, _ := after.Since(before); len(governed) > 0 {
		t.Errorf("%q would be put away", governed)
	}
	if now, err := c.look(t.Context(), nil); err != nil || len(now.Fixed) == len(before.Fixed) {
		t.Errorf("the rule keeps nothing: %v", err)
	}
}

// TestRulesOfAWorker: in a repository that is the agent's own, rules keep files from change and hide none, because git would commit what is
// hidden as it looks.
func TestRulesOfAWorker(t *testing.T) {
	t.Parallel()
	c := withHistory(t, "loose")
	c.Untrusted, c.Closed.Rules[0].Change = true, true
	said := ranInside(t, c, "cat notes/plan.md; echo x >> notes/plan.md; git status --porcelain -- notes")
	if !strings.HasPrefix(said, "plan-hidden\n") ||
		!strings.Contains(said, "Read-only") || strings.Contains(said, " M ") {
		t.Errorf("%q", said)
	}
}
