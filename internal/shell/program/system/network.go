package system

import (
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Programs for the network and the firewall of the machine. They change it unless the words say that they only look.

// ipOptions handles the options of ip and tc before the object: one reads commands from a file, one works in another namespace.
func ipOptions(c *program.Call) {
	if c.HasAny("b", "n") {
		c.Does |= effect.Privilege
	}
}

// looks handles an object of ip or tc: the first word behind it is what is done, or its beginning. "s" is set for links and
// show for others, "l" is link for tc.
func looks(c *program.Call) {
	if len(c.Operands) == 0 {
		return
	}
	word := c.Operands[0]
	switch {
	case word.Unknown, !program.Named("show|sho|sh|s|list|lis|li|l|lst|ls|get|ge|g|help", word.Text),
		word.Text == "s" && strings.HasPrefix(c.Row.Name, "link"), c.Part.Program == "tc" && program.Named("l|li", word.Text):
		c.Does |= effect.Privilege
	}
}

// networkSecrets shows passwords of networks.
func networkSecrets(c *program.Call) {
	if c.Has("s") {
		c.Does |= effect.Secrets
	}
}

// networkSettings is networksetup, whose first option says what it does.
func networkSettings(c *program.Call) {
	if len(c.Words) > 1 && !beginsWith(c.Words[1].Text, "-list", "-get", "-show", "-is", "-version", "-help", "-print") {
		c.Does |= effect.Privilege
	}
}

// route without a word shows the routes.
func route(c *program.Call) {
	if len(c.Operands) > 0 && !program.Named("get|show|print|monitor", c.Operands[0].Text) {
		c.Does |= effect.Privilege
	}
}

// arp changes addresses with some options.
func arp(c *program.Call) {
	if c.HasAny("d", "s", "f", "S") {
		c.Does |= effect.Privilege
	}
}

// ethtool changes an interface with all options but those that only show something.
func ethtool(c *program.Call) {
	for _, w := range c.Words[1:] {
		if strings.HasPrefix(w.Text, "-") && !program.Named("-i|-k|-g|-c|-S|-l|-a|-n|-u|-m|-T|-x|-P|-h|--driver|--show-features|--statistics|"+
			"--show-ring|--show-channels|--show-pause|--show-permaddr|--help|--version|--json", w.Text) || w.Unknown {
			c.Does |= effect.Privilege
		}
	}
}

// iptables lists rules with -L and -S.
func iptables(c *program.Call) {
	if c.HasAny("L", "S") && !c.HasAny("F", "X", "Z", "A", "D", "I", "R", "P", "N", "E") {
		c.Does &^= effect.Privilege
	}
}

// nftFile handles nft -f, which reads rules from a file, and -i, which reads them from standard input.
func nftFile(c *program.Call) {
	if c.HasAny("f", "i") {
		c.Does |= effect.Privilege
	}
}

// firewall is firewall-cmd: it changes nothing if all its words ask.
func firewall(c *program.Call) {
	asks := len(c.Words) > 1
	for _, w := range c.Words[1:] {
		asks = asks && beginsWith(w.Text, "--list", "--get", "--state", "--query", "--info", "--zone", "--permanent", "--version", "--help")
	}
	if asks {
		c.Does &^= effect.Privilege
	}
}

// beginsWith reports whether a text begins with one of the others.
func beginsWith(s string, others ...string) bool {
	for _, o := range others {
		if strings.HasPrefix(s, o) {
			return true
		}
	}
	return false
}
