package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
)

// call is one simple command on its way to a part.
type call struct {
	r        *reader
	st       state
	in       input
	words    []text
	env      []variable // assigned for this command only
	files    *files     // its redirections; nil when some part has them
	part     policy.Part
	does     effects
	program  *program
	found    []option
	operands []text
	options  bool // something unknown may be an option
	ok, fail state
}

// variable is an assignment before a command.
type variable struct {
	name string
	val  text
}

// option is an option that the table names.
type option struct {
	name string
	val  text
	has  bool // it has a value
}

// simple walks assignments, words and redirections.
func (r *reader) simple(c *syntax.CallExpr, redirs []*syntax.Redirect, st state, in input) (ok, fail state) {
	f := r.redirects(redirs, st, &in)
	words := r.fields(c.Args, st)
	if len(words) == 0 {
		before := st
		for _, a := range c.Assigns {
			st = r.assign(a, st)
		}
		if len(c.Args) > 0 { // its only word was "$X", and that is empty
			st = before
		}
		r.addFiles(f)
		return st, st
	}
	x := call{r: r, st: st, in: in, words: words, files: f, ok: st, fail: st}
	for _, a := range c.Assigns {
		if a.Name == nil {
			continue
		}
		val := text{unknown: a.Append || a.Array != nil || a.Index != nil}
		if a.Value != nil {
			v := r.one(a.Value, st)
			v.unknown = v.unknown || val.unknown
			val = v
		}
		x.env = append(x.env, variable{a.Name.Value, val})
	}
	x.variables()
	x.run()
	if x.files != nil {
		r.addFiles(x.files)
	}
	return x.ok, x.fail
}

// run finds out what the first word names, and what it does.
func (c *call) run() {
	r := c.r
	if r.nodes++; r.nodes > maxNodes || r.over {
		r.tooMuch()
		return
	}
	if r.depth++; r.depth > maxDepth {
		r.depth--
		r.tooMuch()
		return
	}
	defer func() { r.depth-- }()
	t := c.words[0]
	if t.unknown || t.glob || t.s == "" {
		c.unclear("which program runs is not known")
		c.does |= doesExecute
		c.guess(c.words[1:])
		c.finish()
		return
	}
	if strings.IndexByte(t.s, '/') < 0 && c.function(t.s) {
		return
	}
	c.part.Program = path.Base(t.s)
	c.does |= doesExecute
	if strings.IndexByte(t.s, '/') >= 0 && !systemFolder(path.Dir(t.s)) {
		c.file(policy.Execute, t)
		if p := find(c.part.Program); !toolFolder(path.Dir(t.s)) && (p == nil || p.raw != asOurs && p.raw != asAgent) {
			c.does |= doesProjectCode
			c.targets(c.words[1:])
			c.guess(c.words[1:])
			c.byName(p, c.words[1:])
			c.finish()
			return
		}
	}
	if r.path && !isBuiltin(c.part.Program) {
		c.unclear("PATH was changed: which program runs is not known")
	}
	c.evaluatesNames()
	c.program = find(c.part.Program)
	if c.program == nil {
		c.does |= doesUnknown
		c.guess(c.words[1:])
		c.finish()
		return
	}
	c.known(c.program, c.words[1:])
}

// known reads the arguments of a program of the table.
func (c *call) known(p *program, args []text) {
	c.program = p
	if len(args) == 1 && (args[0].s == "--version" || args[0].s == "--help") && !args[0].unknown {
		c.finish()
		return
	}
	c.does |= p.does
	if p.raw != 0 { // it reads its arguments itself
		c.perform(p.raw, args)
		return
	}
	c.scan(p, args)
	if p.shows != "" && c.shows(p) {
		c.does &^= p.does
		c.finish()
		return
	}
	if p.subs != nil {
		c.sub(p)
		return
	}
	c.spread(p)
	c.consider(p.do)
	c.finish()
}

// shows reports whether an option was given with which the program only shows something.
func (c *call) shows(p *program) bool {
	for name := range strings.FieldsSeq(p.shows) {
		if c.has(name) {
			return true
		}
	}
	return false
}

// sub goes on with the subcommand that is the first operand.
func (c *call) sub(p *program) {
	c.consider(p.do)
	if len(c.operands) == 0 {
		if len(c.found) == 0 && p.alone != 0 {
			c.does |= p.alone
		}
		c.finish()
		return
	}
	t := c.operands[0]
	if t.unknown || t.glob {
		c.unclear("which subcommand runs is not known")
		c.finish()
		return
	}
	for i := range p.subs {
		if named(p.subs[i].name, t.s) {
			c.known(&p.subs[i], c.operands[1:])
			return
		}
	}
	if p.other != 0 {
		c.perform(p.other, nil)
		return
	}
	if c.does |= p.rest; p.rest == 0 {
		c.does |= doesUnknown
	}
	c.guess(c.operands[1:])
	c.finish()
}

// named reports whether a name is one of "a|b|c".
func named(names, s string) bool {
	for names != "" {
		var one string
		one, names, _ = strings.Cut(names, "|")
		if one == s {
			return true
		}
	}
	return false
}

// finish makes the part.
func (c *call) finish() {
	if c.files != nil {
		c.part.Paths = append(c.part.Paths, c.files.paths...)
		c.part.Hosts = append(c.part.Hosts, c.files.hosts...)
		c.part.Unclear = append(c.part.Unclear, c.files.unclear...)
		c.does |= c.files.does
		c.files = nil
	}
	if len(c.part.Hosts) > 0 && isService(c.part.Program) {
		c.does |= doesUpload // a machine that the command names itself learns what it names there
	}
	if len(c.part.Unclear) > 0 {
		c.does |= doesUnclear
	}
	c.part.Argv = make([]string, len(c.words))
	for i, w := range c.words {
		if c.part.Argv[i] = w.s; w.unknown {
			c.part.Argv[i] = w.raw
		}
	}
	for _, p := range c.part.Paths {
		c.does |= ofAccess(p.Access)
	}
	c.secrets()
	c.r.moved = c.r.moved || c.moves()
	c.r.add(c.part, c.does)
	c.part, c.does = policy.Part{}, 0
}

// secrets reports a variable that looks like a secret among the words: what gets it may show it or send it.
func (c *call) secrets() {
	if c.part.Program == "test" || c.part.Program == "[" {
		return
	}
	for i := range c.words {
		c.does |= c.words[i].by & doesSecrets
	}
}

// again runs the words that a wrapper was given, in its place.
func (c *call) again(words []text) {
	if len(words) == 0 {
		c.finish()
		return
	}
	inner := call{r: c.r, st: c.st, in: c.in, words: words, env: c.env, files: c.files, ok: c.ok, fail: c.fail}
	inner.does = c.does &^ (doesExecute | c.program.does)
	inner.part.Unclear = c.part.Unclear
	inner.part.Paths = c.part.Paths
	inner.part.Hosts = c.part.Hosts
	c.part, c.files = policy.Part{}, nil
	inner.run()
	c.ok, c.fail = inner.ok, inner.fail
	c.files = inner.files
}

// line runs a text as a shell would.
func (c *call) line(t text, args []text) {
	if t.unknown {
		c.does |= doesInlineCode
		if t.by&doesNetwork != 0 {
			c.does |= doesRemoteCode
		}
		c.unclear("the text that is run as a command is not known")
		return
	}
	st := c.st
	for _, v := range c.env {
		st = c.r.set(st, v.name, v.val)
	}
	if args != nil {
		st = st.with("@", args...).with("*", args...)
		for n := 0; n < len(args) && n < 9; n++ {
			st = st.with(digits[n+1], args[n])
		}
	}
	c.ok, c.fail = c.r.script(t.s, st, c.in)
}

func (c *call) unclear(why string) {
	if !contains(c.part.Unclear, why) {
		c.part.Unclear = append(c.part.Unclear, why)
	}
	c.does |= doesUnclear
}

// has reports whether an option was given, by the first of its names.
func (c *call) has(name string) bool {
	for i := range c.found {
		if c.found[i].name == name {
			return true
		}
	}
	return false
}

// value is the last value of an option.
func (c *call) value(name string) (text, bool) {
	for i := len(c.found) - 1; i >= 0; i-- {
		if c.found[i].name == name && c.found[i].has {
			return c.found[i].val, true
		}
	}
	return text{}, false
}

// function calls the functions of that name that the command declared; which of them it is may depend on what came before.
func (c *call) function(name string) bool {
	first, some := state{dead: true}, false
	ok, fail := first, first
	for i := 0; i < len(c.r.funcs); i++ {
		if c.r.funcs[i].name == name {
			some = true
			st := c.st
			for _, v := range c.env {
				st = c.r.set(st, v.name, v.val)
			}
			args := c.words[1:]
			if args == nil {
				args = []text{}
			}
			o, f := c.r.invoke(i, args, st, c.in)
			ok, fail = join(ok, o), join(fail, f)
		}
	}
	if some {
		c.ok, c.fail = ok, fail
	}
	return some
}

// guess takes the paths from arguments of which nobody knows what they mean: what looks like a path is read and written.
func (c *call) guess(args []text) {
	for _, t := range args {
		if t.unknown {
			c.unclear("an argument is not known")
			continue
		}
		if strings.HasPrefix(t.s, "-") {
			i := strings.IndexByte(t.s, '=')
			if i < 0 {
				if i = strings.IndexByte(t.s, '/'); i < 0 {
					continue
				}
				i-- // -I/usr/include
			}
			t = t.from(i + 1)
		}
		c.maybePath(t)
	}
}

// maybePath takes a path that is read and written, if it looks like one.
func (c *call) maybePath(t text) {
	if c.address(t) {
		return
	}
	if looksLikePath(t.s) {
		c.file(policy.Read, t)
		c.file(policy.Write, t)
	}
}

// looksLikePath: it has a slash, or is a name with a dot such as a.txt or .env.
func looksLikePath(s string) bool {
	if s == "" || s == "-" || strings.ContainsAny(s, "\n") {
		return false
	}
	if strings.IndexByte(s, '/') >= 0 {
		return true
	}
	if s[0] == '~' || s == "." || s == ".." {
		return true
	}
	i := strings.LastIndexByte(s, '.')
	return i >= 0 && i < len(s)-1 && strings.IndexByte(s, ' ') < 0
}

// systemFolder reports whether programs are where the system has them.
func systemFolder(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/local/go/bin", "/snap/bin":
		return true
	}
	return false
}

// toolFolder reports whether programs there are those that their names say: installed by a package manager for a project.
func toolFolder(dir string) bool {
	return strings.HasSuffix(dir, "node_modules/.bin") || strings.HasSuffix(dir, "venv/bin") || strings.HasSuffix(dir, "/.cargo/bin") || strings.HasSuffix(dir, "vendor/bin")
}
