package meaning

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mycelium/internal/backend"
)

// servers compares the servers by name. The programs that they start are not judged: another command is for a person to read.
func (d *diff) servers() {
	was, is := byName(d.old.Servers), byName(d.new.Servers)
	for _, s := range d.old.Servers {
		if _, still := is[s.Name]; !still && !s.Disabled {
			d.add(d.withoutServer(), d.at("mcpServers."+s.Name), "server ", s.Name, " is gone")
		}
	}
	for _, s := range d.new.Servers {
		at := d.at("mcpServers." + s.Name)
		before, known := was[s.Name]
		switch {
		case !known && s.Disabled:
		case !known || before.Disabled && !s.Disabled:
			in := ""
			if s.Sandbox != "" {
				in = ", in the sandbox: " + s.Sandbox
			}
			d.add(Widens, at, "server ", s.Name, " is new: ", runs(s), in)
		case !before.Disabled && s.Disabled:
			d.add(d.withoutServer(), at, "server ", s.Name, " is switched off")
		default:
			d.server(before, s)
		}
	}
}

func byName(all []backend.Server) map[string]backend.Server {
	out := map[string]backend.Server{}
	for _, s := range all {
		out[s.Name] = s
	}
	return out
}

// runs says what a server is.
func runs(s backend.Server) string {
	switch {
	case s.Builtin != "":
		return fmt.Sprintf("it serves the folder %q", s.Args)
	case s.URL != "":
		return "calls go to " + s.URL
	}
	return "it runs " + strings.Join(append([]string{s.Command}, s.Args...), " ")
}

// server compares two entries of one name.
func (d *diff) server(was, is backend.Server) {
	name, at := "server "+is.Name, d.at("mcpServers."+is.Name)
	rest := func(s backend.Server) backend.Server { // what the cases below do not tell of
		s.Command, s.Args, s.URL, s.Env, s.Trust, s.Additions, s.Concurrency, s.Queue = "", nil, "", nil, false, "", 0, 0
		s.Sandbox, s.Walls, s.Data = "", "", nil
		return s
	}
	if runs(was) != runs(is) || was.Command != is.Command || !slices.Equal(was.Args, is.Args) || was.URL != is.URL {
		what := " is started with another command: "
		if is.Command == "" {
			what = " is another: "
		}
		d.add(Unclear, at, name, what, runs(is), "; until now ", runs(was))
	}
	if !reflect.DeepEqual(was.Env, is.Env) {
		d.add(Unclear, at, name, " has other variables in its environment")
	}
	for _, path := range is.Data {
		if !slices.Contains(was.Data, path) {
			d.add(Unclear, at, name, " is started whatever ", path, " contains: it is data that the server writes")
		}
	}
	for _, path := range was.Data {
		if !slices.Contains(is.Data, path) {
			d.add(Narrows, at, name, " is started only if ", path, " is as it was accepted")
		}
	}
	if was.Trust != is.Trust {
		m, what := Unclear, " is no longer believed what it says about its tools"
		if is.Trust {
			m, what = Widens, " is believed what it says about its tools"
		}
		d.add(m, at, name, what)
	}
	if a, b := cmp.Or(was.Additions, trusted), cmp.Or(is.Additions, trusted); a != b {
		what := ": tools that it gets later are no longer kept back"
		if b == quarantine {
			what = ": tools that it gets later wait for a person"
		}
		d.add(mark(b == quarantine, Widens), at, name, what)
	}
	d.sandbox(at, name, was.Sandbox, is.Sandbox)
	d.calls(at, name+" may work at more calls at once", name+" works at fewer calls at once", was.Concurrency, is.Concurrency, 128)
	d.calls(at, name+" may have more calls waiting", name+" may have fewer calls waiting", was.Queue, is.Queue, 1024)
	if a, b := rest(was), rest(is); !reflect.DeepEqual(a, b) {
		d.add(Unclear, at, name, " has other settings: ", list(differing(reflect.ValueOf(a), reflect.ValueOf(b))))
	}
}

// The values of additions.
const (
	trusted    = "trust" // the default
	quarantine = "quarantine"
)

// sandbox compares what a server runs in. Outside of the sandbox it may do what the user may.
func (d *diff) sandbox(at place, name, was, is string) {
	before, boxed := d.old.File.Sandbox.Find(was)
	after, box := d.new.File.Sandbox.Find(is)
	switch {
	case was == is:
	case is == "":
		d.add(Widens, at, name, " no longer runs in the sandbox")
	case was == "":
		d.add(mark(box, Unclear), at, name, " runs in the sandbox: ", is)
	default:
		m := Unclear
		if boxed && box && after.Within(before) {
			m = Narrows
		} else if boxed && box && before.Within(after) {
			m = Widens
		}
		d.add(m, at, name, " runs in another sandbox: ", is, " instead of ", was)
	}
}

// calls compares two figures of a server, where 0 is the default.
func (d *diff) calls(at place, more, fewer string, was, is, preset int) {
	if was == 0 {
		was = preset
	}
	if is == 0 {
		is = preset
	}
	switch {
	case is > was:
		d.add(Widens, at, more, fmt.Sprintf(": %d instead of %d", is, was))
	case is < was:
		d.add(Narrows, at, fewer, fmt.Sprintf(": %d instead of %d", is, was))
	}
}

// differing names the keys of a struct in which two values differ.
func differing(was, is reflect.Value) []string {
	var out []string
	for i := range was.NumField() {
		if !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			out = append(out, keyOf(was.Type().Field(i)))
		}
	}
	return out
}

// withoutServer is the mark of a server that no longer runs. Its tools vanish; but a bare name in toolIds may now stand for another
// server's tool, and a skill that needs the server is no longer active for the rules that look at it.
func (d *diff) withoutServer() Mark {
	for _, r := range d.new.Roles {
		if slices.ContainsFunc(r.ToolIDs, func(id string) bool { return !strings.Contains(id, "__") && !strings.Contains(id, "*") }) {
			return Unclear
		}
	}
	return mark(!d.sensitive("") && !d.controlSensitive(), Unclear)
}
