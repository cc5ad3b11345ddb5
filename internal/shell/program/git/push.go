package git

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// push finds where a push goes, and what it replaces and deletes there. It handles push, send-pack and http-push.
func push(c *program.Call) {
	c.Does |= effect.Push | effect.Network
	if c.Has("n") {
		c.Does &^= effect.Push
	}
	refs := c.Operands
	for i, t := range c.Operands {
		if i == 0 && !c.Has("repo") {
			repository(c, t)
			if !t.Unquoted && (!t.Unknown || t.Raw != "") { // $X may be several words, and so may the input of xargs
				refs = refs[1:]
			}
			continue
		}
		if t.Unknown {
			c.Unclear("what is pushed is not known")
		}
	}
	force(c, refs)
	c.File(policy.Read, program.Known("."))
}

// force finds the branches that a push replaces or deletes. refs are what is pushed, as written.
func force(c *program.Call, refs []program.Word) {
	forced := c.HasAny("d", "D", "f", "force-with-lease", "force-if-includes") || c.Said("delete", 1) || c.Said("force", 2)
	if c.HasAny("mirror", "prune") {
		c.Replaces(program.AnyBranch)
	}
	settled := pushSettings(c)
	for i, t := range refs {
		switch {
		case t.Unknown:
			if forced || strings.HasPrefix(t.Text, "+") || t.Text == "" {
				c.Replaces(program.AnyBranch)
			}
		case i > 0 && refs[i-1].Text == "tag":
			if forced {
				c.Replaces("refs/tags/" + t.Text)
			}
		default:
			reference(c, t.Text, forced, settled)
		}
	}
	if len(refs) > 0 || !forced {
		return
	}
	switch plain := c.Row.Name == "push" && !c.HasAny("all", "branches") && settled; {
	case plain && c.Has("tags"):
		c.Replaces("refs/tags/*")
	case plain:
		c.Replaces(program.CheckedOut(c))
	default:
		c.Replaces(program.AnyBranch)
	}
}

// reference judges [+]SOURCE[:DESTINATION]. Without a destination it is the source, unless settings say otherwise.
func reference(c *program.Call, ref string, forced, settled bool) {
	ref, plus := strings.CutPrefix(ref, "+")
	from, to, pair := strings.Cut(ref, ":")
	switch {
	case !forced && !plus && (!pair || from != "" || to == ""):
	case pair && to == "": // ":" is each branch that both repositories have
		c.Replaces(program.AnyBranch)
	case pair:
		c.Replaces(to)
	case !settled:
		c.Replaces(program.AnyBranch)
	case from == "HEAD" || from == "@":
		c.Replaces(program.CheckedOut(c))
	default:
		c.Replaces(from)
	}
}

// pushSettings reports whether a push goes where its words say. Settings on the command line may send it elsewhere, and force it.
func pushSettings(c *program.Call) (settled bool) {
	settled = true
	for _, o := range c.Options {
		key, val, _ := strings.Cut(o.Value.Text, "=")
		key = strings.ToLower(key)
		remote := strings.HasPrefix(key, "remote.")
		switch {
		case o.Name == "config-env":
			c.Replaces(program.AnyBranch)
		case o.Name != "c":
		case key == "push.default":
			settled = settled && !o.Value.Unknown && program.Named("simple|current|nothing", val)
		case remote && strings.HasSuffix(key, ".push"):
			settled = false
			if o.Value.Unknown || strings.HasPrefix(val, "+") || strings.HasPrefix(val, ":") {
				c.Replaces(program.AnyBranch)
			}
		case remote && strings.HasSuffix(key, ".mirror") && !program.Named("false|no|off|0", val):
			c.Replaces(program.AnyBranch)
		}
	}
	for _, v := range c.Env {
		if strings.HasPrefix(v.Name, "GIT_CONFIG") {
			c.Replaces(program.AnyBranch)
		}
	}
	return settled
}
