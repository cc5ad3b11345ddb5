package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/sandbox/jail"
)

// A profile is read back here by the grammar of Scheme, and asked for single paths. There are two ways in which the rules may be meant: the last
// one that matches decides, or a rule over one operation goes before those over a group. What must be closed is closed in both.

// sexp is a list, a symbol or a string.
type sexp struct {
	list []sexp
	text string
	str  bool
}

// readProfile reads all forms of a profile.
func readProfile(text string) (out []sexp, err error) {
	for rest := text; ; {
		rest = strings.TrimLeft(rest, " \n")
		if rest == "" {
			return out, nil
		}
		var form sexp
		if form, rest, err = readForm(rest); err != nil {
			return nil, err
		}
		out = append(out, form)
	}
}

func readForm(s string) (form sexp, rest string, err error) {
	switch s[0] {
	case '(':
		for s = s[1:]; ; {
			s = strings.TrimLeft(s, " \n")
			if s == "" {
				return form, "", fmt.Errorf("a list does not end")
			}
			if s[0] == ')' {
				return form, s[1:], nil
			}
			var in sexp
			if in, s, err = readForm(s); err != nil {
				return form, "", err
			}
			form.list = append(form.list, in)
		}
	case ')':
		return form, "", fmt.Errorf("a list ends that has not begun")
	case '"':
		var text strings.Builder
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '"':
				return sexp{text: text.String(), str: true}, s[i+1:], nil
			case '\\':
				if i++; i == len(s) || s[i] != '"' && s[i] != '\\' {
					return form, "", fmt.Errorf("an escape that is not known")
				}
			}
			text.WriteByte(s[i])
		}
		return form, "", fmt.Errorf("a string does not end")
	}
	i := strings.IndexAny(s, " \n()\"")
	if i < 0 {
		i = len(s)
	}
	return sexp{text: s[:i]}, s[i:], nil
}

// sbRule is one rule: the first word is allow or deny, and the filters follow the operations.
type sbRule struct {
	allow      bool
	operations []string
	filters    []sbFilter
}

// sbFilter is a filter over paths; one over something else matches no path.
type sbFilter struct {
	kind, text string
	regex      *regexp.Regexp
}

// rulesOf reads the rules of a profile, and fails where a form is none.
func rulesOf(t testing.TB, text string) (out []sbRule) {
	t.Helper()
	forms, err := readProfile(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if len(forms) < 2 || forms[0].list[0].text != "version" || forms[1].list[0].text != "deny" || forms[1].list[1].text != "default" {
		t.Fatalf("the profile does not begin with its version and deny default:\n%s", text)
	}
	for _, f := range forms[2:] {
		r := sbRule{allow: f.list[0].text == "allow"}
		if !r.allow && f.list[0].text != "deny" {
			t.Fatalf("there is no rule %q", f.list[0].text)
		}
		for _, w := range f.list[1:] {
			if w.list == nil && !w.str {
				r.operations = append(r.operations, w.text)
			} else {
				f := sbFilter{kind: w.list[0].text}
				if len(w.list) == 2 && w.list[1].str {
					f.text = w.list[1].text
				}
				if f.kind == "regex" {
					f.regex = regexp.MustCompile(f.text)
				}
				r.filters = append(r.filters, f)
			}
		}
		out = append(out, r)
	}
	return out
}

// matches reports whether a filter over paths matches.
func (f sbFilter) matches(path string) bool {
	switch f.kind {
	case "literal":
		return path == f.text
	case "subpath":
		return path == f.text || strings.HasPrefix(path, f.text+"/")
	case "regex":
		return f.regex.MatchString(path)
	}
	return false
}

// decide returns the word of the last rule about a path, among those over operations that names takes.
func decide(rules []sbRule, path string, names func(pattern string) bool) (allow, found bool) {
	for _, r := range slices.Backward(rules) {
		if !slices.ContainsFunc(r.operations, names) {
			continue
		}
		if len(r.filters) == 0 || slices.ContainsFunc(r.filters, func(f sbFilter) bool { return f.matches(path) }) {
			return r.allow, true
		}
	}
	return false, false
}

// allowed returns the answers of both ways of meaning: allowed in one of them, and in both.
func allowed(rules []sbRule, operation, path string) (either, both bool) {
	group := func(pattern string) bool {
		stem, is := strings.CutSuffix(pattern, "*")
		return is && strings.HasPrefix(operation, stem)
	}
	exactly := func(pattern string) bool { return pattern == operation }
	last, _ := decide(rules, path, func(p string) bool { return exactly(p) || group(p) })
	special, found := decide(rules, path, exactly)
	if !found {
		special, _ = decide(rules, path, group)
	}
	return last || special, last && special
}

// The operations that are asked for.
var (
	readOperations  = []string{"file-read-data", "file-read-xattr", "process-exec"}
	writeOperations = []string{"file-write-data", "file-write-create", "file-write-unlink", "file-write-mode"}
)

// names are those of random paths. No two are the same on a volume that ignores case.
var seatNames = []string{"a", "Kit", "settings", `q"uote`, `back\slash`, "li\nne", "é", "(p)", "x y", ".env", "a+b*[c]", "$v^|{2}?"}

func seatPath(r *rand.Rand, root string, least, most int) string {
	for range least + r.IntN(most-least+1) {
		root += "/" + seatNames[r.IntN(len(seatNames))]
	}
	return root
}

// otherCase changes the case of letters of a path below a folder, as a volume that ignores case would take for the same one.
func otherCase(r *rand.Rand, path string) string {
	var out strings.Builder
	for _, c := range path {
		s := string(c)
		switch r.IntN(4) {
		case 0:
			s = strings.ToUpper(s)
		case 1:
			s = strings.ToLower(s)
		case 2:
			s = strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(s)
		}
		out.WriteString(s)
	}
	return out.String()
}

// randomSpec is a command with random parts: in place, moved, in memory, links and covers.
func randomSpec(r *rand.Rand) *jail.Spec {
	s := &jail.Spec{Argv: []string{"true"}, Dir: "/p", Fork: true, Unseen: unseen()}
	for range 1 + r.IntN(6) {
		target := seatPath(r, "/p", 0, 3)
		switch r.IntN(5) {
		case 0:
			s.Binds = append(s.Binds, jail.Bind{Kind: jail.Temp, Target: target})
		case 1:
			s.Binds = append(s.Binds, jail.Bind{Kind: jail.Tree, Source: seatPath(r, "/src", 1, 2), Target: target, Write: r.IntN(2) == 0})
		case 2:
			s.Binds = append(s.Binds, jail.Bind{Kind: jail.Link, Source: "/elsewhere", Target: target})
		default:
			s.Binds = append(s.Binds, jail.Bind{Kind: jail.Tree, Source: target, Target: target, Write: r.IntN(2) == 0, Strict: r.IntN(2) == 0})
		}
	}
	for range r.IntN(3) {
		s.Masks = append(s.Masks, seatPath(r, "/p", 1, 4))
	}
	return s
}

// showsOnLinux says how a command finds a file of the machine on Linux, under any name: the view that the child makes of the same description. A
// link over a file of the machine counts as that file, read-only: it leads to a copy of it.
func showsOnLinux(s *jail.Spec, path string) (read, write bool) {
	at := func(inside string) {
		if slices.ContainsFunc(s.Masks, func(m string) bool { return below(inside, m) }) {
			return
		}
		linked := false
		for _, b := range slices.Backward(s.Binds) {
			if !below(inside, b.Target) {
				continue
			}
			if b.Kind == jail.Link {
				linked = true
				continue
			}
			if b.Kind == jail.Tree && b.Source+strings.TrimPrefix(inside, b.Target) == path {
				read, write = true, write || b.Write && !linked
			}
			return
		}
	}
	at(path)
	for _, b := range s.Binds {
		if b.Kind == jail.Tree && b.Source != b.Target && below(path, b.Source) {
			at(b.Target + strings.TrimPrefix(path, b.Source))
		}
	}
	return read, write
}

const seatFolder = "/own/seat"

// compareViews fails where the profile of a description opens a path that the view of Linux closes, or, if no two names of its paths differ in
// case only, closes one that it opens in place.
func compareViews(t testing.TB, r *rand.Rand, spec *jail.Spec, distinct bool) {
	t.Helper()
	seat, err := spec.Seatbelt(seatFolder, 0)
	if err != nil && strings.Contains(err.Error(), "cannot stand over other parts") {
		return // nothing runs
	}
	if err != nil {
		t.Fatal(err)
	}
	rules := rulesOf(t, seat.Text)
	for range 60 {
		path := seatPath(r, []string{"/p", "/src", "/other"}[r.IntN(3)], 0, 5)
		if n := len(spec.Binds); r.IntN(2) == 0 {
			path = seatPath(r, spec.Binds[r.IntN(n)].Target, 0, 2)
		}
		asked := path
		if r.IntN(2) == 0 {
			asked = otherCase(r, path)
		}
		read, write := showsOnLinux(spec, path)
		for _, o := range readOperations {
			if either, _ := allowed(rules, o, asked); either && !read {
				t.Fatalf("%s of %q is allowed, and %q is closed on Linux:\n%+v\n%s", o, asked, path, spec, seat.Text)
			}
		}
		for _, o := range writeOperations {
			if either, _ := allowed(rules, o, asked); either && !write {
				t.Fatalf("%s of %q is allowed, and %q is not written on Linux:\n%+v\n%s", o, asked, path, spec, seat.Text)
			}
		}
		inPlace := distinct && !slices.ContainsFunc(spec.Binds, func(b jail.Bind) bool { return b.Source != b.Target })
		if _, both := allowed(rules, "file-read-data", path); read && inPlace && !both {
			t.Fatalf("%q is not read, as it is on Linux:\n%+v\n%s", path, spec, seat.Text)
		}
		if _, both := allowed(rules, "file-write-data", path); write && inPlace && !both {
			t.Fatalf("%q is not written, as it is on Linux:\n%+v\n%s", path, spec, seat.Text)
		}
	}
	covered := slices.Clone(spec.Masks)
	for _, b := range spec.Binds {
		if b.Kind != jail.Link { // it may be in memory
			covered = append(covered, b.Target)
		}
	}
	for _, path := range covered { // whoever renames a folder above takes the path away from its rules
		for dir := path; dir != "/"; dir = filepath.Dir(dir) {
			if either, _ := allowed(rules, "file-write-unlink", otherCase(r, dir)); either {
				if _, writes := showsOnLinux(spec, dir); writes {
					t.Fatalf("%q can be renamed, and %q has rules of its own:\n%+v\n%s", dir, path, spec, seat.Text)
				}
			}
		}
	}
	for _, m := range spec.Masks {
		if either, _ := allowed(rules, "file-read-metadata", m); either {
			t.Fatalf("%q can be looked at:\n%+v\n%s", m, spec, seat.Text)
		}
	}
}

// TestSeatbeltOpensNoMore: for random descriptions the profile opens nothing that the view of Linux closes, in any case of the letters, and
// what has rules of its own stays at its path.
func TestSeatbeltOpensNoMore(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(165, 30)) //nolint:gosec // the same descriptions each time
	for range 1000 {
		compareViews(t, r, randomSpec(r), true)
	}
}

// FuzzSeatbelt is [TestSeatbeltOpensNoMore] from any beginning, with any name in a path.
func FuzzSeatbelt(f *testing.F) {
	f.Add(uint64(1), "name")
	f.Add(uint64(2), "\"))(allow default)(\"")
	f.Add(uint64(3), "\\\"\n;")
	f.Fuzz(func(t *testing.T, seed uint64, name string) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // as above
		spec := randomSpec(r)
		path := "/p/" + name
		spec.Masks = append(spec.Masks, path)
		if seat, err := spec.Seatbelt(seatFolder, 0); err != nil {
			return // it cannot be named, and nothing runs
		} else if either, _ := allowed(rulesOf(t, seat.Text), "file-read-data", path); either {
			t.Fatalf("%q is covered, and is read:\n%s", path, seat.Text)
		}
		compareViews(t, r, spec, false)
	})
}

// TestSeatbeltText: the whole profile of a small command, so that a change of it is seen.
func TestSeatbeltText(t *testing.T) {
	t.Parallel()
	spec := &jail.Spec{Argv: []string{"true"}, Dir: "/Users/me/p", Fork: true,
		Binds: []jail.Bind{{Kind: jail.Tree, Source: "/usr", Target: "/usr"}, {Kind: jail.Link, Source: "private/etc", Target: "/etc"},
			{Kind: jail.Temp, Target: "/tmp"}, {Kind: jail.Temp, Target: "/Users/me"},
			{Kind: jail.Tree, Source: "/Users/me/p", Target: "/Users/me/p", Write: true},
			{Kind: jail.Tree, Source: "/Users/me/p/.mcp.json", Target: "/Users/me/p/.mcp.json", Strict: true}},
		Masks: []string{"/Users/me/p/.env"}, Unseen: unseen(),
		Guards: []jail.Guard{{Folder: "/Users/me/p", Name: ".claude/settings.json", Anywhere: true}}}
	seat, err := spec.Seatbelt("/private/var/folders/x/T/seatbelt-1", 4711)
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(seat.Text, "(allow process-fork)\n")
	_, after, _ := strings.Cut(got, "(deny file-write* (regex \"(\u200b|")
	got = strings.TrimSuffix(got, after)
	_, after, _ = strings.Cut(after, "\n")
	want, err := os.ReadFile("testdata/seatbelt.sb")
	if got += "…\n" + after; err != nil || got != string(want) {
		t.Errorf("the profile is\n%s\nand not that of testdata/seatbelt.sb, %v", got, err)
	}
}

// TestSeatbeltQuotes: a path is one string, whatever is in it, and one that cannot stand in a profile is refused.
func TestSeatbeltQuotes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`a"b`, `a\`, `\"`, "a\nb", "é", "日本", `")) (allow default) ((`, "#|", ";x", "a b", "$(id)"} {
		spec := &jail.Spec{Argv: []string{"true"}, Dir: "/p", Binds: []jail.Bind{{Kind: jail.Tree, Source: "/p", Target: "/p", Write: true}},
			Masks: []string{"/p/" + name}}
		seat, err := spec.Seatbelt(seatFolder, 0)
		if err != nil {
			t.Fatal(err)
		}
		rules := rulesOf(t, seat.Text)
		if either, _ := allowed(rules, "file-read-data", "/p/"+name); either {
			t.Errorf("%q is read", name)
		}
		if _, both := allowed(rules, "file-read-data", "/p/other"); !both {
			t.Errorf("beside %q nothing is read", name)
		}
	}
	for _, path := range []string{"relative", "/a/../b", "/a\x00", "/a\xff", "/"} {
		spec := &jail.Spec{Argv: []string{"true"}, Dir: "/p", Masks: []string{path}}
		if _, err := spec.Seatbelt(seatFolder, 0); err == nil {
			t.Errorf("%q can be named", path)
		}
	}
}

// TestSeatbeltGuards: names that govern cannot be made in any case of their letters, nor with characters that HFS+ ignores, at any depth.
func TestSeatbeltGuards(t *testing.T) {
	t.Parallel()
	spec := &jail.Spec{Argv: []string{"true"}, Dir: "/p", Binds: []jail.Bind{{Kind: jail.Tree, Source: "/p", Target: "/p", Write: true}},
		Unseen: unseen(), Guards: []jail.Guard{{Folder: "/p", Name: ".claude/settings.json", Anywhere: true}, {Folder: "/p", Name: ".mcp.json"},
			{Folder: "/p", Name: "id_rsa", Anywhere: true, Hidden: true}}}
	seat, err := spec.Seatbelt(seatFolder, 0)
	if err != nil {
		t.Fatal(err)
	}
	rules := rulesOf(t, seat.Text)
	for path, want := range map[string]struct{ read, write bool }{
		"/p/.claude/settings.json":           {true, false},
		"/p/a/b/.CLAUDE/ſETTINGS.JSON":       {true, false},
		"/p/.claude/settings.json/x":         {true, false},
		"/p/.claude/settings.jsonx":          {true, true},
		"/p/x.claude/settings.json":          {true, true},
		"/p/.claude/other":                   {true, true},
		"/p/.MCP.json":                       {true, false},
		"/p/a/.mcp.json":                     {true, true},
		"/p/a/ID_RSA":                        {false, false},
		"/p/.cla\u200cude/settings.json":     {true, false},
		"/p/li\nne/.claude/settings.json":    {true, false},
		"/p/.claude/settings.json.tmp.12345": {true, true},
	} {
		read, _ := allowed(rules, "file-read-data", path)
		write, _ := allowed(rules, "file-write-create", path)
		if read != want.read || write != want.write {
			t.Errorf("%q: read %v, write %v, want %+v", path, read, write, want)
		}
	}
}

// TestSeatbeltMoves: a part that the command finds elsewhere on Linux stays at its path, and the command gets that path.
func TestSeatbeltMoves(t *testing.T) {
	t.Parallel()
	spec := &jail.Spec{Argv: []string{"python3", "/run/mycelium/files/x.py", "/tmp", "say /tmp/x"}, Dir: "/Users/me/p",
		Env: []string{"HOME=/Users/me", "TMPDIR=/tmp", "XDG_CACHE_HOME=/Users/me/.cache", "PATH=/usr/bin:/Users/me/.cargo/bin:/Users/me/x",
			"GOPROXY=file:///run/mycelium/modules,https://proxy.golang.org,direct", "http_proxy=http://" + jail.ListenAddr, "PLAIN=a/b"},
		Binds: []jail.Bind{{Kind: jail.Temp, Target: "/tmp"}, {Kind: jail.Temp, Target: "/run"}, {Kind: jail.Temp, Target: "/Users/me"},
			{Kind: jail.Tree, Source: "/Users/me/.cargo/bin", Target: "/Users/me/.cargo/bin"},
			{Kind: jail.Tree, Source: "/state/caches", Target: "/Users/me/.cache", Write: true},
			{Kind: jail.Tree, Source: "/state/modules", Target: "/run/mycelium/modules"},
			{Kind: jail.Tree, Source: "/state/run/files", Target: "/run/mycelium/files"},
			{Kind: jail.Link, Source: "/Users/me/.cache/go-mod", Target: "/Users/me/go/pkg/mod"},
			{Kind: jail.File, Target: "/run/mycelium/ca.pem", Data: []byte("x")},
			{Kind: jail.Tree, Source: "/Users/me/p", Target: "/Users/me/p", Write: true},
			{Kind: jail.Link, Source: "/run/mycelium/git/0/config", Target: "/Users/me/p/.git/config"}},
		Masks: []string{"/state"}}
	seat, err := spec.Seatbelt(seatFolder, 4711)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"python3", "/state/run/files/x.py", seatFolder + "/0", "say /tmp/x"}; !slices.Equal(seat.Argv, want) {
		t.Errorf("arguments %q, want %q", seat.Argv, want)
	}
	want := []string{"HOME=/own/seat/2", "TMPDIR=/own/seat/0", "XDG_CACHE_HOME=/state/caches",
		"PATH=/usr/bin:/Users/me/.cargo/bin:/own/seat/2/x", "GOPROXY=file:///state/modules,https://proxy.golang.org,direct",
		"http_proxy=http://127.0.0.1:4711", "PLAIN=a/b"}
	if !slices.Equal(seat.Env, want) {
		t.Errorf("environment %q, want %q", seat.Env, want)
	}
	links := map[string]string{}
	for _, l := range seat.Links {
		links[l.Target] = l.Source
	}
	for at, to := range map[string]string{"/own/seat/2/.cargo/bin": "/Users/me/.cargo/bin", "/own/seat/2/.cache": "/state/caches",
		"/own/seat/2/go/pkg/mod": "/state/caches/go-mod", "/own/seat/2/p": "/Users/me/p"} {
		if links[at] != to {
			t.Errorf("%s leads to %q, want %s", at, links[at], to)
		}
	}
	if len(seat.Files) != 1 || seat.Files[0].Target != "/own/seat/1/mycelium/ca.pem" {
		t.Errorf("files %+v", seat.Files)
	}
	rules := rulesOf(t, seat.Text)
	for path, want := range map[string]struct{ read, write bool }{
		"/state": {}, "/state/audit.jsonl": {}, "/state/caches/x": {true, true}, "/state/modules/m": {true, false},
		"/state/run/files/x.py": {true, false}, "/Users/me/.ssh/id": {}, "/Users/me/.cache/x": {}, "/own/seat/0/x": {true, true},
		"/own/seat/profile.sb": {}, "/own/seat/canary": {},
		"/Users/me/p/.git/config": {true, false}, "/Users/me/p/.git/config.lock": {true, true}, "/Users/me/p/.GIT/Config": {true, false},
	} {
		read, _ := allowed(rules, "file-read-data", path)
		write, _ := allowed(rules, "file-write-data", path)
		if read != want.read || write != want.write {
			t.Errorf("%q: read %v, write %v, want %+v", path, read, write, want)
		}
	}
}

// TestSeatbeltPins: the folders above a path with rules of its own stay at their paths, and others do not.
func TestSeatbeltPins(t *testing.T) {
	t.Parallel()
	spec := &jail.Spec{Argv: []string{"true"}, Dir: "/p", Masks: []string{"/p/a/.env"}, Binds: []jail.Bind{
		{Kind: jail.Tree, Source: "/p", Target: "/p", Write: true}, {Kind: jail.Link, Source: "/x", Target: "/p/.git/config"}}}
	seat, err := spec.Seatbelt(seatFolder, 0)
	if err != nil {
		t.Fatal(err)
	}
	rules := rulesOf(t, seat.Text)
	for path, want := range map[string]bool{"/p": false, "/p/a": false, "/p/A": false, "/p/.git": false, "/p/a/.env": false, "/p/a/b": true,
		"/p/.git/index": true, "/p/b": true} {
		if got, _ := allowed(rules, "file-write-unlink", path); got != want {
			t.Errorf("%s can be renamed: %v", path, got)
		}
	}
}

// TestSeatbeltNetwork: a command reaches the port of its proxy and sockets in its own folders. Nothing else of the network, and no process
// outside, is opened, and links and clones are not made.
func TestSeatbeltNetwork(t *testing.T) {
	t.Parallel()
	spec := &jail.Spec{Argv: []string{"true"}, Dir: "/p", Binds: []jail.Bind{{Kind: jail.Temp, Target: "/tmp"}}}
	for port, want := range map[int]string{0: "", 4711: `(allow network-outbound (remote ip "localhost:4711"))`} {
		seat, err := spec.Seatbelt(seatFolder, port)
		if err != nil {
			t.Fatal(err)
		}
		var about []string
		for line := range strings.Lines(seat.Text) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "(allow") && strings.Contains(line, "network") && !strings.Contains(line, `unix-socket (subpath "`+seatFolder+`/0")`) {
				about = append(about, line)
			}
			if strings.HasPrefix(line, "(allow signal") && line != "(allow signal (target same-sandbox))" || strings.Contains(line, "procargs") ||
				strings.HasPrefix(line, "(allow process-fork") {
				t.Errorf("port %d: %s", port, line)
			}
		}
		if got := strings.Join(about, "\n"); got != want {
			t.Errorf("port %d opens %q", port, got)
		}
		rules := rulesOf(t, seat.Text)
		for _, o := range []string{"file-link", "file-clone", "process-fork", "file-ioctl", "forbidden-exec-sugid", "mach-register"} {
			if either, _ := allowed(rules, o, filepath.Join(seatFolder, "0", "x")); either {
				t.Errorf("port %d: %s is allowed", port, o)
			}
		}
	}
}

// TestSeatbeltLinksOfMacOS: paths through the links that every macOS has are named without them.
func TestSeatbeltLinksOfMacOS(t *testing.T) {
	t.Parallel()
	spec := &jail.Spec{Argv: []string{"true"}, Dir: "/tmp/p", Binds: []jail.Bind{{Kind: jail.Tree, Source: "/tmp/p", Target: "/tmp/p", Write: true},
		{Kind: jail.Tree, Source: "/variant", Target: "/variant"}}, Masks: []string{"/tmp/p/.env"}}
	seat, err := spec.Seatbelt("/var/folders/x", 0)
	if err != nil {
		t.Fatal(err)
	}
	rules := rulesOf(t, seat.Text)
	for path, want := range map[string]bool{"/private/tmp/p/x": true, "/private/tmp/p/.ENV": false, "/tmp/p/x": false, "/variant/x": true} {
		if got, _ := allowed(rules, "file-read-data", path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
