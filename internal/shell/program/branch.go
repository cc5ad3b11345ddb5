package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
)

// The names that policy.Part.Branches has for branches that a command does not name.
const (
	CurrentBranch = "HEAD" // the branch that is checked out
	AnyBranch     = "*"
)

// Replaces adds branches of another repository that the command replaces or deletes.
func (c *Call) Replaces(branches ...string) {
	c.Does |= effect.ForcePush
	for _, b := range branches {
		if !slices.Contains(c.Part.Branches, b) {
			c.Part.Branches = append(c.Part.Branches, b)
		}
	}
}

// CheckedOut is CurrentBranch where the command works in the repository of the project, and AnyBranch where it may work in another one.
func CheckedOut(c *Call) string {
	for _, v := range c.Env {
		if strings.HasPrefix(v.Name, "GIT_") {
			return AnyBranch
		}
	}
	for b := c.State.vars; b != nil; b = b.next {
		if strings.HasPrefix(b.name, "GIT_") { // it may be exported
			return AnyBranch
		}
	}
	if !c.State.only(c.Walk.Dir) || c.HasAny("git-dir", "work-tree") {
		return AnyBranch
	}
	return CurrentBranch
}

// still are the effects of commands that leave checked out what is checked out.
const still = effect.Execute | effect.Read | effect.Write | effect.Network | effect.Upload | effect.Push | effect.ForcePush | effect.History

// movesBranch reports whether after this command another branch may be checked out, or git may have other settings.
func (c *Call) movesBranch() bool {
	if c.Part.Program == "git" {
		return c.Row == nil || !c.Row.KeepsBranch
	}
	if c.Does&^still != 0 {
		return true
	}
	for i := range c.Words {
		if strings.HasPrefix(c.Words[i].Text, "GIT_") { // export GIT_DIR=x
			return true
		}
	}
	for _, p := range c.Part.Paths {
		if p.Access != policy.Read && strings.Contains(p.Clean+"/", "/.git") || p.Clean == "" {
			return true
		}
	}
	return false
}

// ForgetBranch makes CurrentBranch AnyBranch in all parts, if some part may check out another branch.
func (w *Walk) ForgetBranch() {
	if !w.BranchMoved {
		return
	}
	for i := range w.Parts {
		for j, b := range w.Parts[i].Branches {
			if b == CurrentBranch {
				w.Parts[i].Branches[j] = AnyBranch
			}
		}
	}
}

// Namesake adds the effects that a base constraint refuses and that a program of this name would have. It is for a program of the project:
// what ./git does is not known, but it is refused what git is refused.
func Namesake(c *Call, row *Row, args []Word) {
	if row == nil || row.Parse != nil {
		return
	}
	aside := Walk{Home: c.Walk.Home, Dir: c.Walk.Dir}
	inner := Call{Shell: c.Shell, Walk: &aside, State: c.State, Words: c.Words, Part: policy.Part{Program: c.Part.Program}}
	inner.Apply(row, args)
	c.Does |= aside.Does & effect.Refused()
	for i := range aside.Parts {
		c.Part.Branches = append(c.Part.Branches, aside.Parts[i].Branches...)
	}
}
