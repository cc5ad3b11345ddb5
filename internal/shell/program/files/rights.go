package files

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// chmod may set the setuid and setgid bits, and give rights to everybody.
func chmod(c *program.Call) {
	if len(c.Operands) > 1 && locksOut(c.Operands[0].Text) && (c.Has("R") || ofWholeFolder(c)) {
		c.Does |= effect.Unusable
	}
	if len(c.Operands) > 0 && opensToAll(c.Operands[0].Text) {
		c.Does |= effect.OpenRights
	}
	switch {
	case c.Has("reference"):
		c.Unclear(unknownRights)
	case len(c.Operands) > 0:
		grant(c, c.Operands[0])
		if forOwner(c.Operands[0]) {
			for i := range c.Part.Paths {
				c.Part.Paths[i].Only = policy.Looks
			}
		}
	}
}

// forOwner reports whether a mode of chmod gives nobody but the owner any right.
func forOwner(mode program.Word) bool {
	if mode.Unknown || mode.Text == "" {
		return false
	}
	if strings.Trim(mode.Text, "01234567") == "" {
		return len(mode.Text) >= 3 && strings.HasSuffix(mode.Text, "00")
	}
	for clause := range strings.SplitSeq(mode.Text, ",") {
		i := strings.IndexAny(clause, "+-=")
		if i < 0 || clause[:i] != "u" && (clause[i] == '+' || clause[i] == '=' && i+1 < len(clause)) {
			return false
		}
	}
	return true
}

// install gives what it writes the rights of -m.
func install(c *program.Call) {
	if mode, ok := c.Value("m"); ok {
		grant(c, mode)
	}
	if to, sources, ok := split(c); ok && !c.Has("d") {
		destination(c, to, sources)
	}
	program.Backups(c, "S")
}

// locksOut reports whether a mode of chmod takes a right from the owner that a folder needs.
func locksOut(mode string) bool {
	if octal := strings.TrimLeft(mode, "0"); mode != "" && strings.Trim(mode, "01234567") == "" {
		return len(octal) < 3 || octal[len(octal)-3] != '7' && octal[len(octal)-3] != '6'
	}
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+-=")
		if i < 0 || i > 0 && !strings.ContainsAny(clause[:i], "ua") {
			continue
		}
		what := clause[i+1:]
		keeps := strings.Contains(what, "r") && strings.Contains(what, "w")
		if clause[i] == '-' && strings.ContainsAny(what, "rwxX") || clause[i] == '=' && !keeps {
			return true
		}
	}
	return false
}

// ofWholeFolder reports whether an operand is the working directory, or above it.
func ofWholeFolder(c *program.Call) bool {
	for _, w := range c.Operands[1:] {
		for _, d := range c.State.Dirs {
			if to := program.JoinPath(d, w.Text); to == d || strings.HasPrefix(d, strings.TrimSuffix(to, "/")+"/") {
				return true
			}
		}
	}
	return false
}

// unknownRights is why a change of rights is unclear.
const unknownRights = "which rights are given is not known"

// grant judges a mode of chmod.
func grant(c *program.Call, mode program.Word) {
	switch s := mode.Text; {
	case mode.Unknown:
		c.Unclear(unknownRights)
	case s != "" && s[0] >= '0' && s[0] <= '7':
		octal := strings.TrimLeft(s, "0")
		if len(octal) > 3 || strings.HasSuffix(octal, "777") || strings.HasSuffix(octal, "666") {
			c.Does |= effect.Privilege
		}
	default:
		for part := range strings.SplitSeq(s, ",") {
			who, what, _ := strings.Cut(strings.NewReplacer("=", "+").Replace(part), "+")
			if strings.Contains(what, "s") || strings.Contains(what, "w") && strings.ContainsAny(who, "oa") {
				c.Does |= effect.Privilege
			}
		}
	}
}

// chown gives a file to another user, which takes the rights of root.
func chown(c *program.Call) {
	if len(c.Operands) > 0 || c.Has("reference") {
		c.Does |= effect.Privilege
	}
	if len(c.Operands) > 0 && c.Part.Program != "chgrp" && isRoot(c.Operands[0].Text) {
		c.Does |= effect.GiveRoot
	}
}

// opensToAll reports whether a mode of chmod gives everybody every right.
func opensToAll(mode string) bool {
	if mode != "" && strings.Trim(mode, "01234567") == "" {
		return len(mode) >= 3 && strings.HasSuffix(mode, "777")
	}
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		if i < 0 {
			continue
		}
		who, rights := clause[:i], clause[i+1:]
		each := strings.Contains(who, "u") && strings.Contains(who, "g") && strings.Contains(who, "o")
		everybody := who == "" || strings.Contains(who, "a") || each
		if everybody && strings.Contains(rights, "r") && strings.Contains(rights, "w") && strings.ContainsAny(rights, "xX") {
			return true
		}
	}
	return false
}

// isRoot reports whether an owner as chown takes it is root.
func isRoot(owner string) bool {
	owner, _, _ = strings.Cut(owner, ":")
	return program.Named("root|0|+0", strings.TrimSuffix(owner, ".")) || strings.HasPrefix(owner, "root.")
}

// dd has operands of the form if=FILE and of=FILE.
func dd(c *program.Call) {
	fillsWith(c)
	for _, t := range c.Words[1:] {
		switch {
		case strings.HasPrefix(t.Text, "if="):
			c.Role('r', t.Tail(3))
		case strings.HasPrefix(t.Text, "of="):
			to := t.Tail(3)
			c.Role('w', to)
			if strings.HasPrefix(to.Text, "/dev/") && !program.IsStream(to.Text) || to.Unknown {
				c.Does |= effect.Destructive
			}
		case t.Unknown:
			c.Unclear("an argument of dd is not known")
		case strings.HasPrefix(t.Text, "-"):
			c.Unclear("what the option " + t.Text + " does is not known")
		}
	}
}
