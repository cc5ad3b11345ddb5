package program

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/address"
	"mycelium/internal/policy/globs"
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

// Only marks the paths that add adds to the command as files with which it does no more than only says.
func (c *Call) Only(only policy.Only, add func()) {
	from := len(c.Part.Paths)
	add()
	for i := from; i < len(c.Part.Paths); i++ {
		c.Part.Paths[i].Only = only
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
	if c.Does&effect.ProjectCode != 0 && OwnServer(c, w) || c.Address(w) {
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
			host, _, ends := strings.Cut(rest, "/")
			if name.Unknown && !ends || name.Pattern {
				f.Unclear = append(f.Unclear, "which host is meant is not known")
			}
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
	from := len(paths)
	if name.Pattern {
		if st.sh && matchesParent(name.Text) {
			paths, _, _ = w.place(paths, a, Word{Text: path.Join(path.Dir(name.Text), "..")}, st)
		}
		if all := globs.Alternatives(name.Text); len(all) > 1 {
			for _, one := range all {
				next := name
				next.Text, next.Pattern = one, globs.Has(one)
				var more effect.Set
				var unknown string
				paths, more, unknown = w.place(paths, a, next, st)
				does, why = does|more, cmp.Or(why, unknown)
			}
			return paths, does, why
		}
		name.Text = patternPlace(a, name.Text)
		name.Pattern = globs.Has(name.Text)
	}
	if strings.HasPrefix(name.Text, "/") {
		paths, why = w.follow(append(paths, name.path(a, "", false)), from)
		return paths, does, why
	}
	if st.Lost {
		why = "the working directory is not known"
		paths = append(paths, policy.Path{Access: a, Raw: name.Text, Pattern: name.Pattern, Split: name.Split, File: name.File})
	}
	for _, d := range st.Dirs {
		p := name.path(a, d, name.Text != "." && w.isPattern(d))
		if d != w.Dir {
			p.Raw = d + "/" + p.Raw // the path as the kernel walks it, with links and ".."
		}
		paths = append(paths, p)
	}
	paths, through := w.follow(paths, from)
	return paths, does, cmp.Or(why, through)
}

// matchesParent reports whether the last name of a pattern matches "..", as it does in dash and in older versions of bash.
func matchesParent(pattern string) bool {
	last := path.Base(pattern)
	return strings.HasPrefix(last, ".") && MatchPattern(last, "..", false)
}

// isPattern reports whether a working directory is, or lies in, one of several folders that a pattern matches.
func (w *Walk) isPattern(dir string) bool {
	return slices.ContainsFunc(w.folders, func(f string) bool { return strings.HasPrefix(dir, f) })
}

// path returns the path that a word names in a folder. several is set if the folder is a pattern.
func (w Word) path(a policy.Access, dir string, several bool) policy.Path {
	p := policy.Path{Access: a, Raw: w.Text, Pattern: w.Pattern, Split: w.Split, File: w.File}
	switch {
	case several && !w.Pattern:
		p.Clean = path.Join(dir, globs.Quote(w.Text))
		p.Pattern = globs.Has(p.Clean)
		return p
	case several:
		p.Clean = path.Join(dir, expression("", w.Text))
	case !w.Pattern:
		p.Clean = JoinPath(dir, w.Text)
		return p
	default:
		p.Clean = expression(dir, w.Text)
	}
	for _, e := range w.Except {
		if !strings.HasPrefix(e, "/") {
			e = expression(dir, e)
		}
		p.Except = append(p.Except, e)
	}
	return p
}

// Unpack records that the command writes files into its working directory that it does not name.
func Unpack(c *Call) {
	c.File(policy.Write, Known("."))
	for _, d := range c.State.Dirs {
		WriteSettings(c, Known(d))
	}
	if len(c.Walk.links) > 0 { // the archive may hold them
		c.Walk.loose = append(c.Walk.loose, c.State.Dirs...)
	}
	for _, d := range c.State.Dirs {
		c.Walk.unpacked = append(c.Walk.unpacked, unpacked{d, len(c.Walk.Parts)})
	}
}

// Unpacks records an archive of which the members come into the working directory. at is where the archive's name begins.
func Unpacks(c *Call, archive Word, at State, strip int, members []Word) {
	if archive.Unknown || archive.Text == "-" || archive.Text == "" || at.Lost || c.State.Lost {
		return
	}
	var only []string
	for _, m := range members {
		if m.Unknown {
			only = nil
			break
		}
		only = append(only, strings.Trim(path.Clean(m.Text), "/"))
	}
	for i, from := range at.Dirs {
		for j, to := range c.State.Dirs {
			if i*len(c.State.Dirs)+j < maxDirs {
				p := archive.path(policy.Read, from, false)
				c.Part.Archives = append(c.Part.Archives, policy.Archive{Path: p.Clean, Pattern: p.Pattern, Dir: to, Strip: strip, Only: only})
			}
		}
	}
}

// WriteSettings adds the files with the settings of hooks that may lie in a folder whose files are written under names that are not known.
func WriteSettings(c *Call, folder Word) {
	dir := strings.TrimSuffix(strings.TrimSuffix(folder.Text, "."), "/")
	for _, b := range policy.BasePaths() {
		in, file := path.Split(b.Path)
		in, anywhere := strings.CutPrefix(strings.TrimSuffix(in, "/"), "**/")
		if anywhere && MayBe(path.Base(dir), in) {
			c.File(policy.Write, Word{Text: dir + "/" + file, Pattern: folder.Pattern})
		}
	}
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
	if w.Unknown && (w.Unquoted || !address.NamesHost(w.Text)) {
		c.Unclear("which host is meant is not known")
		return
	}
	if w.Text == "" {
		return
	}
	a := address.Read(w.Text)
	if !a.Clear {
		c.Unclear("programs do not agree which host the address means")
	}
	if a.Host != "" && !slices.Contains(c.Part.Hosts, a.Host) {
		c.Part.Hosts = append(c.Part.Hosts, a.Host)
	}
}

// Address takes a word that is an address, scheme://host/…, and reports whether it is one. A file address is a path that is read.
func (c *Call) Address(w Word) bool {
	if n := len("file:"); len(w.Text) > n && strings.EqualFold(w.Text[:n], "file:") {
		FileAddress(c, w.Tail(n))
		return true
	}
	i := strings.Index(w.Text, "://")
	if i <= 0 || strings.ContainsAny(w.Text[:i], "/ ") {
		return false
	}
	c.Host(w)
	return true
}

// FileAddress reads what a file address names behind the scheme: a path, or a host and a path, in which a character may be written as %2e.
func FileAddress(c *Call, w Word) {
	if rest, ok := strings.CutPrefix(w.Text, "//"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			w.Text = rest[i:]
		}
	}
	for from := 0; ; {
		i := strings.IndexByte(w.Text[from:], '%')
		if i < 0 {
			break
		}
		from += i
		if n, err := strconv.ParseUint(w.Text[from+1:min(from+3, len(w.Text))], 16, 8); err == nil {
			w.Text = w.Text[:from] + string([]byte{byte(n)}) + w.Text[from+3:]
		}
		from++
	}
	w.Pattern = w.Pattern || globs.Has(w.Text)
	c.File(policy.Read, w)
}
