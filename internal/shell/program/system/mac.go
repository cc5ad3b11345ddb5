package system

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Programs of macOS. Those that change the machine do so unless an option says that they only show something.

// shows takes the effects of the row away if one of the first options was given and none of the others.
func shows(c *program.Call, looks, changes []string) {
	if c.HasAny(looks...) && !c.HasAny(changes...) {
		c.Does &^= c.Row.Does
	}
}

func directoryCache(c *program.Call) {
	shows(c, []string{"q", "cachedump", "configuration", "statistics"}, []string{"flushcache"})
}

func packageReceipts(c *program.Call) {
	shows(c, []string{"pkgs", "files", "pkg-info", "pkg-info-plist", "file-info", "check-signature", "payload-files", "groups"},
		[]string{"forget", "expand", "expand-full", "flatten", "bom"})
}

func systemNames(c *program.Call) {
	shows(c, []string{"dns", "proxy", "nwi", "get"}, []string{"set", "prefs", "nc"})
}

func developerTools(c *program.Call) { shows(c, []string{"p", "v"}, []string{"s", "install", "r"}) }

// softwareUpdate lists what Apple has.
func softwareUpdate(c *program.Call) {
	if c.HasAny("l", "history") && !c.HasAny("i", "d", "a", "r") {
		c.Does = c.Does&^c.Row.Does | effect.Network
	}
}

// power is pmset: only with -g as its first word it shows something.
func power(c *program.Call) {
	if len(c.Words) < 2 || c.Words[1].Text != "-g" {
		c.Does |= effect.Privilege
	}
}

// nvram changes variables of the firmware.
func nvram(c *program.Call) {
	if c.HasAny("c", "d", "f") {
		c.Does |= effect.Privilege
	}
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "=") || w.Unknown {
			c.Does |= effect.Privilege
		}
	}
}

// assess is spctl: it asks whether the system would run a program, or changes that.
func assess(c *program.Call) {
	asks := len(c.Words) > 1 && program.Named("--status|--assess|-a|-av|-avv|-v|-vv|-vvv", c.Words[1].Text)
	for _, w := range c.Words[1:] {
		asks = asks && !w.Unknown && !program.ContainsAny(w.Text, "able", "add", "remove", "reset", "list")
	}
	if !asks {
		c.Does |= effect.Privilege
	}
}

// directory is dscl: behind the source of data stands what it does.
func directory(c *program.Call) {
	if len(c.Words) < 3 || !program.Named("list|ls|read|cat|search|readall", strings.TrimPrefix(c.Words[2].Text, "-")) {
		c.Does |= effect.Privilege
	}
}

// spotlight is mdfind: it lists the names of all files, or of those in a folder.
func spotlight(c *program.Call) {
	if !c.Has("onlyin") {
		search(c)
	}
}

// writeOperands writes what the operands name.
func writeOperands(c *program.Call) {
	for _, w := range c.Operands {
		c.File(policy.Write, w)
	}
}

// propertyList is plutil, which changes files in place with some options.
func propertyList(c *program.Call) {
	if c.HasAny("replace", "insert", "remove", "create") || c.HasAny("convert", "extract") && !c.Has("o") {
		writeOperands(c)
	}
}

// image is sips, which changes images in place, unless it only shows what they are.
func image(c *program.Call) {
	for _, o := range c.Options {
		if !program.Named("g|1|verify|o|h", o.Name) && !c.Has("o") {
			writeOperands(c)
			return
		}
	}
}

// sign is codesign: it shows a signature, or makes one with a key of the user.
func sign(c *program.Call) {
	if c.HasAny("s", "remove-signature") {
		writeOperands(c)
	}
	if c.Has("s") {
		c.Does |= effect.Secrets
	}
}

// attributes is xattr, which changes attributes with some options. One of them is a guard of the system.
func attributes(c *program.Call) {
	if c.HasAny("w", "d", "c") {
		writeOperands(c)
	}
	if c.HasAny("d", "c") {
		c.Does |= effect.Privilege
	}
}

// xcrun finds a tool, or runs it.
func xcrun(c *program.Call, args []program.Word) {
	c.Scan(args)
	for _, o := range c.Options {
		if (o.Name == "f" || o.Name == "version" || strings.HasPrefix(o.Name, "show-")) && !c.Has("r") {
			c.Does |= effect.Read
			c.Finish()
			return
		}
	}
	c.RunProcess(c.Operands)
}

// keychainInput handles security -i, which reads commands from standard input.
func keychainInput(c *program.Call) {
	if c.Has("i") {
		c.Does |= effect.Secrets
	}
}
