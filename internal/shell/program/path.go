package program

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
)

// JoinPath returns the path that s names in a folder, cleaned.
func JoinPath(dir, s string) string {
	if strings.HasPrefix(s, "/") {
		return path.Clean(s)
	}
	return path.Join(dir, s)
}

// InHome returns the path of a file in the home folder.
func (w *Walk) InHome(name string) Word {
	if w.Home == "" {
		return Word{Unknown: true}
	}
	return Known(w.Home + "/" + name)
}

// File adds a path of the command.
func (c *Call) File(a policy.Access, w Word) {
	if c.Walk.Elsewhere {
		c.Does |= effect.Of(a)
		if a != policy.Read {
			c.Unclear("the file is elsewhere")
		}
		return
	}
	paths, does, why := c.Walk.place(c.Part.Paths, a, w, c.State)
	c.Part.Paths = paths
	c.Does |= does
	if why != "" {
		c.Unclear(why)
	}
}

// Guess takes paths from arguments whose meaning is not known: what looks like a path is read and written.
func (c *Call) Guess(args []Word) {
	for _, w := range args {
		if w.Unknown {
			c.Unclear("an argument is not known")
			continue
		}
		if strings.HasPrefix(w.Text, "-") {
			i := strings.IndexByte(w.Text, '=')
			if i < 0 {
				if i = strings.IndexByte(w.Text, '/'); i < 0 {
					continue
				}
				i-- // -I/usr/include
			}
			w = w.Tail(i + 1)
		}
		c.MaybePath(w)
	}
}

// MaybePath takes a word that is an address, or that is read and written if it looks like a path.
func (c *Call) MaybePath(w Word) {
	if c.Address(w) {
		return
	}
	if looksLikePath(w.Text) {
		c.File(policy.Read, w)
		c.File(policy.Write, w)
	}
}

// looksLikePath reports whether a text has a slash, or is a name with a dot such as a.txt or .env.
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

// Open adds a file that a redirection opens.
func (w *Walk) Open(f *Files, a policy.Access, name Word, s State) {
	for _, prefix := range [...]string{"/dev/tcp/", "/dev/udp/"} { // connections of bash: /dev/tcp/host/port
		if rest, ok := strings.CutPrefix(name.Text, prefix); ok {
			host, _, _ := strings.Cut(rest, "/")
			if host = strings.ToLower(host); !slices.Contains(f.Hosts, host) {
				f.Hosts = append(f.Hosts, host)
			}
			f.Does |= effect.Network | effect.Upload
			return
		}
	}
	paths, does, why := w.place(f.Paths, a, name, s)
	f.Paths = paths
	f.Does |= does
	if why != "" {
		f.Unclear = append(f.Unclear, why)
	}
}

// place appends to paths where a word leads from each folder that may be the working directory. why says what is not known about it.
func (w *Walk) place(paths []policy.Path, a policy.Access, name Word, st State) (all []policy.Path, does effect.Set, why string) {
	does = effect.Of(a)
	switch {
	case name.Unknown:
		if name.Default != "" {
			paths, _, _ = w.place(paths, a, Word{Text: name.Default}, st)
		}
		return paths, does, "which path is meant is not known"
	case name.Text == "" || IsStream(name.Text):
		return paths, 0, ""
	}
	s, from := name.Text, len(paths)
	if name.Pattern {
		for _, match := range protectedMatches(s) {
			paths, _, _ = w.place(paths, a, Word{Text: match}, st)
		}
		s = patternPlace(a, s)
	}
	if strings.HasPrefix(s, "/") {
		return w.follow(append(paths, policy.Path{Access: a, Raw: s, Clean: path.Clean(s)}), from), does, ""
	}
	if st.Lost {
		why = "the working directory is not known"
		paths = append(paths, policy.Path{Access: a, Raw: s})
	}
	for _, d := range st.Dirs {
		p := policy.Path{Access: a, Raw: s, Clean: path.Join(d, s)}
		if d != w.Dir {
			p.Raw = d + "/" + s // the path as the kernel walks it, with links and ".."
		}
		paths = append(paths, p)
	}
	return w.follow(paths, from), does, why
}

// link is a symbolic link that the command makes. Before the command runs, it cannot be resolved on the disk.
type link struct{ at, to string }

// follow appends where the paths from an index on lead through the links that the command made before.
func (w *Walk) follow(paths []policy.Path, from int) []policy.Path {
	for _, l := range w.links {
		for _, p := range paths[from:len(paths):len(paths)] {
			if p.Clean != l.at && !strings.HasPrefix(p.Clean, l.at+"/") || len(paths)-from > MaxWords {
				continue
			}
			to := path.Join(l.to, p.Clean[len(l.at):])
			paths = append(paths, policy.Path{Access: p.Access, Raw: to, Clean: to})
		}
	}
	return paths
}

// Link records symbolic links to the targets: a later part of the same command may go through them. A relative target is meant from the
// folder at.
func (c *Call) Link(to Word, targets []Word, at string) {
	for _, w := range targets {
		if w.Unknown || to.Unknown || len(c.Walk.links) >= MaxWords {
			continue
		}
		if !strings.HasPrefix(w.Text, "/") {
			w.Text = strings.TrimSuffix(at, "/") + "/" + w.Text
		}
		for _, d := range c.State.Dirs {
			name, target := JoinPath(d, to.Text), JoinPath(d, w.Text)
			c.Walk.links = append(c.Walk.links, link{name, target}, link{name + "/" + path.Base(w.Text), target})
		}
	}
}

// Unpack records that the command writes files into its working directory that it does not name.
func (c *Call) Unpack() {
	c.File(policy.Write, Known("."))
	for _, d := range c.State.Dirs {
		c.WriteSettings(Known(d))
	}
	for _, d := range c.State.Dirs {
		c.Walk.unpacked = append(c.Walk.unpacked, unpacked{d, len(c.Walk.Parts)})
	}
}

// WriteSettings adds the files with the settings of hooks, if they lie in a folder that is written as a whole.
func (c *Call) WriteSettings(folder Word) {
	dir := strings.TrimSuffix(folder.Text, "/")
	switch path.Base(folder.Text) {
	case ".claude":
		c.File(policy.Write, Known(dir+"/settings.json"))
		c.File(policy.Write, Known(dir+"/settings.local.json"))
	case ".gemini":
		c.File(policy.Write, Known(dir+"/settings.json"))
	}
}

// patternPlace returns the place that a pattern stands for. If nearly everything matches a pattern that is deleted, that is the folder.
func patternPlace(a policy.Access, s string) string {
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

// protected are names that rules and base constraints speak of. A pattern that begins with a character of its own may be meant for one of
// them.
var protected = [...]string{".env", ".env.local", ".env.production", ".netrc", ".npmrc", ".git-credentials", "id_rsa", "id_ed25519",
	"credentials.json", "credentials.yaml", "secrets.json", "secrets.yaml", ".git", "mycelium.yaml", "rules.yaml", "config.json", ".mcp.json",
	"crush.json", ".crush.json", "skills", "roles", "protocols", "workflows", ".mycelium", ".claude", ".codex", ".gemini", ".crush",
	"settings.json", "settings.local.json", ".ssh", ".aws", ".gnupg", ".kube", "passwd", "shadow"}

// protectedMatches returns the paths with a protected name that a pattern matches. What else it matches only the file system knows, which
// the gate asks.
func protectedMatches(pattern string) []string {
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
		if MatchPattern(last, name, false) {
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
		switch c := s[i] | 0x20; {
		case s[i] == '[':
			in = true
		case s[i] == ']':
			in = false
		case !in && (c >= 'a' && c <= 'z' || s[i] >= '0' && s[i] <= '9' || s[i] >= 0x80):
			return false
		}
	}
	return true
}

// IsStream reports whether a path is a stream and no file.
func IsStream(s string) bool {
	switch s {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full":
		return true
	}
	rest, ok := strings.CutPrefix(s, "/dev/fd/")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// Host adds a host that the command reaches: user@host, host:port, host:path or an address.
func (c *Call) Host(w Word) {
	c.Does |= effect.Network
	if w.Unknown {
		c.Unclear("which host is meant is not known")
		return
	}
	if w.Text == "" {
		return
	}
	if h := hostOf(w.Text); h != "" && !slices.Contains(c.Part.Hosts, h) {
		c.Part.Hosts = append(c.Part.Hosts, h)
	}
}

// Address takes a word that is an address, scheme://host/…, and reports whether it is one. A file address is a path that is read.
func (c *Call) Address(w Word) bool {
	i := strings.Index(w.Text, "://")
	if i <= 0 || strings.ContainsAny(w.Text[:i], "/ ") {
		return false
	}
	if strings.EqualFold(w.Text[:i], "file") {
		c.File(policy.Read, w.Tail(i+3))
		return true
	}
	c.Host(w)
	return true
}

// hostOf returns the host of an address in lower case.
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

// MatchPattern matches a text with a pattern of * and ?. A bracket matches any character. With slash set, they match "/" too. The work is
// at most the product of the two lengths.
func MatchPattern(p, s string, slash bool) bool {
	i, j := 0, 0
	star, mark := -1, 0 // where the last star stood, and how far it reached
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if n := matchOne(p[i:], s[j], slash); n > 0 {
			i += n
			j++
			continue
		}
		if star < 0 || s[mark] == '/' && !slash {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// matchOne matches one character. It returns how many bytes of the pattern that took; 0 if the character does not match.
func matchOne(p string, c byte, slash bool) int {
	switch {
	case p == "":
		return 0
	case p[0] == '?' && (c != '/' || slash):
		return 1
	case p[0] == '[':
		if end := strings.IndexByte(p[1:], ']'); end > 0 && (c != '/' || slash) {
			return end + 2
		}
	case p[0] == '\\' && len(p) > 1:
		if p[1] == c {
			return 2
		}
		return 0
	}
	if p[0] == c {
		return 1
	}
	return 0
}
