package language

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Scripts of frameworks, whose first argument is a command: manage.py of Django, and artisan of Laravel.

// framework adds what the command of such a script does.
func framework(c *program.Call, script program.Word, args []program.Word) {
	if script.Unknown || len(args) == 0 {
		return
	}
	switch path.Base(script.Text) {
	case "manage.py":
		manage(c, args)
	case "artisan":
		artisan(c, args)
	}
}

// django is django-admin, which has the commands of manage.py.
func django(c *program.Call, args []program.Word) {
	c.Does |= effect.ProjectCode
	if len(args) > 0 {
		manage(c, args)
	}
	program.Targets(c, args)
	c.Guess(args)
	c.Finish()
}

// manage adds what a command of Django does.
func manage(c *program.Call, args []program.Word) {
	rest := args[1:]
	if program.ContainsText(rest, "--help") {
		return
	}
	switch args[0].Text {
	case "shell", "shell_plus":
		code(c, rest, "-c", "--command")
	case "dbshell":
		c.Does |= effect.Database
		c.Unclear("it asks for what it runs")
	case "dumpdata", "diffsettings":
		c.Does |= effect.Secrets
	case "loaddata", "reset_db", "reset_schema", "createsuperuser", "changepassword", "drop_test_database", "clean_duplicate_history":
		c.Does |= effect.Database
	case "migrate":
		if program.ContainsText(rest, "zero") {
			c.Does |= effect.Database
		}
	case "runserver", "runserver_plus", "testserver":
		for _, w := range rest {
			if !strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, ":") && !ownAddress(w.Text) {
				c.Does |= effect.Listen
			}
		}
	case "sendtestemail":
		c.Does |= effect.Network | effect.Upload
	}
}

// ownAddress reports whether only this machine reaches an address.
func ownAddress(s string) bool {
	host := s[:strings.LastIndexByte(s, ':')]
	return program.Named("127.0.0.1|localhost|[::1]|::1", host)
}

// artisan adds what a command of Laravel does.
func artisan(c *program.Call, args []program.Word) {
	switch args[0].Text {
	case "tinker":
		code(c, args[1:], "--execute")
	case "migrate:fresh", "migrate:refresh", "migrate:reset", "migrate:rollback", "db:wipe", "db", "db:seed":
		c.Does |= effect.Database
	case "env:decrypt", "config:show", "key:generate":
		c.Does |= effect.Secrets
	}
}

// code runs the code of an option, or what comes from standard input.
func code(c *program.Call, args []program.Word, options ...string) {
	for _, w := range args {
		for _, o := range options {
			if strings.HasPrefix(w.Text, o) {
				c.Does |= effect.InlineCode
				return
			}
		}
	}
	c.RunInput()
}

// hexadecimal reports whether a separator of perl is written as -0xHHH, whose digits could be taken for options.
func hexadecimal(c *program.Call) bool {
	return slices.ContainsFunc(c.Words, func(w program.Word) bool { return strings.Contains(w.Text, "0x") && strings.HasPrefix(w.Text, "-") })
}

// loaded takes what options load whose value is attached to a letter, and settings that name code.
func loaded(c *program.Call) {
	for _, o := range c.Options {
		key, file, _ := strings.Cut(o.Value.Text, "=")
		named := program.Word{Text: file, Unknown: o.Value.Unknown}
		switch c.Part.Program {
		case "php":
			if o.Name == "d" &&
				program.Named("auto_prepend_file|auto_append_file|extension|zend_extension|include_path|extension_dir", key) {
				c.Role('x', named)
			}
		case "perl":
			if program.Named("M|m", o.Name) && key == "lib" {
				c.Role('e', named)
			}
			if o.Name == "d" || o.Name == "0" && hexadecimal(c) { // the debugger, or a module in its place
				c.Does |= effect.InlineCode
			}
		case "ruby":
			if o.Name == "r" && strings.Contains(o.Value.Text, "/") {
				c.Role('x', o.Value)
			}
		}
	}
}

// flutter manages packages and itself besides building a project.
func flutter(c *program.Call, args []program.Word) {
	for i, w := range args {
		switch {
		case i == 0 && program.Named("upgrade|downgrade|channel|config|precache", w.Text), i == 1 && args[0].Text == "pub" &&
			program.Named("add|global|upgrade", w.Text):
			c.Does |= effect.Install | effect.Network
		}
	}
	namedProject(c, args)
}

// namedProject is RunProject for a row that names its options.
func namedProject(c *program.Call, args []program.Word) {
	c.Scan(args)
	program.RunProject(c, args)
}

// serve handles servers of Python: they may listen to everybody.
func serve(c *program.Call, args []program.Word) {
	for i, w := range args {
		name, value, attached := strings.Cut(w.Text, "=")
		if !program.Named("--host|-h|-b|--bind", name) {
			continue
		}
		if !attached && i+1 < len(args) {
			value = args[i+1].Text
		}
		if host, _, _ := strings.Cut(value, ":"); !program.Named("localhost|127.0.0.1|::1", host) {
			c.Does |= effect.Listen
		}
	}
	program.RunProject(c, args)
}
