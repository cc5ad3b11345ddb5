package sandboxed

import (
	"slices"
	"strings"
	"testing"

	"mycelium/internal/gate/control"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/served"
	"mycelium/internal/skill"
	"mycelium/internal/state"
)

// TestScriptIsBounded: a script of a skill has a time limit in every profile, is told two variables and no other, and gets no profile that
// skills may not name (AX14). Whether the caller's role may run it is the gate's: sandbox-script.txtar.
func TestScriptIsBounded(t *testing.T) {
	paths := state.Root(t.TempDir()).Of("/p")
	environ := []string{"ANTHROPIC_API_KEY=sk-secret", "PATH=/usr/bin:/bin"}
	for _, profile := range append(skill.Sandboxes(), "") {
		c, err := scriptCommand(sandbox.Find, t.TempDir(), paths, "", environ, control.Script{Skill: "s", Path: "x.sh", Sandbox: profile})
		if err != nil {
			t.Fatal(err)
		}
		if s := c.Profile.Seconds; s <= 0 || s > served.MaxTimeout.Seconds() {
			t.Errorf("%q: %v seconds", profile, s)
		}
		if len(c.Env) != 2 || slices.ContainsFunc(c.Env, func(e string) bool { return !strings.HasPrefix(e, "SKILL_") }) {
			t.Errorf("%q: %q", profile, c.Env)
		}
	}
	// On a session that is bound to a worktree it runs there.
	tree := t.TempDir()
	c, err := scriptCommand(sandbox.Find, t.TempDir(), paths, "", environ, control.Script{Skill: "s", Path: "x.sh", Folder: tree})
	if err != nil || c.Project != tree {
		t.Errorf("on the worktree %s: %+v, %v", tree, c, err)
	}
	none := control.Script{Skill: "s", Path: "x.sh", Sandbox: "none"}
	if _, err := scriptCommand(sandbox.Find, t.TempDir(), paths, "", environ, none); err == nil {
		t.Error("a profile that skills may not name was taken")
	}
}
