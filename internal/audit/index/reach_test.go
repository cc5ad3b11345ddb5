package index

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
)

// TestWhatTheIndexFinds: agents, programs, hosts and changes of sessions are found alike in the index, in the tail of the log that is not
// in the index, in both, and in an index that was built anew.
func TestWhatTheIndexFinds(t *testing.T) {
	for _, followed := range []string{"before", "half", "never", "rebuilt"} {
		t.Run(followed, func(t *testing.T) {
			o := options(t)
			l, x := openLog(t, o), openIndex(t, o)
			call := func(id, agent, program string, hosts ...string) {
				r := decision(id)
				r.Agent, r.Surface = agent, "hook"
				if agent == "" {
					r.Surface = "cli"
				}
				if program != "" {
					r.Facts = &policy.Facts{Parts: []policy.Part{{Program: program, Hosts: hosts}, {Program: "tee"}}}
				}
				add(t, l, r)
			}
			change := func(session, role string) {
				add(t, l, audit.Record{ID: audit.NewID(), Kind: audit.Session, Session: session, Role: role, Note: session + role})
			}
			call("a", "claude", "git", "example.org")
			change("s1", "guest")
			call("b", "codex", "gitk")
			if followed == "half" {
				if err := x.Follow(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			child := decision("c")
			child.Principal, child.Agent = "local/a1", "claude"
			child.Thinking = &audit.Thinking{Thinking: "because"} // such a line is decoded whole
			child.Facts = &policy.Facts{Parts: []policy.Part{{Program: "curl", Hosts: []string{"a.example.org", "b.example.net"}}}}
			add(t, l, child)
			call("d", "", "")
			change("s2", "dev")
			answered := decision("a") // asked, then answered: the first decision has the facts
			answered.DecidedBy = "person"
			add(t, l, answered)
			switch followed {
			case "before", "rebuilt":
				if err := x.Follow(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if followed == "rebuilt" {
				if err := x.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []struct {
				q    Filter
				want string
			}{
				{Filter{Agent: "claude"}, "c a"}, {Filter{Agent: "c*"}, "d c b a"}, {Filter{Agent: "a1"}, "c"}, {Filter{Agent: "cli"}, "d"},
				{Filter{Agent: "hook"}, ""}, {Filter{Agent: "local"}, ""},
				{Filter{Program: "git"}, "a"}, {Filter{Program: "git*"}, "b a"}, {Filter{Program: "g*e"}, ""},
				{Filter{Program: "tee"}, "b a"},
				{Filter{Host: "example.org"}, "a"}, {Filter{Host: "*example.*"}, "c a"}, {Filter{Host: "?.example.org"}, ""},
				{Filter{Host: "*.org", Program: "curl", Agent: "claude"}, "c"},
			} {
				if got := ids(t, x, Query{Filter: c.q}); got != c.want {
					t.Errorf("%+v: %q, want %q", c.q, got, c.want)
				}
			}
			for _, c := range []struct {
				q    Query
				want string
			}{
				{Query{}, "s2dev s1guest"}, {Query{Role: "g*"}, "s1guest"}, {Query{Session: "s2"}, "s2dev"}, {Query{Limit: 1}, "s2dev"},
				{Query{Offset: 1}, "s1guest"}, {Query{Session: "s?"}, ""},
			} {
				list, err := x.Changes(t.Context(), c.q)
				var got []string
				for _, r := range list {
					got = append(got, r.Note)
				}
				if said := strings.Join(got, " "); err != nil || said != c.want {
					t.Errorf("changes of %+v: %q %v, want %q", c.q, said, err, c.want)
				}
			}
		})
	}
}

// TestChangesDoNotReadTheLog: of the log, only the lines of the changes are read.
func TestChangesDoNotReadTheLog(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	for i := range 3 {
		add(t, l, decision(fmt.Sprint("c", i)))
	}
	add(t, l, audit.Record{ID: audit.NewID(), Kind: audit.Session, Session: "s1"})
	if err := x.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Dir, audit.SegmentName(1))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`{`), []byte(`?`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := x.Changes(t.Context(), Query{}); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}
