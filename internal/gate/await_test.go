package gate

import (
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// TestAwait starts a server for the first time. Only the session whose skill names it waits: until the world comes in which its offer is
// known, and no longer than the server may take.
func TestAwait(t *testing.T) {
	waits := policy.Grant{Name: "waits", AllowedRoles: []string{"reader"}, AllowedTools: []string{"slow__echo"}}
	other := policy.Grant{Name: "other", AllowedRoles: []string{"guest"}, AllowedTools: []string{"files__read_file"}}
	p := plan{tools: []string{"files__read_file"},
		skills: []skill.Skill{{Grant: waits, Description: "Waits."}, {Grant: other, Description: "Reads."}}}
	synctest.Test(t, func(t *testing.T) {
		h := build(t, p)
		h.Swap(p.learning(t, h.dir, 30*time.Second))
		reader, guest := h.enter("reader"), h.enter("guest")
		waited := func(f func()) time.Duration {
			began := time.Now()
			f()
			return time.Since(began)
		}
		for _, server := range []string{"files", "unknown", "slow", ""} {
			if d := waited(func() { guest.Await(t.Context(), server) }); d > 0 {
				t.Errorf("a session that has no use for the server waited %v for %q", d, server)
			}
		}
		for server, want := range map[string]time.Duration{"files": 0, "unknown": 0, "slow": 30 * time.Second, "": 30 * time.Second} {
			if d := waited(func() { reader.Await(t.Context(), server) }); d != want {
				t.Errorf("the session whose skill names slow waited %v for %q, not %v", d, server, want)
			}
		}
		known := p
		known.tools = append(known.tools, "slow__echo")
		time.AfterFunc(2*time.Second, func() { h.Swap(known.world(t, h.dir)) })
		if d := waited(func() { reader.Await(t.Context(), "slow") }); d != 2*time.Second {
			t.Errorf("waited %v for a server that took 2 s", d)
		}
		if !reader.Snapshot().Sees(policy.Item{Server: "slow", Name: "echo"}) {
			t.Error("the session waited, and does not see the tool")
		}
	})
}

// learning is the world of a plan while the server slow is started for the first time.
func (p plan) learning(tb testing.TB, dir string, limit time.Duration) view.World {
	w := p.world(tb, dir)
	w.Skills = skill.Validate(p.skills, skill.Catalog{Definitions: w.Definitions, Pending: map[string]string{"slow": ""}})
	w.Policy, _ = policy.New(policy.Source{Catalog: w.Definitions, Grants: w.Skills.Grants(), Expected: w.Skills.Expected()})
	grants := w.Skills.Grants()
	for _, s := range w.Skills.Pending() {
		grants = append(grants, s.Grant)
	}
	w.Ahead, _ = policy.New(policy.Source{Grants: grants})
	w.Learning = map[string]time.Duration{"slow": limit}
	return w
}
