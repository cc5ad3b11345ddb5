package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
)

// set is the state after an assignment, with what it means for the commands that follow.
func (r *reader) set(st state, name string, vals ...text) state {
	if r.assigned++; r.assigned > maxBindings {
		r.tooMuch()
		return st
	}
	switch name {
	case "IFS":
		r.ifs = true
	case "PATH":
		r.path = true
	}
	return st.with(name, vals...)
}

// assign is an assignment that stays.
func (r *reader) assign(a *syntax.Assign, st state) state {
	if a.Index != nil {
		r.arithm(a.Index, st)
	}
	if a.Name == nil {
		if a.Value != nil {
			r.one(a.Value, st)
		}
		return st
	}
	name := a.Name.Value
	var vals []text
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				vals = r.expand(vals, e.Value, st)
			}
		}
	case a.Value != nil:
		vals = []text{r.one(a.Value, st)}
	case a.Naked:
		return st
	default:
		vals = []text{{}}
	}
	if a.Append || a.Index != nil {
		before, _ := st.lookup(name)
		if vals = appended(before, vals, a); vals == nil {
			vals = unknownVals
		}
	}
	if len(vals) == 1 {
		r.notice(name, vals[0], st)
	}
	return r.set(st, name, vals...)
}

// appended is X+=value; nil where that is not known.
func appended(before, vals []text, a *syntax.Assign) []text {
	switch {
	case before == nil || a.Index != nil:
		return nil
	case a.Array != nil:
		return append(before[:len(before):len(before)], vals...)
	case len(before) == 1 && len(vals) == 1 && !before[0].unknown:
		t := before[0]
		t.s += vals[0].s
		t.unknown = vals[0].unknown
		return []text{t}
	}
	return nil
}

// notice makes a part of an assignment that changes what later commands do.
func (r *reader) notice(name string, val text, st state) {
	if meaningOf(name) == plainVariable {
		return
	}
	c := call{r: r, st: st, words: []text{{s: name + "=" + val.s}}}
	c.variable(name, val)
	if c.does != 0 || len(c.part.Unclear) > 0 || len(c.part.Paths) > 0 {
		c.does |= doesExecute
		c.finish()
	}
}

// declaration is export, declare, local, readonly and typeset.
func (r *reader) declaration(d *syntax.DeclClause, st state) state {
	shows := true // every variable
	for _, a := range d.Args {
		shows = shows && a.Name == nil
	}
	if shows {
		r.add(policy.Part{Program: d.Variant.Value, Argv: []string{d.Variant.Value}}, doesExecute|doesSecrets)
	}
	for _, a := range d.Args {
		if a.Name != nil && a.Naked && d.Variant.Value == "export" && meaningOf(a.Name.Value) != plainVariable {
			if vals, ok := st.lookup(a.Name.Value); ok && len(vals) == 1 {
				r.notice(a.Name.Value, vals[0], st)
			}
		}
		st = r.assign(a, st)
	}
	return st
}

// meaning is what a variable of the environment means to programs.
type meaning uint8

const (
	plainVariable  meaning = iota
	ourVariable            // who we are to ourselves: W8
	agentVariable          // where an agent finds its settings: W9
	commandVar             // a command line that programs run
	loadVariable           // code that programs load
	searchVariable         // folders where code is looked for
	folderVariable         // where a program works
)

// meaningOf is the table of variables.
func meaningOf(name string) meaning {
	switch name {
	case "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GEMINI_CLI", "CODEX_SANDBOX", "CRUSH":
		return ourVariable
	case "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_HOME", "CRUSH_GLOBAL_CONFIG", "ANTHROPIC_BASE_URL":
		return agentVariable
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS",
		"GIT_PROXY_COMMAND", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER", "RUSTC_WRAPPER", "RSYNC_RSH", "CVS_RSH", "SUDO_ASKPASS", "PROMPT_COMMAND", "MAKE_SHELL":
		return commandVar
	case "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "PERL5OPT", "RUBYOPT", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "PATH", "SHELL", "HOME", "XDG_CONFIG_HOME", "MAKEFLAGS", "GOFLAGS", "npm_config_script_shell", "IFS":
		return loadVariable
	case "PYTHONPATH", "PERL5LIB", "RUBYLIB", "NODE_PATH", "CLASSPATH":
		return searchVariable
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY":
		return folderVariable
	}
	switch {
	case strings.HasPrefix(name, "MYCELIUM_"):
		return ourVariable
	case strings.HasPrefix(name, "GIT_CONFIG"), strings.HasPrefix(name, "DYLD_"):
		return loadVariable
	}
	return plainVariable
}

// variables looks at the assignments before a command.
func (c *call) variables() {
	for _, v := range c.env {
		c.variable(v.name, v.val)
	}
}

// variable says what an assignment means for the command.
func (c *call) variable(name string, val text) {
	switch meaningOf(name) {
	case plainVariable:
	case ourVariable:
		c.does |= doesOperator
	case agentVariable:
		c.does |= doesAgent
	case commandVar:
		if val.s != "" || val.unknown {
			c.nested(val)
		}
	case loadVariable:
		if name == "IFS" && strings.Trim(val.s, " \t\n,:;|=") == "" && !val.unknown {
			return
		}
		if (name == "NODE_OPTIONS" || name == "JAVA_TOOL_OPTIONS" || name == "MAKEFLAGS" || name == "GOFLAGS") && plainOptions(val) || val.s == "" && !val.unknown {
			return
		}
		c.unclear(name + " changes which code runs")
	case searchVariable:
		for dir := range strings.SplitSeq(val.s, ":") {
			if dir != "" && (!val.unknown || !strings.HasSuffix(val.s, dir)) {
				c.file(policy.Read, known(dir))
			}
		}
	case folderVariable:
		c.role('b', val)
	}
}

// plainOptions reports whether none of the options names code.
func plainOptions(val text) bool {
	if val.unknown {
		return false
	}
	for w := range strings.FieldsSeq(val.s) {
		switch name, _, _ := strings.Cut(w, "="); name {
		case "--max-old-space-size", "--experimental-vm-modules", "--no-warnings", "--enable-source-maps", "--trace-warnings", "--openssl-legacy-provider",
			"-Xmx512m", "-Xmx1g", "-Xmx2g", "-Xmx4g", "-mod", "-race", "-count", "-tags", "-v", "-trimpath", "--unhandled-rejections", "--trace-deprecation":
		default:
			if !strings.HasPrefix(w, "-j") && !strings.HasPrefix(w, "-Xm") {
				return false
			}
		}
	}
	return true
}
