package shell

import (
	"path"
	"strings"

	"mycelium/internal/policy"
)

// tests is test and [: what it asks of a file is a read of it.
func tests(c *call, args []text) {
	for i, t := range args {
		if fileTest(t.s) && i+1 < len(args) {
			if next := args[i+1]; !next.unknown {
				c.file(policy.Read, next)
			}
		}
	}
	c.finish()
}

// fileTest reports whether an operator of test looks at a file.
func fileTest(s string) bool {
	return len(s) == 2 && s[0] == '-' && strings.IndexByte("abcdefghkprstuwxGLNOS", s[1]) >= 0
}

// cloudVerb is a command of aws, gcloud and az: those that begin with describe, get, list or show change nothing.
func cloudVerb(c *call) {
	c.does |= doesNetwork
	if len(c.part.Hosts) > 0 { // another address than the cloud's own
		c.does |= doesCloud
	}
	reads, secret := false, false
	for _, t := range c.operands {
		word, _, _ := strings.Cut(t.s, "-")
		switch word {
		case "describe", "get", "list", "ls", "show", "head", "search", "tail", "lookup", "help", "wait", "filter":
			reads = true
		case "secretsmanager", "secrets", "secret", "keyvault", "ssm", "kms", "credential", "credentials", "token", "print", "account-keys", "keys":
			secret = secret || t.s != "account"
		case "create", "delete", "put", "update", "set", "run", "start", "stop", "terminate", "rm", "cp", "sync", "mv", "deploy", "add", "remove", "attach", "detach", "invoke", "publish", "send", "ssh", "execute":
			c.does |= doesCloud
		}
		secret = secret || t.s == "get-session-token" || t.s == "get-login-password" || t.s == "get-access-token" || t.s == "get-password-data"
		if t.unknown {
			c.unclear("which command runs is not known")
		}
	}
	if !reads {
		c.does |= doesCloud
	}
	if secret {
		c.does |= doesSecrets
	}
	c.guess(c.operands)
	c.finish()
}

// showsSecrets is what shows something that may be a secret.
func showsSecrets(c *call) {
	if c.has("raw") || c.has("json") {
		c.does |= doesSecrets
	}
	for _, t := range c.operands {
		if strings.HasPrefix(t.s, "secret") || t.unknown {
			c.does |= doesSecrets
		}
	}
}

// destination is where cp, mv, install and ln write: the path itself, and what it becomes if that is a folder.
func (c *call) destination(to text, sources []text) {
	folder := to.s == "." || to.s == ".." || strings.HasSuffix(to.s, "/") || strings.HasSuffix(to.s, "/.") || strings.HasSuffix(to.s, "/..") || len(sources) > 1 || c.has("t")
	if !folder || to.unknown || to.glob {
		c.file(policy.Write, to)
	}
	if to.unknown || to.glob {
		return
	}
	for i, from := range sources {
		name := path.Base(from.s)
		switch {
		case i >= maxFields:
			c.r.tooMuch()
			return
		case from.unknown || name == "." || name == ".." || name == "/":
			if folder {
				c.file(policy.Write, to)
			}
		case folder || !c.has("T"):
			c.file(policy.Write, text{s: strings.TrimSuffix(to.s, "/") + "/" + name, glob: from.glob})
		}
	}
	c.folder(to)
}

// folder adds what lies in a folder and must not be replaced together with it: the settings of hooks.
func (c *call) folder(to text) {
	switch path.Base(to.s) {
	case ".claude":
		c.file(policy.Write, known(strings.TrimSuffix(to.s, "/")+"/settings.json"))
		c.file(policy.Write, known(strings.TrimSuffix(to.s, "/")+"/settings.local.json"))
	case ".gemini":
		c.file(policy.Write, known(strings.TrimSuffix(to.s, "/")+"/settings.json"))
	}
}

// copied is cp, mv and install: what is read or moved away, and where it goes.
func copied(c *call) {
	sources := c.operands
	to, fixed := c.value("t")
	if c.program.name == "install" && c.has("d") {
		for _, t := range sources {
			c.file(policy.Write, t)
		}
		chmod(c)
		return
	}
	if !fixed {
		if len(sources) < 2 {
			c.role('b', known("."))
			return
		}
		to, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	for _, t := range sources {
		c.file(policy.Read, t)
		if c.program.name == "mv" {
			c.file(policy.Delete, t)
		}
	}
	if c.program.name == "cp" && (c.has("l") || c.has("s")) { // what it makes leads to the source
		for _, t := range sources {
			c.file(policy.Write, t)
		}
		c.leads(to, sources, ".")
	}
	c.destination(to, sources)
	if c.program.name == "install" {
		chmod(c)
	}
}

// linked is ln: the link is written, and what it leads to is read. The target of a symbolic link is meant from where the link is.
func linked(c *call) {
	targets := c.operands
	to, fixed := c.value("t")
	switch {
	case fixed:
	case len(targets) > 1:
		to, targets = targets[len(targets)-1], targets[:len(targets)-1]
	default:
		to = known(".")
	}
	at := path.Dir(to.s)
	if strings.HasSuffix(to.s, "/") || to.s == "." || to.s == ".." || len(targets) > 1 || fixed {
		at = to.s
	}
	for _, t := range targets {
		if c.has("s") && !c.has("r") && !t.unknown && !strings.HasPrefix(t.s, "/") {
			t.s = strings.TrimSuffix(at, "/") + "/" + t.s
		}
		c.file(policy.Read, t)
		c.file(policy.Write, t) // through the link: of a hard one no later call can tell where it leads
	}
	c.destination(to, targets)
	if c.has("s") {
		c.leads(to, targets, at)
	}
}

// leads remembers symbolic links: where a later part of the same command goes through them.
func (c *call) leads(to text, targets []text, at string) {
	for _, t := range targets {
		if t.unknown || to.unknown || len(c.r.links) >= maxFields {
			continue
		}
		if !strings.HasPrefix(t.s, "/") {
			t.s = strings.TrimSuffix(at, "/") + "/" + t.s
		}
		for _, d := range c.st.dirs {
			name, leads := joinPath(d, to.s), joinPath(d, t.s)
			c.r.links = append(c.r.links, link{name, leads}, link{name + "/" + path.Base(t.s), leads})
		}
	}
}

// patched is patch, git apply, git am and cpio: which files they write stands in what they read.
func patched(c *call) {
	if c.program.name == "unzip" {
		if !c.has("l") && !c.has("p") && !c.has("t") && !c.has("v") {
			if to, ok := c.value("d"); ok {
				c.enter(to)
			}
			c.unpacks()
		}
		return
	}
	switch c.program.name {
	case "x|e": // of 7z
		if !c.has("o") {
			c.unpacks()
		}
		return
	case "ar":
		if len(c.operands) > 0 && strings.Contains(c.operands[0].s, "x") {
			c.unpacks()
		}
		return
	}
	if c.program.name == "zip" {
		for i, w := range c.words {
			if w.s == "-TT" && i+1 < len(c.words) {
				c.nested(c.words[i+1])
			}
		}
		return
	}
	if c.program.name == "cpio" && !c.has("i") && !c.has("p") || c.has("dry-run") {
		return
	}
	c.unclear("which files it writes stands in what it reads")
}

// goRun is go run: what it runs is a file, a folder or a package, which may come from elsewhere.
func goRun(c *call) {
	if v, ok := c.value("ldflags"); ok && (v.unknown || strings.Contains(v.s, "-ext")) {
		c.unclear("another linker runs")
	}
	if c.program.name != "run" {
		for _, t := range c.operands { // a version of a module: whoever has it is asked
			if strings.Contains(t.s, "@") {
				c.does |= doesNetwork | doesUpload
			}
		}
		return
	}
	for i, t := range c.operands {
		switch {
		case t.unknown:
			c.unclear("what go run runs is not known")
		case i == 0 && strings.Contains(t.s, "@"):
			c.does |= doesInstall | doesNetwork
			c.guess(c.operands[1:])
			return
		case i == 0 || strings.HasSuffix(t.s, ".go"):
			c.file(policy.Execute, t)
		default:
			c.guess(c.operands[i:])
			return
		}
	}
}

// dryRun is a publication that only shows what it would do.
func dryRun(c *call) {
	if c.has("dry-run") || c.has("n") {
		c.does &^= doesPublish
	}
	if v, ok := c.value("secret"); ok {
		c.does |= doesSecrets
		if _, src, found := strings.Cut(v.s, "src="); found {
			c.file(policy.Read, v.from(len(v.s)-len(src)))
		}
	}
	if v, _ := c.value("o"); c.has("push") || strings.Contains(v.s, "push=true") || strings.Contains(v.s, "type=registry") {
		c.does |= doesPublish
	}
}

// targets looks for words among the arguments of a build that say that it does more than build: deploy, publish, db:drop.
func (c *call) targets(args []text) {
	for _, t := range args {
		word := strings.ToLower(t.s)
		if i := strings.LastIndexByte(word, ':'); i >= 0 && !strings.HasPrefix(word, "db:") {
			word = word[i+1:]
		}
		head, _, _ := strings.Cut(word, "-")
		switch {
		case head == "deploy" || head == "publish" || head == "release" && t.s != "Release" || head == "upload" || word == "nexus-publish" || strings.HasPrefix(word, "publishto"):
			c.does |= doesPublish | doesNetwork
		case word == "db:drop" || word == "db:reset" || word == "db:purge" || word == "db:schema:load" || word == "flush" || word == "sqlflush" || word == "reset_db" || word == "db:migrate:reset" || word == "dropdb":
			c.does |= doesDatabase
		case word == "install" && c.program != nil && c.program.name == "make" || word == "uninstall":
			c.does |= doesInstall
		}
	}
}

// writtenHere marks the parts that execute what an earlier part of the same command wrote (W3).
func (r *reader) writtenHere() {
	var written []string
	for i := range r.parts {
		p := &r.parts[i]
		for _, at := range p.Paths {
			if at.Access != policy.Execute || at.Clean == "" {
				continue
			}
			if contains(written, at.Clean) || r.unpacked(at.Clean, i) {
				p.Effects = append(p.Effects, policy.EffectWrittenHere)
				break
			}
		}
		for _, at := range p.Paths {
			if at.Access == policy.Write && at.Clean != "" {
				written = append(written, at.Clean)
			}
		}
	}
}

// tree is a folder into which a part writes files that the command does not name.
type tree struct {
	dir  string
	part int
}

// unpacks says that the call writes files into its working directory that nobody named.
func (c *call) unpacks() {
	c.file(policy.Write, known("."))
	for _, d := range c.st.dirs {
		c.folder(known(d))
	}
	for _, d := range c.st.dirs {
		c.r.trees = append(c.r.trees, tree{d, len(c.r.parts)})
	}
}

func (r *reader) unpacked(file string, part int) bool {
	for _, t := range r.trees {
		if t.part < part && strings.HasPrefix(file, t.dir+"/") {
			return true
		}
	}
	return false
}
