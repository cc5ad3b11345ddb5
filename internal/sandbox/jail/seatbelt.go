package jail

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The back end seatbelt is sandbox-exec(1) of macOS. It takes a text with rules over operations, in the language of Apple's own profiles.
// Apple does not document that language. The parts that are used here stand in the profiles that Apple ships in /System/Library/Sandbox and in
// those of Codex, Chromium and Claude Code. Nobody has run this text on a Mac yet.
//
// The rules hold these facts:
//   - The last rule that matches an operation decides. A rule over a group (file-read*) may not overrule an earlier one over a member
//     (file-read-data), so whatever is allowed and denied in turns is named by the same group.
//   - Rules are over paths and not over files. So no folder above a path of a deny can be renamed or removed, and there are no hard links
//     and no clones.
//   - A path is matched without links: /tmp is /private/tmp.
//   - The volume ignores case, so a deny holds for every case. An allow holds for the name as it is.

// Guard is a name that no command may make, in a folder that it may write.
type Guard struct {
	Folder   string // absolute
	Name     string // relative, with / between its parts: ".claude/settings.json"
	Anywhere bool   // it may lie in any folder below Folder
	Hidden   bool   // nor may the command read it
}

// Seat is a command as [Seatbelt] runs it. There are no mounts, so a part that a [Spec] shows elsewhere stays at its path, and the command gets
// that path.
type Seat struct {
	Text    string   // the profile, for sandbox-exec(1)
	Argv    []string // as in [Spec], with the paths of the machine
	Env     []string // likewise
	Dir     string   // likewise
	Folders []string // to be made, empty: the places of the parts in memory
	Links   []Bind   // of the kind Link, to be made in these folders. One that leads nowhere is left out
	Files   []Bind   // of the kind File, likewise
}

// seating makes a [Seat].
type seating struct {
	spec   *Spec
	folder string
	text   strings.Builder
	seat   Seat

	pinned []string // neither they nor a folder above them may be renamed
	opened []string // the command must find the way to them
	links  []string // of the machine, which the command may follow
}

// Seatbelt returns the command as sandbox-exec(1) runs it. The folder is absolute and without links, it is the command's own, and nothing
// else is in it; port is that of the proxy on the loopback of the machine, 0 if there is none. It fails where a path cannot be named in a
// profile, and where a part of the root has no place. It neither reads nor writes files.
func (s *Spec) Seatbelt(folder string, port int) (*Seat, error) {
	t := &seating{spec: s, folder: folder}
	if err := t.check(); err != nil {
		return nil, err
	}
	t.seat.Argv, t.seat.Env, t.seat.Dir = t.words(s.Argv), t.environ(port), t.at(s.Dir)
	t.begin()
	for i, b := range s.Binds {
		if err := t.part(i, b); err != nil {
			return nil, err
		}
	}
	for _, m := range s.Masks {
		t.close(m)
	}
	for _, g := range s.Guards {
		t.guard(g)
	}
	if s.Unseen != "" {
		t.rule("deny", writing, with(s.Unseen))
	}
	for _, list := range []*[]string{&t.opened, &t.links} { // nobody looks at a covered path
		*list = slices.DeleteFunc(*list, t.covered)
	}
	t.own()
	t.ways()
	t.pins()
	t.network(port)
	t.seat.Text = t.text.String()
	return &t.seat, nil
}

// The groups of operations. What may be read may be executed.
const (
	reading = "file-read* process-exec* file-map-executable"
	writing = "file-write*"
)

// check looks whether every path can stand in a profile.
func (t *seating) check() error {
	all := append([]string{t.folder}, t.spec.Masks...)
	for _, b := range t.spec.Binds {
		all = append(all, b.Target)
		if b.Kind == Tree {
			all = append(all, b.Source)
		}
	}
	for _, g := range t.spec.Guards {
		all = append(all, filepath.Join(g.Folder, g.Name))
	}
	for _, path := range all {
		if !filepath.IsAbs(path) || path == "/" || filepath.Clean(path) != path || strings.ContainsRune(path, 0) || !utf8.ValidString(path) {
			return fmt.Errorf("the path %q cannot be named in a profile of sandbox-exec", path)
		}
	}
	return nil
}

// begin writes the rules that are the same for every command.
func (t *seating) begin() {
	t.text.WriteString("(version 1)\n(deny default)\n")
	t.rule("deny", "file-link file-clone")                    // another name of a file would have other rules
	t.rule("deny", "system-fcntl", "(fcntl-command 80 110)")  // F_MAKECOMPRESSED and F_TRANSFEREXTENTS change a file that is open to be read
	t.rule("allow", "process-info*", "(target same-sandbox)") // not those outside, whose arguments may hold secrets
	t.rule("allow", "signal", "(target same-sandbox)")        // likewise
	t.rule("allow", "sysctl-read", each("sysctl-name", sysctls)...)
	t.rule("allow", "mach-lookup", each("global-name", services)...)
	t.rule("allow", "file-read* file-write*", each("literal", []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})...)
	t.rule("allow", "file-read* file-write*", `(subpath "/dev/fd")`) // the descriptors that the process has
	t.rule("allow", "file-read-metadata", each("literal", []string{"/", "/etc", "/tmp", "/var", "/dev"})...)
	t.rule("allow", "file-read-data", `(literal "/")`) // without it no program starts
	if t.spec.Fork {
		t.rule("allow", "process-fork")
	}
}

// sysctls are the settings of the kernel that runtimes ask for at their start, by the profiles of Codex and Claude Code. Not among them is
// kern.proc and kern.procargs2, which tell of the processes of others.
var sysctls = []string{"hw.activecpu", "hw.byteorder", "hw.cachelinesize", "hw.cachelinesize_compat", "hw.cpufamily", "hw.cputype",
	"hw.l1dcachesize_compat", "hw.l1icachesize_compat", "hw.l2cachesize_compat", "hw.l3cachesize_compat", "hw.logicalcpu",
	"hw.logicalcpu_max", "hw.machine", "hw.memsize", "hw.model", "hw.ncpu", "hw.nperflevels", "hw.packages", "hw.pagesize",
	"hw.pagesize_compat", "hw.physicalcpu", "hw.physicalcpu_max", "hw.vectorunit", "kern.argmax", "kern.hostname", "kern.maxfilesperproc",
	"kern.ngroups", "kern.osproductversion", "kern.osrelease", "kern.ostype", "kern.osvariant_status", "kern.osversion",
	"kern.secure_kernel", "kern.usrstack64", "kern.version", "machdep.cpu.brand_string", "sysctl.proc_cputype", "vm.loadavg"}

// services are the Mach services without which no program finds its user: names of users and groups, and the folders of a user. Others do
// something for whoever asks: launch programs (launchservicesd), fetch certificates (trustd), give keys (SecurityServer).
var services = []string{"com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership", "com.apple.bsd.dirhelper"}

// networkServices are those that resolve names and check certificates, for a command that has the network of the machine.
var networkServices = []string{"com.apple.SystemConfiguration.configd", "com.apple.SystemConfiguration.DNSConfiguration",
	"com.apple.trustd.agent"}

// part writes the rules of a part of the root.
func (t *seating) part(i int, b Bind) error {
	in := t.innermost(b.Target, i)
	inMemory := in >= 0 && t.spec.Binds[in].Kind == Temp && t.spec.Binds[in].Target != b.Target
	switch b.Kind {
	case Temp:
		t.close(b.Target)
		t.seat.Folders = append(t.seat.Folders, t.place(i))
		return nil
	case Link:
		if slices.ContainsFunc(t.spec.Binds[:i], func(e Bind) bool { return under(e.Target, b.Target) }) {
			return fmt.Errorf("the link %s cannot stand over other parts", b.Target)
		}
		if inMemory {
			to := b.Source
			if filepath.IsAbs(to) {
				to = t.at(to)
			}
			t.seat.Links = append(t.seat.Links, Bind{Kind: Link, Source: to, Target: t.at(b.Target)})
			return nil
		}
		t.rule("deny", writing, wide(b.Target)...) // the file under the link is read and not changed
		t.pinned = append(t.pinned, b.Target)
		if in < 0 {
			t.links = append(t.links, b.Target)
		}
		return nil
	case File:
		if !inMemory {
			return fmt.Errorf("there is no place for %s: macOS has no mounts", b.Target)
		}
		t.seat.Files = append(t.seat.Files, Bind{Kind: File, Target: t.at(b.Target), Data: b.Data})
		return nil
	case Tree:
	default:
		return errors.New("there is no kind " + strconv.Quote(string(b.Kind)) + " of parts")
	}
	if inMemory {
		place := filepath.Join(t.place(in), strings.TrimPrefix(b.Target, t.spec.Binds[in].Target))
		t.seat.Links = append(t.seat.Links, Bind{Kind: Link, Source: b.Source, Target: place})
	}
	if b.Source != b.Target {
		t.close(b.Target)
		return nil
	}
	t.open(b.Target, b.Write, t.spec.Binds[:i])
	return nil
}

// open opens a file or folder with all below it, over earlier parts.
func (t *seating) open(path string, written bool, earlier []Bind) {
	t.rule("allow", reading, exact(path)...)
	switch {
	case written:
		t.rule("allow", writing, exact(path)...)
	case slices.ContainsFunc(earlier, func(b Bind) bool {
		return b.Write && (under(path, b.Source) || under(b.Source, path))
	}):
		t.rule("deny", writing, wide(path)...)
	}
	t.pinned, t.opened = append(t.pinned, path), append(t.opened, path)
}

// close closes a path to everything. Its name cannot be looked at either.
func (t *seating) close(path string) {
	t.rule("deny", reading+" "+writing, wide(path)...)
	t.pinned = append(t.pinned, path)
}

// guard closes a name that may not be there yet.
func (t *seating) guard(g Guard) {
	between := "/"
	if g.Anywhere {
		between = "/([^/]+/)*"
	}
	operations := writing
	if g.Hidden {
		operations = reading + " " + writing
	}
	t.rule("deny", operations, regex("^"+folded(physical(g.Folder))+between+folded(g.Name)+"(/|$)"))
}

// own opens the places of the parts that the command finds elsewhere on Linux. They may lie in a closed folder, such as the state of this
// program, so these rules come after the others. What is covered in them is closed once more.
func (t *seating) own() {
	for i, b := range t.spec.Binds {
		if in := t.innermost(b.Target, i); in >= 0 && t.spec.Binds[in].Kind == Tree && t.moved(in) {
			t.close(filepath.Join(t.place(in), strings.TrimPrefix(b.Target, t.spec.Binds[in].Target)))
		}
		if t.moved(i) && !t.covered(b.Target) && t.innermost(b.Target, len(t.spec.Binds)) == i {
			t.open(t.place(i), b.Kind == Temp || b.Write, t.spec.Binds)
		}
	}
	for _, m := range t.spec.Masks {
		if in := t.innermost(m, len(t.spec.Binds)); in >= 0 && t.moved(in) {
			t.close(t.at(m))
		}
	}
}

// moved reports whether a part lies elsewhere than where the command looks for it on Linux.
func (t *seating) moved(i int) bool {
	b := t.spec.Binds[i]
	return b.Kind == Temp || b.Kind == Tree && b.Source != b.Target
}

// ways lets the command look at the folders above its parts, without listing them: programs ask where they are.
func (t *seating) ways() {
	var all []string
	for _, path := range t.links {
		all = append(all, physical(path))
	}
	for _, path := range slices.Concat(t.opened, t.links) {
		all = append(all, above(physical(path))...)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 0 {
		t.rule("allow", "file-read-metadata", each("literal", all)...)
	}
}

// pins keeps whatever has rules of its own at its path: nobody renames or removes a folder above it.
func (t *seating) pins() {
	var all []string
	for _, path := range t.pinned {
		all = append(append(all, physical(path)), above(physical(path))...)
	}
	slices.Sort(all)
	var filters []string
	for _, path := range slices.Compact(all) {
		filters = append(filters, "(literal "+quote(path)+")", regex("^"+folded(path)+"$"))
	}
	if len(filters) > 0 { // a rule without a filter is about every path
		t.rule("deny", "file-write-unlink", filters...)
	}
}

// network opens the port of the proxy, and the sockets that the command makes in its own folders. Nobody outside listens there.
func (t *seating) network(port int) {
	var places []string
	for i, b := range t.spec.Binds {
		if b.Kind == Temp {
			places = append(places, physical(t.place(i)))
		}
	}
	if len(places) > 0 {
		t.rule("allow", "system-socket", "(socket-domain AF_UNIX)")
		for _, p := range places {
			t.rule("allow", "network-bind", "(local unix-socket (subpath "+quote(p)+"))")
			t.rule("allow", "network-outbound", "(remote unix-socket (subpath "+quote(p)+"))")
		}
	}
	switch {
	case t.spec.Network:
		t.rule("allow", "network-outbound", `(remote ip "*:*")`, `(literal "/private/var/run/mDNSResponder")`)
		t.rule("allow", "network-bind network-inbound", `(local ip "*:*")`)
		t.rule("allow", "mach-lookup", each("global-name", networkServices)...)
	case port > 0:
		t.rule("allow", "network-outbound", `(remote ip "localhost:`+strconv.Itoa(port)+`")`)
	}
	t.rule("deny", "mach-lookup", `(xpc-service-name-prefix "")`) // services that a program brings with it run outside of the profile
}

// covered reports whether a path of the command is covered.
func (t *seating) covered(path string) bool {
	return slices.ContainsFunc(t.spec.Masks, func(m string) bool { return under(path, m) })
}

// place is where a part lies on the machine.
func (t *seating) place(i int) string {
	if b := t.spec.Binds[i]; b.Kind == Tree {
		return b.Source
	}
	return filepath.Join(t.folder, strconv.Itoa(i))
}

// innermost returns the number of the part, among the first n, in which a path lies: the last tree or folder in memory that has it. It
// returns -1 if there is none.
func (t *seating) innermost(path string, n int) int {
	for i := n - 1; i >= 0; i-- {
		if b := t.spec.Binds[i]; (b.Kind == Tree || b.Kind == Temp) && under(path, b.Target) {
			return i
		}
	}
	return -1
}

// at returns where a path of the command lies on the machine.
func (t *seating) at(path string) string {
	i := t.innermost(path, len(t.spec.Binds))
	if i < 0 {
		return path
	}
	return filepath.Join(t.place(i), strings.TrimPrefix(path, t.spec.Binds[i].Target))
}

// words replaces those words that are paths of the command as a whole.
func (t *seating) words(words []string) (out []string) {
	for _, w := range words {
		if filepath.IsAbs(w) && filepath.Clean(w) == w {
			w = t.at(w)
		}
		out = append(out, w)
	}
	return out
}

// environ replaces the paths in the values of variables: in lists with colons, and in lists of addresses with commas.
func (t *seating) environ(port int) (out []string) {
	const local = "file://"
	for _, v := range t.spec.Env {
		name, value, _ := strings.Cut(v, "=")
		separator := ":"
		if strings.Contains(value, "://") {
			separator = ","
		}
		words := strings.Split(value, separator)
		for i, w := range words {
			if path, ok := strings.CutPrefix(w, local); ok {
				words[i] = local + t.words([]string{path})[0]
			} else {
				words[i] = t.words([]string{w})[0]
			}
		}
		value = strings.Join(words, separator)
		if port > 0 {
			value = strings.ReplaceAll(value, ListenAddr, "127.0.0.1:"+strconv.Itoa(port))
		}
		out = append(out, name+"="+value)
	}
	return out
}

// rule writes a rule.
func (t *seating) rule(action, operations string, filters ...string) {
	t.text.WriteString("(" + action + " " + operations)
	for _, f := range filters {
		t.text.WriteString(" " + f)
	}
	t.text.WriteString(")\n")
}

// exact matches a path and all below it.
func exact(path string) []string {
	p := quote(physical(path))
	return []string{"(literal " + p + ")", "(subpath " + p + ")"}
}

// wide is exact for every case of the path.
func wide(path string) []string {
	return append(exact(path), regex("^"+folded(physical(path))+"(/|$)"))
}

func each(filter string, values []string) (out []string) {
	for _, v := range values {
		out = append(out, "("+filter+" "+quote(v)+")")
	}
	return out
}

func regex(expression string) string { return "(regex " + quote(expression) + ")" }

// quote writes a text as a string of Scheme. Every byte but these two stands for itself.
func quote(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }

// folded is an expression that matches a text in every case, as a volume that ignores case compares names (simple case folding).
func folded(s string) string {
	var out strings.Builder
	for _, r := range s {
		forms, ascii := string(r), r < utf8.RuneSelf
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			forms, ascii = forms+string(f), ascii && f < utf8.RuneSelf
		}
		switch {
		case len(forms) == utf8.RuneLen(r) && strings.ContainsRune(`.[]{}()*+?^$|\`, r):
			out.WriteString(`\` + forms)
		case len(forms) == utf8.RuneLen(r):
			out.WriteString(forms)
		case ascii:
			out.WriteString("[" + forms + "]")
		default: // a class may be one of bytes
			out.WriteString("(" + strings.Join(strings.Split(forms, ""), "|") + ")")
		}
	}
	return out.String()
}

// with matches the names that have one of some characters.
func with(characters string) string {
	return regex("(" + strings.Join(strings.Split(characters, ""), "|") + ")")
}

// physical is a path without the links that every macOS has. The caller has resolved the others.
func physical(path string) string {
	for _, dir := range []string{"/etc", "/tmp", "/var"} {
		if under(path, dir) {
			return "/private" + path
		}
	}
	return path
}

// above lists the folders above a path, without /.
func above(path string) (out []string) {
	for dir := filepath.Dir(path); len(dir) > 1; dir = filepath.Dir(dir) {
		out = append(out, dir)
	}
	return out
}

// under reports whether a path is a folder or lies in it.
func under(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
