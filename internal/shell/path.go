package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
)

// joinPath is a path from a folder, cleaned.
func joinPath(dir, s string) string {
	if strings.HasPrefix(s, "/") {
		return path.Clean(s)
	}
	return path.Join(dir, s)
}

// file adds a path of the command.
func (c *call) file(a policy.Access, t text) {
	if c.r.away {
		c.does |= ofAccess(a)
		if a != policy.Read {
			c.unclear("the file is elsewhere")
		}
		return
	}
	paths, does, why := c.r.place(a, t, c.st)
	c.does |= does
	if why != "" {
		c.unclear(why)
	}
	c.part.Paths = append(c.part.Paths, paths...)
}

// place is where a word leads, from each folder that may be the working directory.
func (r *reader) place(a policy.Access, t text, st state) (paths []policy.Path, does effects, why string) {
	does = ofAccess(a)
	if t.s == "" && !t.unknown {
		return nil, 0, ""
	}
	if t.unknown {
		if t.maybe != "" {
			paths, _, _ = r.place(a, text{s: t.maybe}, st)
		}
		return paths, does, "which path is meant is not known"
	}
	if device(t.s) {
		return nil, 0, ""
	}
	s := t.s
	if t.glob {
		for _, name := range protectedBy(s) {
			more, _, _ := r.place(a, text{s: name}, st)
			paths = append(paths, more...)
		}
		s = globbed(a, s)
	}
	if strings.HasPrefix(s, "/") {
		return r.through(append(paths, policy.Path{Access: a, Raw: s, Clean: path.Clean(s)})), does, ""
	}
	if st.lost {
		why = "the working directory is not known"
		paths = append(paths, policy.Path{Access: a, Raw: s})
	}
	for _, d := range st.dirs {
		p := policy.Path{Access: a, Raw: s, Clean: path.Join(d, s)}
		if d != r.o.Dir {
			p.Raw = d + "/" + s // as the kernel walks it, links and ".." included
		}
		paths = append(paths, p)
	}
	return r.through(paths), does, why
}

// link is a symbolic link that the command makes: nobody can resolve it on the disk before it runs.
type link struct{ at, to string }

// through adds where paths lead through the links that the command made before.
func (r *reader) through(paths []policy.Path) []policy.Path {
	for _, l := range r.links {
		for _, p := range paths[:len(paths):len(paths)] {
			if p.Clean != l.at && !strings.HasPrefix(p.Clean, l.at+"/") || len(paths) > maxFields {
				continue
			}
			to := path.Join(l.to, p.Clean[len(l.at):])
			paths = append(paths, policy.Path{Access: p.Access, Raw: to, Clean: to})
		}
	}
	return paths
}

// globbed is the place that a pattern stands for. Where it is deleted and matches nearly everything, that is the whole folder.
func globbed(a policy.Access, s string) string {
	if a != policy.Delete {
		return s
	}
	dir, last := path.Split(s)
	for strings.ContainsAny(dir, "*?[") && broad(path.Base(dir)) {
		dir, last = path.Split(strings.TrimSuffix(dir, "/"))
	}
	if !broad(last) {
		return s
	}
	if dir == "" {
		return "."
	}
	return dir
}

// protected are names that rules and base constraints speak of, as far as a pattern that begins with a character of its own may be
// meant for one of them.
var protected = [...]string{".env", ".env.local", ".env.production", ".netrc", ".npmrc", ".git-credentials", "id_rsa", "id_ed25519", "credentials.json", "credentials.yaml",
	"secrets.json", "secrets.yaml", ".git", "mycelium.yaml", "rules.yaml", "config.json", ".mcp.json", "crush.json", ".crush.json", "skills", "roles", "protocols", "workflows",
	".mycelium", ".claude", ".codex", ".gemini", ".crush", "settings.json", "settings.local.json", ".ssh", ".aws", ".gnupg", ".kube", "passwd", "shadow"}

// protectedBy are the paths with a protected name that a pattern matches. What the others match only the file system tells, which
// the gate asks.
func protectedBy(pattern string) []string {
	last := strings.TrimRight(pattern, "/")
	dir := ""
	if i := strings.LastIndexByte(last, '/'); i >= 0 {
		dir, last = last[:i+1], last[i+1:]
	}
	if last == "" || last[0] == '*' || last[0] != '.' && broad(last) || !strings.ContainsAny(last, "*?[") {
		return nil
	}
	var list []string
	for _, name := range protected {
		if matchGlob(last, name, false) {
			list = append(list, dir+name)
		}
	}
	return list
}

// broad reports whether a pattern has no letter or digit of its own.
func broad(s string) bool {
	if !strings.ContainsAny(s, "*?[") {
		return false
	}
	in := false
	for i := range len(s) {
		switch c := lower(s[i]); {
		case c == '[':
			in = true
		case c == ']':
			in = false
		case !in && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80):
			return false
		}
	}
	return true
}

// device reports whether a path is a stream, which is nobody's file.
func device(s string) bool {
	switch s {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full":
		return true
	}
	rest, ok := strings.CutPrefix(s, "/dev/fd/")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// files are what redirections do.
type files struct {
	paths   []policy.Path
	hosts   []string
	unclear []string
	does    effects
}

// redirected is redirects where the command is no simple one: what it does gets a part of its own.
func (r *reader) redirected(s *syntax.Stmt, st state, in *input) {
	r.addFiles(r.redirects(s.Redirs, st, in))
}

func (r *reader) addFiles(f *files) {
	if f == nil || len(f.paths)+len(f.hosts)+len(f.unclear) == 0 {
		return
	}
	if len(f.unclear) > 0 {
		f.does |= doesUnclear
	}
	r.add(policy.Part{Paths: f.paths, Hosts: f.hosts, Unclear: f.unclear}, f.does)
}

// redirects reads redirections: which files they open, and what comes to standard input.
func (r *reader) redirects(list []*syntax.Redirect, st state, in *input) *files {
	if len(list) == 0 {
		return nil
	}
	f := &files{}
	for _, d := range list {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			doc := r.document(d, st)
			*in = input{doc: &doc}
		case syntax.WordHdoc:
			doc := r.one(d.Word, st)
			*in = input{doc: &doc}
		case syntax.DplIn, syntax.DplOut:
			t := r.one(d.Word, st)
			if strings.Trim(t.s, "0123456789-") != "" || t.unknown { // >&file
				r.open(f, policy.Write, t, st)
			}
		default:
			for _, t := range r.expand(nil, d.Word, st) {
				switch d.Op {
				case syntax.RdrIn:
					from := t
					*in = input{file: &from}
					r.open(f, policy.Read, t, st)
				case syntax.RdrInOut:
					r.open(f, policy.Read, t, st)
					r.open(f, policy.Write, t, st)
				default:
					r.open(f, policy.Write, t, st)
				}
			}
		}
	}
	return f
}

// document is the text of a here-document.
func (r *reader) document(d *syntax.Redirect, st state) text {
	if d.Hdoc == nil {
		return text{}
	}
	quoted := false
	for _, p := range d.Word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.IndexByte(p.Value, '\\') >= 0
		default:
			quoted = true
		}
	}
	if quoted {
		return known(d.Hdoc.Lit())
	}
	b := builder{r: r, st: st, whole: true}
	b.parts(d.Hdoc.Parts, true)
	return b.cur
}

// open adds a file that a redirection opens.
func (r *reader) open(f *files, a policy.Access, t text, st state) {
	if rest, ok := strings.CutPrefix(t.s, "/dev/tcp/"); ok {
		r.socket(f, rest)
		return
	}
	if rest, ok := strings.CutPrefix(t.s, "/dev/udp/"); ok {
		r.socket(f, rest)
		return
	}
	paths, does, why := r.place(a, t, st)
	f.paths = append(f.paths, paths...)
	f.does |= does
	if why != "" {
		f.unclear = append(f.unclear, why)
	}
}

// socket is a connection of bash: /dev/tcp/host/port.
func (r *reader) socket(f *files, rest string) {
	host, _, _ := strings.Cut(rest, "/")
	if host = strings.ToLower(host); !contains(f.hosts, host) {
		f.hosts = append(f.hosts, host)
	}
	f.does |= doesNetwork | doesUpload
}

// host adds a host that the command reaches: user@host, host:port, host:path, an address.
func (c *call) host(t text) {
	c.does |= doesNetwork
	if t.unknown {
		c.unclear("which host is meant is not known")
		return
	}
	if t.s == "" {
		return
	}
	if h := hostOf(t.s); h != "" && !contains(c.part.Hosts, h) {
		c.part.Hosts = append(c.part.Hosts, h)
	}
}

// address takes a word that is an address, scheme://host/…; a file address is a path.
func (c *call) address(t text) bool {
	i := strings.Index(t.s, "://")
	if i <= 0 || strings.ContainsAny(t.s[:i], "/ ") {
		return false
	}
	if strings.EqualFold(t.s[:i], "file") {
		c.file(policy.Read, t.from(i+3))
		return true
	}
	c.host(t)
	return true
}

// hostOf is the host of an address, lower case.
func hostOf(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	if i := strings.IndexAny(s, `/?#\`); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	if strings.HasPrefix(s, "[") {
		s, _, _ = strings.Cut(s[1:], "]")
	} else if strings.Count(s, ":") < 2 {
		s, _, _ = strings.Cut(s, ":")
	}
	return strings.TrimSuffix(strings.ToLower(s), ".")
}
