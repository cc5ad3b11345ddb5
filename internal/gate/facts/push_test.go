package facts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// allowAll is a policy that allows everything that can be allowed.
func allowAll(t *testing.T, dir string) *policy.Policy {
	t.Helper()
	p, probs := policy.New(policy.Source{
		Dir: dir, Home: "/home/u", Fallback: policy.Fallback{MCP: "allow", Agent: "allow"},
		Grants: []policy.Grant{{Name: "all", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__Bash"}}},
		Rules:  []policy.Rule{{Name: "everything", Action: "allow", Tool: policy.Names{"*"}}},
	})
	if len(probs) > 0 {
		t.Fatal(probs)
	}
	return p
}

// decidePush is what becomes of a command in a folder under a rule that allows everything.
func decidePush(t *testing.T, dir, home, command string) policy.Decision {
	t.Helper()
	f, err := Of(bashTool, nil, policy.Args{"command": command}, Place{Dir: dir, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "dev"}, Skills: []string{"all"}}
	return allowAll(t, dir).Decide(policy.Call{Scope: who, Item: bashTool, Facts: f})
}

// write makes a file with its folders.
func writeFile(t *testing.T, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestForcedPushes: what replaces or deletes the main branch of another repository is denied whatever rules say, also where only the
// repository knows which branch that is. Other branches are the rules' to decide.
func TestForcedPushes(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	current := []string{
		"git push --force", "git push -f", "git push --force origin", "git push --force origin HEAD", "git push -f origin @",
		"git push origin +HEAD",
		"git push --force-with-lease", "git push --force-if-includes --force-with-lease origin HEAD",
		"git add -A && git commit -m x && git push -f",
		"sh -c 'git push --force'", "env git push -f",
	}
	always := []string{
		"git push --force --all", "git push --all -f origin", "git push --branches --force origin", "git push --mirror",
		"git push --mirror origin",
		"git push --delete origin main", "git push -d origin main", "git push origin :main", "git push origin --delete master",
		"git push origin +main",
		"git push origin +HEAD:main", "git push origin HEAD:main --force-with-lease", "git push --forc origin main", "git push --for origin main",
		"git push --fo origin main", "git push --prune origin", "git push -f origin :", "git push -f origin 'refs/heads/*:refs/heads/*'",
		"git push -f origin 'refs/heads/m*:refs/heads/m*'", "git push -f origin feature main", "git push -f origin \"$BRANCH\"",
		"git push origin +$BRANCH",
		"git -c push.default=matching push -f", "git -c push.default=upstream push -f origin feature",
		"git -c push.default=matching push --force origin",
		"git -c remote.origin.push=+HEAD:main push origin", "git -c remote.origin.mirror=true push origin",
		"git --config-env=push.default=X push",
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.push GIT_CONFIG_VALUE_0=+HEAD:main git push",
		"git send-pack --force origin main", "git send-pack --force host:repo", "git send-pack --mirror host:repo",
		"git send-pack host:repo +main",
		"git http-push -D https://example.com/r main", "git subtree push -P lib origin +main",
		"echo --force origin main | xargs git push", "xargs git push --force", "env A=1 git push --delete origin main",
		"sh -c 'git push origin :main'",
		"git -c alias.x='push --force' x", "git -c alias.x='!git push' x --force origin HEAD", "git -c alias.x='push --force' x origin main",
		"git push -f $REMOTE", "GIT_DIR=x; export GIT_DIR; git push -f", "set -a; GIT_DIR=x; git push -f", "git -c alias.x=push x --mirror",
		"git config alias.fp 'push --force origin main'",
		"git checkout main && git push -f", "git push -f & git switch main", "./x.sh; git push -f", "cd sub && git push -f", "git -C sub push -f",
		"git --git-dir=x push -f", "GIT_DIR=x git push -f", "export GIT_DIR=x; git push -f", "./git push -f origin main",
	}
	open := []string{
		"git push", "git push origin main", "git push origin feature", "git push --force-with-lease origin feature", "git push -f origin feature",
		"git push origin +feature", "git push origin :feature", "git push -f origin HEAD:feature", "git push --force --tags",
		"git push -f origin tag main",
		"git push --delete origin feature", "git push origin --all", "git push --follow-tags origin main", "git stash push -f main main",
		"git -c push.default=current push origin feature", "git push -f origin feature/main", "git -c alias.x=push x origin feature",
	}
	for branch, denies := range map[string][]string{"main": slices.Concat(current, always), "feature": always} {
		writeFile(t, "ref: refs/heads/"+branch+"\n", dir, ".git/HEAD")
		for _, command := range denies {
			if d := decidePush(t, dir, home, command); d.Effect != policy.Deny || d.Rule != "base:forced-main" {
				t.Errorf("on %s: %s: %v by %s", branch, command, d.Effect, d.Rule)
			}
		}
		for _, command := range open {
			if d := decidePush(t, dir, home, command); d.Effect != policy.Allow {
				t.Errorf("on %s: %s: %v by %s", branch, command, d.Effect, d.Rule)
			}
		}
	}
	for _, command := range current { // HEAD is at feature now, or main: the order of a map
		writeFile(t, "ref: refs/heads/feature\n", dir, ".git/HEAD")
		if d := decidePush(t, dir, home, command); d.Effect != policy.Allow {
			t.Errorf("on feature: %s: %v by %s", command, d.Effect, d.Rule)
		}
		for _, head := range []string{"0123456789012345678901234567890123456789\n", "ref: refs/heads/.invalid\n", "", "ref: refs/heads/master"} {
			writeFile(t, head, dir, ".git/HEAD")
			if d := decidePush(t, dir, home, command); d.Effect != policy.Deny {
				t.Errorf("with HEAD %q: %s: %v", head, command, d.Effect)
			}
		}
	}
}

// TestSettingsOfPushes: git's settings may force a push, or send it to a branch of another name.
func TestSettingsOfPushes(t *testing.T) {
	const plain, named, head = "git push origin", "git push -f origin feature", "git push -f"
	for _, c := range []struct {
		settings string
		denied   []string
	}{
		{"", nil},
		{"[push]\n\tdefault = simple\n[remote \"origin\"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", nil},
		{"[push] default = current\n", nil},
		{"[push]\n\tdefault = upstream\n", []string{named, head}},
		{"[PUSH]\n\tDefault = \"matching\"\n", []string{named, head}},
		{"[push]\n\tdefault = \\\nmatching\n", []string{named, head}},
		{"[remote \"origin\"]\n\tpush = refs/heads/*:refs/heads/x/*\n", []string{named, head}},
		{"[remote \"origin\"]\n\tpush = +HEAD:main\n", []string{plain, named, head}},
		{"[remote \"origin\"]\n\tmirror\n", []string{plain, named, head}},
		{"[remote \"origin\"]\n\tmirror = false\n", nil},
		{"# [push]\n; default = matching\n", nil},
	} {
		for _, place := range []string{"repository", "worktree", "home", "xdg", "included"} {
			dir, home := t.TempDir(), t.TempDir()
			own := filepath.Join(dir, ".git")
			if place == "worktree" { // the shared settings are those of the main worktree
				own = filepath.Join(home, "main/.git/worktrees/x")
				writeFile(t, "gitdir: "+own+"\n", dir, ".git")
				writeFile(t, "../..\n", own, "commondir")
			}
			writeFile(t, "ref: refs/heads/feature\n", own, "HEAD")
			switch place {
			case "repository":
				writeFile(t, c.settings, dir, ".git/config")
			case "worktree":
				writeFile(t, c.settings, home, "main/.git/config")
			case "home":
				writeFile(t, c.settings, home, ".gitconfig")
			case "xdg":
				writeFile(t, c.settings, home, ".config/git/config")
			case "included":
				writeFile(t, "[includeIf \"gitdir:~/x/\"]\n\tpath = ~/more\n", dir, ".git/config")
				writeFile(t, c.settings, home, "more")
			}
			for _, command := range []string{plain, named, head} {
				want := policy.Allow
				if slices.Contains(c.denied, command) {
					want = policy.Deny
				}
				if d := decidePush(t, dir, home, command); d.Effect != want {
					t.Errorf("%q in the %s: %s: %v by %s", c.settings, place, command, d.Effect, d.Rule)
				}
			}
		}
	}
	dir := t.TempDir()
	writeFile(t, "ref: refs/heads/feature\n", dir, ".git/HEAD")
	writeFile(t, strings.Repeat("#", maxSettings+1), dir, ".git/config")
	if d := decidePush(t, dir, "", named); d.Effect != policy.Deny {
		t.Errorf("settings that are too long to be read: %v", d.Effect)
	}
	writeFile(t, "[include]\npath = config\n", dir, ".git/config")
	if d := decidePush(t, dir, "", named); d.Effect != policy.Deny {
		t.Errorf("settings that include themselves: %v", d.Effect)
	}
	if d := decidePush(t, t.TempDir(), "", head); d.Effect != policy.Deny {
		t.Errorf("no repository: %v", d.Effect)
	}
}

// TestPushByAlias: an alias in git's settings is what it stands for, with the words after it; one that pushes nothing is as unknown
// as it was.
func TestPushByAlias(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	writeFile(t, "ref: refs/heads/main\n", dir, ".git", "HEAD")
	writeFile(t, "[alias]\n\tpf = push --force\n\tp = push\n\tup = !git fetch && git push -f\n\tlg = log --oneline\n", dir, ".git", "config")
	writeFile(t, "[alias]\n\tPublish = push -f origin\n", home, ".gitconfig")
	for command, denied := range map[string]bool{
		"git pf": true, "git p -f": true, "git p origin +HEAD": true, "git up": true, "git publish": true, "git -C . pf": true,
		"git publish feature/x": false, "git p": false, "git lg": false, "git pf origin 'a b'": false, "git nothing": false,
	} {
		d := decidePush(t, dir, home, command)
		if got := d.Rule == "base:forced-main"; got != denied {
			t.Errorf("%s: %+v", command, d)
		}
	}
}
