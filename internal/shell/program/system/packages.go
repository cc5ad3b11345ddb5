package system

import (
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Package managers of systems, and what else has settings, logs and properties of the machine.

// packageSource looks for options with which a package manager takes other settings, which name programs.
func packageSource(c *program.Call) {
	if c.HasAny("o", "setopt", "repofrompath", "installroot") {
		c.Unclear("other settings of the package manager change what it asks and runs")
	}
}

// pacman only looks with -Ss, -Si, -Sl and -Sg.
func pacman(c *program.Call) {
	if c.Has("S") && c.HasAny("s", "i", "l", "g") && !c.HasAny("y", "u", "w", "c", "R", "U") {
		c.Does &^= c.Row.Does
	}
}

// rpm only looks with -q and -V.
func rpm(c *program.Call) {
	if c.HasAny("q", "V") && !c.HasAny("e", "U", "F", "import", "initdb", "rebuilddb", "restore", "setperms", "setugids", "setcaps") {
		c.Does &^= c.Row.Does
	}
}

// alternatives is update-alternatives: some of its commands only show something.
func alternatives(c *program.Call) {
	shows(c, []string{"list", "display", "query", "get-selections"}, []string{"install", "set", "auto", "config", "remove", "remove-all",
		"set-selections", "all"})
}

// brewTap lists sources, or adds one.
func brewTap(c *program.Call) {
	if len(c.Operands) > 0 {
		c.Does |= effect.Install | effect.Network
	}
}

// brewLooks handles what brew shows. Two options fetch.
func brewLooks(c *program.Call) {
	if c.HasAny("github", "fetch-HEAD") {
		c.Does |= effect.Network
	}
}

// kernelLog is dmesg, which empties the log with some options.
func kernelLog(c *program.Call) {
	if c.HasAny("C", "c") {
		c.Does |= effect.Delete
	}
	if c.HasAny("C", "c", "D", "E", "n") {
		c.Does |= effect.Privilege
	}
}

// unitProperties handles questions of systemctl, one of which shows the environment of a service.
func unitProperties(c *program.Call) {
	for _, o := range c.Options {
		if (o.Name == "p" || o.Name == "P") && strings.Contains(o.Value.Text, "Environment") {
			c.Does |= effect.Secrets
		}
	}
}

// graphics is nvidia-smi, which changes a card with all options but those of its row.
func graphics(c *program.Call) {
	known := 0
	for _, w := range c.Words[1:] {
		if strings.HasPrefix(w.Text, "-") {
			known++
		}
	}
	if known > len(c.Options) || len(c.Operands) > 0 {
		c.Does |= effect.Privilege
	}
}

// choose is fzf: it runs what is bound to keys and events.
func choose(c *program.Call) {
	for _, o := range c.Options {
		switch {
		case o.Name == "bind" && (o.Value.Unknown ||
			program.ContainsAny(o.Value.Text, "execute", "become", "reload", "transform", "preview", "unbind", "exec")):
			c.Does |= effect.InlineCode
		case o.Name == "listen" || o.Name == "listen-unsafe":
			c.Does |= effect.Listen
		}
	}
}

// service shows how a service is, or changes that.
func service(c *program.Call) {
	if c.Has("status-all") || len(c.Operands) == 2 && c.Operands[1].Text == "status" {
		c.Does &^= c.Row.Does
	}
}

// swapon shows what the machine swaps to, or adds a file.
func swapon(c *program.Call) {
	if c.HasAny("show", "s") && !c.Has("a") && len(c.Operands) == 0 {
		c.Does &^= c.Row.Does
	}
}
