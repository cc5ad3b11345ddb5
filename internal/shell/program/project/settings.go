package project

import (
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Settings of package managers: who reads one may read a token, and who changes one of the user changes every project.

// lasting is the reason why a changed setting is unclear that is not the project's.
const lasting = "the setting holds for every project of the user"

// npmConfig handles npm config and the like.
func npmConfig(c *program.Call) {
	if len(c.Operands) == 0 {
		listSettings(c)
		return
	}
	rest := c.Operands[1:]
	switch c.Operands[0].Text {
	case "list", "ls":
		listSettings(c)
	case "get":
		secretSettings(c, rest)
	case "set", "delete", "rm", "unset", "edit", "fix":
		npmSettings(c)
		outside(c)
	default:
		npmSettings(c)
		secretSettings(c, rest)
	}
}

// npmGet handles npm get.
func npmGet(c *program.Call) { secretSettings(c, c.Operands) }

// npmSet handles npm set, and yarn set version, which fetches another yarn.
func npmSet(c *program.Call) {
	c.Does |= effect.Write
	if len(c.Operands) > 0 && c.Operands[0].Text == "version" {
		c.Does |= effect.Install | effect.Network
	}
	outside(c)
}

// outside makes a changed setting unclear, unless it is the project's.
func outside(c *program.Call) {
	if v, _ := c.Value("L"); v.Text != "project" {
		c.Unclear(lasting)
	}
}

// listSettings shows all settings. npm hides those that are secret, unless it shows all.
func listSettings(c *program.Call) {
	if c.Part.Program != "npm" && c.Part.Program != "bun" || c.Has("l") {
		c.Does |= effect.Secrets
	}
}

// secretSettings shows settings.
func secretSettings(c *program.Call, names []program.Word) {
	if len(names) == 0 {
		listSettings(c)
	}
	for _, w := range names {
		if w.Unknown || program.ContainsAny(strings.ToLower(w.Text), "auth", "token", "passw", "secret", "otp", "username", "proxy") {
			c.Does |= effect.Secrets
		}
	}
	if c.Has("no-redacted") {
		c.Does |= effect.Secrets
	}
}

// pipConfig handles pip config. The addresses of indexes have passwords in them.
func pipConfig(c *program.Call) {
	settings(c)
	for i, w := range c.Operands {
		switch {
		case i == 0 && program.Named("list|debug", w.Text), i > 0 && program.ContainsAny(strings.ToLower(w.Text), "url", "proxy", "links"):
			c.Does |= effect.Secrets
		case i == 0 && program.Named("set|unset|edit", w.Text):
			c.Unclear(lasting)
		}
	}
}

// poetryConfig handles poetry config, which sets what has a value.
func poetryConfig(c *program.Call) {
	for _, w := range c.Operands {
		if program.ContainsAny(w.Text, "token", "http-basic", "password") || w.Unknown {
			c.Does |= effect.Secrets
		}
	}
	if (len(c.Operands) > 1 || c.Has("unset")) && !c.Has("local") {
		c.Unclear(lasting)
	}
}

// bundleConfig handles bundle config, which sets what has a value.
func bundleConfig(c *program.Call) {
	for i, w := range c.Operands {
		if i > 0 && (strings.Contains(w.Text, "://") || w.Unknown) || program.ContainsText(c.Words, "--global") {
			c.Unclear(lasting)
		}
	}
}

// goSettings handles go env.
func goSettings(c *program.Call) {
	settings(c)
	if c.HasAny("w", "u") {
		c.Unclear(lasting)
	}
}

// laterScript makes a script of package.json.
func laterScript(c *program.Call) { c.Unclear("the setting changes which code runs") }
