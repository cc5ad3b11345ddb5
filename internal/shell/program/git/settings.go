package git

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// globalOptions reads the options before the subcommand: -c sets the commands that git runs.
func globalOptions(c *program.Call) {
	for i, w := range c.Words { // of whatever shows differences
		if w.Text == "--output" && i+1 < len(c.Words) {
			c.File(policy.Write, c.Words[i+1])
		}
	}
	for _, o := range c.Options {
		switch o.Name {
		case "git-dir":
			program.ExecuteGitSettings(c, o.Value)
		case "c", "config-env":
			key, val, _ := strings.Cut(o.Value.Text, "=")
			if o.Name == "config-env" {
				c.Unclear("a setting of git is not known")
				continue
			}
			setting(c, key, program.Word{Text: val, Unknown: o.Value.Unknown})
		case "exec-path":
			if o.HasValue {
				c.Unclear("git runs programs of another folder")
			}
		}
	}
	executeFolders(c)
}

// executeFolders executes the settings in the folders where git may find a repository other than the project's own. Git accepts any
// folder that looks like a bare repository, so an editor may have written these settings.
func executeFolders(c *program.Call) {
	for _, d := range c.State.Dirs {
		for n := 0; d != c.Walk.Dir && d != "/" && d != "/tmp" && d != "." && n < program.MaxDepth; n++ {
			program.ExecuteGitSettings(c, program.Known(d))
			d = path.Dir(d)
		}
	}
}

// setting judges a setting: some are command lines, some name code or other addresses.
func setting(c *program.Call, key string, val program.Word) {
	k := strings.ToLower(key)
	section, _, _ := strings.Cut(k, ".")
	last := k[strings.LastIndexByte(k, '.')+1:]
	switch {
	case val.Unknown && k == "":
		c.Unclear("a setting of git is not known")
	case section == "alias":
		if cmd, ok := strings.CutPrefix(val.Text, "!"); ok || val.Unknown {
			c.RunNested(program.Word{Text: cmd + aliasArguments(c, k), Unknown: val.Unknown})
		} else {
			c.RunNested(program.Word{Text: "git " + val.Text + aliasArguments(c, k)})
		}
	case isCommand(k, section, last):
		switch {
		case section == "pager" && (val.Text == "false" || val.Text == "true"):
		case section == "credential" && !strings.HasPrefix(val.Text, "!") && !strings.Contains(val.Text, "/"): // a helper of git's own
		default:
			c.RunNested(program.Word{Text: strings.TrimPrefix(val.Text, "!"), Unknown: val.Unknown})
		}
	case k == "core.fsmonitor" && (val.Text == "true" || val.Text == "false"):
	case section == "gc" && strings.Contains(last, "expire"): // gc then loses commits that nothing else holds
		c.Does |= lost
	case isFile(k, section, last):
		c.Role('r', val)
	case program.Named("core.hookspath|core.fsmonitor|init.templatedir|core.worktree|core.gitdir|core.attributesfile", k) ||
		program.Named("include|includeif|protocol|url", section) || program.Named("vcs|proxy", last) ||
		section == "remote" && program.Named("url|pushurl", last):
		c.Unclear("the setting " + key + " changes which code git runs or where it works")
	}
}

// aliasArguments returns the arguments with which the command calls the alias of a setting, as git adds them to its text.
func aliasArguments(c *program.Call, key string) string {
	if len(c.Operands) == 0 || "alias."+strings.ToLower(c.Operands[0].Text) != key {
		return ""
	}
	var b strings.Builder
	for _, t := range c.Operands[1:] {
		if t.Unknown {
			b.WriteString(" " + t.Raw)
		} else {
			b.WriteString(" '" + strings.ReplaceAll(t.Text, "'", `'\''`) + "'")
		}
	}
	return b.String()
}

// isCommand reports whether the value of a setting is a command line. section and last are the first and the last part of the key.
func isCommand(key, section, last string) bool {
	return program.Named("core.pager|core.editor|core.sshcommand|sequence.editor|core.askpass|diff.external|core.gitproxy", key) ||
		program.Named("core.alternaterefscommand|interactive.difffilter|gpg.ssh.defaultkeycommand|imap.tunnel|instaweb.httpd", key) ||
		program.Named("pager|uploadpack", section) || program.Named("textconv|cmd|command|program|uploadpack|receivepack", last) ||
		program.Named("browser|man|mergetool|difftool|guitool|lfs", section) && last == "path" || section == "merge" && last == "driver" ||
		section == "filter" && program.Named("clean|smudge|process", last) || section == "credential" && last == "helper"
}

// isFile reports whether the value of a setting is a file of which git shows lines: a template, a signature, names of people.
func isFile(key, section, last string) bool {
	return section == "trace2" || key == "commit.template" || key == "core.excludesfile" || key == "diff.orderfile" ||
		strings.HasSuffix(last, "file") && program.Named("blame|mailmap|format|gpg|http|sendemail|core|push", section)
}

// config reads settings, or writes one, which may be a command.
func config(c *program.Call) {
	ops := c.Operands
	if len(ops) > 0 {
		switch ops[0].Text {
		case "get", "list":
			c.File(policy.Read, program.Known(".git/config"))
			return
		case "set", "unset", "edit", "rename-section", "remove-section":
			ops = ops[1:]
			if c.Operands[0].Text != "set" {
				ops = nil
				c.Does |= effect.Write
			}
		}
	}
	writes := len(ops) > 1 || c.HasAny("unset", "unset-all", "e", "rename-section", "remove-section") || c.Does&effect.Write != 0
	if c.HasAny("l", "get", "get-all", "get-regexp", "get-urlmatch") {
		writes = false
	}
	a := policy.Read
	if writes {
		a = policy.Write
	}
	switch {
	case c.Has("global"):
		c.File(a, c.Walk.InHome(".gitconfig"))
	case c.Has("system"):
		c.File(a, program.Known("/etc/gitconfig"))
	case c.Has("f"):
	default:
		c.File(a, program.Known(".git/config"))
	}
	if writes && len(ops) > 1 {
		setting(c, ops[0].Text, ops[1])
	}
}
