package program

import (
	"path"
	"strings"

	"mycelium/internal/policy"
)

// AnyText is the glob for one character or more: what a program adds to a name.
const AnyText = "{,?}?*"

// Backups writes the copies that a program keeps of what it overwrites: each written path with a suffix behind it.
func Backups(c *Call, options ...string) {
	for _, v := range c.Env {
		if v.Name == "SIMPLE_BACKUP_SUFFIX" {
			backup(c, v.Value)
		}
	}
	if vals, ok := c.State.Lookup("SIMPLE_BACKUP_SUFFIX"); ok && len(vals) == 1 {
		backup(c, vals[0])
	}
	for _, name := range options {
		if v, ok := c.Value(name); ok {
			backup(c, v)
		}
	}
}

func backup(c *Call, suffix Word) {
	if suffix.Unknown {
		c.Unclear("the name of the copy that it keeps is not known")
		return
	}
	for _, p := range c.Part.Paths {
		if p.Access == policy.Write {
			p.Raw, p.Clean = p.Raw+suffix.Text, p.Clean+suffix.Text
			c.Part.Paths = append(c.Part.Paths, p)
		}
	}
}

// InPlace writes files that are edited in place, and the copies that are kept of them: a suffix behind the name, or, if it has stars, the
// name in the place of each.
func InPlace(c *Call, files []Word, suffix Word) {
	for _, f := range files {
		c.File(policy.Write, f)
		switch {
		case suffix.Unknown:
			c.Unclear("the name of the copy that it keeps is not known")
		case suffix.Text == "":
		case strings.Contains(suffix.Text, "*"):
			dir, name := path.Split(f.Text)
			if to := strings.ReplaceAll(suffix.Text, "*", name); strings.Contains(to, "/") {
				f.Text = to
			} else {
				f.Text = dir + to
			}
			c.File(policy.Write, f)
		default:
			f.Text += suffix.Text
			c.File(policy.Write, f)
		}
	}
}

// Counted writes files whose names are a text, a number or a few letters, and another text.
func Counted(c *Call, prefix Word, end string) {
	c.File(policy.Write, prefix)
	var counts []string
	for n := 1; n <= 8; n++ {
		counts = append(counts, strings.Repeat("[a-z0-9]", n))
	}
	prefix.Text += "{" + strings.Join(counts, ",") + "}" + end
	prefix.Pattern = true
	c.File(policy.Write, prefix)
}

// Everything reads all that lies in a folder, besides what the globs leave out.
func Everything(c *Call, folder Word, except ...string) {
	folder.Text = strings.TrimSuffix(folder.Text, "/") + "/**"
	folder.Pattern = true
	folder.Except = except
	c.File(policy.Read, folder)
}

// FetchedName returns the name that a program gives to what it fetches: the last name in the address. "" means that the address has none.
func FetchedName(address Word) Word {
	s, _, _ := strings.Cut(address.Text, "#")
	s, _, _ = strings.Cut(s, "?")
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	_, s, _ = strings.Cut(s, "/")
	address.Text = s[strings.LastIndexByte(s, '/')+1:]
	return address
}
