package system

import (
	"strings"

	"mycelium/internal/credential"
	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/written"
)

// kill ends processes, except those that the command itself started.
func kill(c *program.Call) {
	if c.Has("l") || isZero(c, "s") || isZero(c, "n") || len(c.Words) > 1 && c.Words[1].Text == "-0" {
		return
	}
	for _, w := range c.Words[min(2, len(c.Words)):] {
		if strings.HasPrefix(w.Text, "-") && len(w.Text) > 1 && w.Text != "--" {
			c.Does |= effect.Process
		}
	}
	for _, w := range c.Operands {
		job := strings.HasPrefix(w.Text, "%") && strings.Trim(w.Text[1:], "0123456789+-%") == ""
		if w.Unknown || w.Text != written.LastJob && !job {
			c.Does |= effect.Process
		}
	}
}

// isZero reports whether the value of an option is the signal 0, which only tests whether a process exists.
func isZero(c *program.Call, option string) bool {
	v, _ := c.Value(option)
	return v.Text == "0"
}

// sysctl changes settings of the kernel.
func sysctl(c *program.Call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "=") || w.Unknown {
			c.Does |= effect.Privilege
		}
	}
	if c.HasAny("w", "p", "f", "system") {
		c.Does |= effect.Privilege
	}
}

// date sets the clock with -s, and with an operand that is no format.
func date(c *program.Call) {
	if c.Has("s") {
		c.Does |= effect.Privilege
	}
	for _, w := range c.Operands {
		if !strings.HasPrefix(w.Text, "+") && !w.Unknown && !c.Has("j") {
			c.Does |= effect.Privilege
		}
	}
}

// hostname sets the name of the machine with an operand, or from a file.
func hostname(c *program.Call) {
	if len(c.Operands) > 0 || c.HasAny("F", "b") {
		c.Does |= effect.Privilege
	}
}

// mount without an operand only lists what is mounted, -l with labels.
func mount(c *program.Call) {
	if len(c.Words) == 1 || c.Has("l") && len(c.Operands) == 0 && !c.Has("o") {
		c.Does &^= effect.Privilege
	}
}

// printenv shows one variable, or all.
func printenv(c *program.Call) {
	for _, w := range c.Operands {
		if credential.Variable(w.Text) || w.Unknown {
			c.Does |= effect.Secrets
		}
	}
	if len(c.Operands) == 0 {
		c.Does |= effect.Secrets
	}
}

// getent asks other machines for a host, and shows the hashes of passwords.
func getent(c *program.Call) {
	if len(c.Operands) > 0 && program.Named("shadow|gshadow", c.Operands[0].Text) {
		c.Does |= effect.Secrets
	}
	if len(c.Operands) > 1 && (strings.HasSuffix(c.Operands[0].Text, "hosts") || strings.HasPrefix(c.Operands[0].Text, "ahosts")) {
		c.Does |= effect.Network
	}
}

// ps shows the environment of processes with the BSD option e, and with -E.
func ps(c *program.Call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "e") && strings.Trim(w.Text, "aAcefhjlrSsTuvwXxZ") == "" {
			c.Does |= effect.Secrets
		}
	}
	if c.Has("E") {
		c.Does |= effect.Secrets
	}
}

// fuser ends processes with -k.
func fuser(c *program.Call) {
	if c.Has("k") {
		c.Does |= effect.Process
	}
}

// tmux runs the commands in a format.
func tmux(c *program.Call) {
	for _, w := range c.Words {
		if strings.Contains(w.Text, "#(") {
			c.Does |= effect.InlineCode
		}
	}
}

// search lists the names of all files.
func search(c *program.Call) { c.File(policy.Read, program.Known("/")) }

// arch of macOS runs the program that follows its options; arch of Linux has no operand.
func arch(c *program.Call) {
	if len(c.Operands) > 0 {
		c.RunProcess(c.Operands)
	}
}

// journal deletes, moves or signs the logs of the machine with some options.
func journal(c *program.Call) {
	if c.HasAny("vacuum-size", "vacuum-time", "vacuum-files") {
		c.Does |= effect.Delete | effect.Privilege
	}
	if c.HasAny("rotate", "flush", "sync", "relinquish-var", "smart-relinquish-var", "setup-keys", "update-catalog") {
		c.Does |= effect.Privilege
	}
}

// manual runs the browser that -H names.
func manual(c *program.Call) {
	if v, ok := c.Value("H"); ok {
		c.RunNested(v)
	}
}

// preferences without a domain shows the settings of all programs, and secrets may be among them.
func preferences(c *program.Call) {
	if len(c.Operands) == 0 {
		c.Does |= effect.Secrets
	}
}
