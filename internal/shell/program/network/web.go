package network

import (
	"regexp"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/address"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// curl sends the values of -d, -F and -T, and writes the files of -o and -O.
func curl(c *program.Call) {
	for _, o := range c.Options {
		switch o.Name {
		case "d", "data-ascii", "data-binary", "data-urlencode", "json", "F", "url-query":
			c.Does |= effect.Upload
			attached(c, o)
		case "data-raw", "form-string", "T", "Q":
			c.Does |= effect.Upload
		case "X":
			if m := strings.ToUpper(o.Value.Text); m != "GET" && m != "HEAD" && m != "OPTIONS" {
				c.Does |= effect.Upload
			}
		case "n":
			c.Unclear("it sends passwords of the user")
		case "O", "remote-name-all":
			fetched(c, "output-dir")
			if c.Has("J") {
				c.Unclear("the other machine says which file is written")
			}
		case "o":
			outputPattern(c, o.Value)
		case "b":
			if !strings.Contains(o.Value.Text, "=") {
				c.Role('r', o.Value)
			}
		case "H", "variable", "w":
			if strings.Contains(o.Value.Text, "%output{") {
				c.Unclear("where its output is written is not known")
			}
			if rest, ok := strings.CutPrefix(o.Value.Text, "@"); ok {
				c.Role('r', program.Word{Text: rest, Unknown: o.Value.Unknown})
			}
		case "unix-socket":
			c.Does |= effect.Process
			ourSocket(c, o.Value)
		case "connect-to", "resolve":
			c.Unclear("the host is not the one that the address names")
		}
	}
	if c.Has("G") {
		c.Does &^= effect.Upload
	}
	addresses(c, c.Operands)
}

// fetched writes a file for each address, with the last name in it, into the working directory or the folder of an option.
func fetched(c *program.Call, option string) {
	folder, _ := c.Value(option)
	some := false
	for _, t := range slices.Concat(c.Operands, values(c, "url")) {
		name := program.FetchedName(t)
		if name.Text == "" {
			name.Text = "index.html"
		}
		some = true
		name.Pattern = name.Pattern || globs.Has(name.Text)
		if folder.Text != "" {
			name.Text, name.Unknown = strings.TrimSuffix(folder.Text, "/")+"/"+name.Text, name.Unknown || folder.Unknown
		}
		c.File(policy.Write, name)
	}
	if !some {
		c.File(policy.Write, program.Known("."))
	}
}

func values(c *program.Call, option string) (list []program.Word) {
	for _, o := range c.Options {
		if o.Name == option && o.HasValue {
			list = append(list, o.Value)
		}
	}
	return list
}

// outputPattern writes the file of -o in the folder of --output-dir. In its name #1 stands for a part of the address.
func outputPattern(c *program.Call, to program.Word) {
	if dir, ok := c.Value("output-dir"); ok && !strings.HasPrefix(to.Text, "/") {
		to.Text, to.Unknown = strings.TrimSuffix(dir.Text, "/")+"/"+to.Text, to.Unknown || dir.Unknown
		c.Role('w', to)
	}
	if numbered := partOfAddress.ReplaceAllString(to.Text, program.AnyText); numbered != to.Text {
		to.Text, to.Pattern = numbered, true
		c.Role('w', to)
	}
}

// partOfAddress matches #1 in the name of a file.
var partOfAddress = regexp.MustCompile(`#[0-9]+`)

// attached handles @file in a value to send, and name=@file or name=<file in a form.
func attached(c *program.Call, o program.Option) {
	s := o.Value.Text
	if o.Name == "F" || o.Name == "data-urlencode" {
		if i := strings.IndexAny(s, "=@"); i >= 0 && s[i] == '=' {
			s = s[i+1:]
		}
	}
	if s == "" || s[0] != '@' && (s[0] != '<' || o.Name != "F") {
		return
	}
	s = s[1:]
	if o.Name == "F" {
		s, _, _ = strings.Cut(s, ";")
	}
	if s != "-" || o.Value.Unknown {
		c.Role('r', program.Word{Text: s, Unknown: o.Value.Unknown})
	}
}

// addresses looks for our own daemon, and for files, among addresses.
func addresses(c *program.Call, list []program.Word) {
	for _, t := range list {
		scheme, _, _ := strings.Cut(t.Text, "://")
		switch strings.ToLower(scheme) {
		case strings.ToLower(t.Text), "http", "https", "ws", "wss":
		case "file":
			program.FileAddress(c, t.Tail(len(scheme)+1))
		default:
			c.Unclear("what is said in " + scheme + " is not known")
		}
		ourAddress(c, t.Text)
		if a := address.Read(t.Text); a.Scheme == "" && strings.Trim(a.Port, "0123456789") != "" { // http:host
			c.Unclear("programs do not agree which host the address means")
		}
	}
}

// ourAddress reports an act of the operator if an address is that of our daemon.
func ourAddress(c *program.Call, s string) {
	if strings.Contains(s, ":"+program.DaemonPort) || address.Read(s).Port == program.DaemonPort {
		c.Does |= effect.Operator
	}
}

// ourSocket reports an act of the operator if a socket may be that of our daemon.
func ourSocket(c *program.Call, t program.Word) {
	if strings.Contains(t.Text, "mycelium") || t.Unknown {
		c.Does |= effect.Operator
	}
}

// wget writes what it fetches into the working directory, unless -O says otherwise.
func wget(c *program.Call) {
	if c.HasAny("e", "config") {
		c.Unclear("settings of wget that were not read")
	}
	for _, o := range c.Options {
		switch o.Name {
		case "post-file", "body-file", "post-data", "body-data":
			c.Does |= effect.Upload
		case "method":
			if m := strings.ToUpper(o.Value.Text); m != "GET" && m != "HEAD" {
				c.Does |= effect.Upload
			}
		}
	}
	switch {
	case c.HasAny("O", "spider"):
	case c.HasAny("content-disposition", "trust-server-names"):
		c.Unclear("the other machine says which file is written")
	case c.HasAny("r", "m", "p", "x"):
		c.File(policy.Write, program.Known("."))
		if c.Has("P") || program.ContainsText(c.Words, "-nH") || program.ContainsText(c.Words, "-nd") || c.Said("no-host-directories", 4) {
			c.Unclear("which files are written stands in the addresses")
		}
		fetched(c, "P")
	default:
		fetched(c, "P")
	}
	addresses(c, c.Operands)
}

// request handles httpie: with a field or a method it sends something.
func request(c *program.Call) {
	for _, t := range c.Operands {
		switch s := t.Text; {
		case strings.ToUpper(s) == s && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && s != "":
			if s != "GET" && s != "HEAD" {
				c.Does |= effect.Upload
			}
		case strings.Contains(s, "=@") || len(c.Part.Hosts) > 0 && strings.Contains(s, "@"): // field=@file, field@file, @file
			c.Does |= effect.Upload
			_, file, _ := strings.Cut(s, "@")
			c.Role('r', program.Word{Text: file, Unknown: t.Unknown})
		case strings.Contains(s, "==") || strings.Contains(s, "://") || strings.HasPrefix(s, ":") || !strings.ContainsAny(s, "=@"):
			if len(c.Part.Hosts) == 0 {
				c.Host(t)
			}
			ourAddress(c, s)
		default:
			c.Does |= effect.Upload
		}
	}
}
