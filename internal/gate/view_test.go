package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

func TestListsKeepEveryByteButTheName(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	for _, l := range s.List(policy.Tool) {
		if l.Item.String() != "files__read_file" {
			continue
		}
		want := `{"name":"files__read_file","description":"Does read_file.","inputSchema":{"type":"object"},"x-extra":1.0e2}`
		if string(l.Raw) != want {
			t.Errorf("got %s, want %s", l.Raw, want)
		}
		return
	}
	t.Error("files__read_file is not listed")
}

func TestResourcesPromptsAndTemplates(t *testing.T) {
	p := three()
	add := func(k policy.Kind, server, name, raw string) {
		p.defs = append(p.defs, policy.Definition{Item: policy.Item{Kind: k, Server: server, Name: name}, Raw: []byte(raw)})
	}
	add(policy.Resource, "docs", "file:///a.md", `{"uri":"file:///a.md","name":"a"}`)
	add(policy.Resource, "docs", "secret:///b", `{"uri":"secret:///b","name":"b"}`)
	add(policy.Resource, "docs", "file:///broken", `{"name":"no uri"}`)
	add(policy.Prompt, "docs", "summarize", `{"name":"summarize"}`)
	add(policy.Prompt, "docs", "other", `{"name":"other"}`)
	for _, uri := range []string{"file:///{path}", "secret:///{path}"} {
		p.tmpl = append(p.tmpl, policy.Definition{
			Item: policy.Item{Kind: policy.Resource, Server: "docs", Name: uri},
			Raw:  fmt.Appendf(nil, `{"uriTemplate":%q,"name":"t"}`, uri),
		})
	}
	p.skills = append(p.skills, skill.Skill{
		Grant: policy.Grant{
			Name: "docs", AllowedRoles: []string{"guest"}, AllowedResources: []string{"docs__file:///**"},
			AllowedPrompts: []string{"docs__summarize"},
		}, Description: "Documents.",
	})
	h := build(t, p)
	s := h.enter("guest")
	var got []string
	for _, list := range [][]view.Listed{s.List(policy.Resource), s.List(policy.Prompt), s.Templates()} {
		for _, l := range list {
			if l.Item.Server == "docs" {
				got = append(got, string(l.Raw))
			}
		}
	}
	want := []string{
		`{"uri":"docs+file:///a.md","name":"a"}`, `{"name":"docs__summarize"}`, `{"uriTemplate":"docs+file:///{path}","name":"t"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := s.List(policy.Kind(9)); got != nil {
		t.Errorf("an unknown kind lists %v", got)
	}
	w := h.World()
	w.Bare = "docs"
	h.Swap(w)
	for _, l := range s.List(policy.Prompt) {
		if l.Item.Server == "docs" && string(l.Raw) != `{"name":"summarize"}` {
			t.Errorf("bare: %s", l.Raw)
		}
	}
}

// many is a world with n tools that one skill grants.
func many(n int) plan {
	p := plan{skills: []skill.Skill{{Grant: policy.Grant{Name: "all", AllowedRoles: []string{"admin"}, AllowedTools: []string{"big__*"}},
		Description: "All."}}}
	for i := range n {
		p.tools = append(p.tools, fmt.Sprintf("big__tool_%05d", i))
	}
	p.roles = []policy.Role{{ID: "half", AllowedSkills: []string{"all"}}}
	return p
}

// TestTenThousandTools: a list of 10,000 tools is computed once, and costs nothing while nothing changes.
func TestTenThousandTools(t *testing.T) {
	h := build(t, many(10_000))
	s := h.enter("admin")
	h.Swap(many(10_000).world(t, h.dir))
	list := s.List(policy.Tool)
	if len(list) < 10_000 {
		t.Errorf("the list has %d tools", len(list))
	}
	if n := testing.AllocsPerRun(100, func() { s.List(policy.Tool) }); n > 0 {
		t.Errorf("an unchanged list costs %v allocations", n)
	}
	if again := s.List(policy.Tool); &again[0] != &list[0] {
		t.Error("an unchanged list was computed again")
	}
}

func TestBounded(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcdef", 5, "ab…"}, {"日本語", 8, "日…"}, {"日本語", 9, "日本語"}, {"", 0, ""},
		{strings.Repeat("x", 9), 3, "…"}} {
		if got := text.Truncate(c.in, c.n); got != c.want {
			t.Errorf("%q cut to %d: %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

// TestSharedViews: sessions that see the same share one view, and with it its memory; where a rule looks at who somebody is, each has
// its own.
func TestSharedViews(t *testing.T) {
	h := build(t, three())
	a, b, c := h.enter("guest"), h.enter("guest"), h.enter("developer")
	if a.Look() != b.Look() {
		t.Error("two guests have two views")
	}
	if a.Look() == c.Look() {
		t.Error("a guest and a developer have one view")
	}
	d := h.enter("guest", "developer") // it may switch, so it sees one tool more
	if a.Look() == d.Look() || len(a.List(policy.Tool))+1 != len(d.List(policy.Tool)) {
		t.Error("who may switch sees what who may not does")
	}
	p := three()
	p.rules = []policy.Rule{{Name: "not-you", Action: "deny", Tool: policy.Names{"files__read_file"},
		When: fmt.Sprintf("principal == %q", a.Principal.ID)}}
	h.Swap(p.world(t, h.dir))
	if slices.Contains(h.sees(a), "files__read_file") || !slices.Contains(h.sees(b), "files__read_file") {
		t.Errorf("a sees %v, b %v", h.sees(a), h.sees(b))
	}
}

// TestHeldNamesAreMasked: what is in quarantine is named to nobody, though no definition of it is in the catalog.
func TestHeldNamesAreMasked(t *testing.T) {
	h := build(t, three())
	w := h.World()
	w.Held = []policy.Item{{Server: "files", Name: "evil_tool"}}
	h.Swap(w)
	if got := maskedFor(h.enter("admin"), "files",
		"see evil_tool, files__evil_tool and read_file"); got != "see another tool, another tool and files__read_file" {
		t.Errorf("masked %q", got)
	}
}
