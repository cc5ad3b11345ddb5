package config

import (
	"path/filepath"
	"slices"
	"testing"

	"mycelium/internal/config/scaffold"
	"mycelium/internal/policy"
)

// TestCeilingIsThatOfTheShippedRules: where no rule decides, a tool of a server may change the same files that the shipped rules let an
// agent's own tools change.
func TestCeilingIsThatOfTheShippedRules(t *testing.T) {
	w := newWorld(t)
	if _, err := scaffold.Init(w.dir, scaffold.Options{}); err != nil {
		t.Fatal(err)
	}
	w.trust()
	shipped, _, _ := w.load().Compile(builtin(t, w.dir))
	tool := policy.Item{Server: "fs", Name: "change"}
	bare, _ := policy.New(policy.Source{Dir: shipped.Dir(), Home: shipped.Home(), Catalog: []policy.Definition{{Item: tool}},
		Grants: []policy.Grant{{Name: "s", AllowedTools: []string{"fs__change"}, AllowedRoles: []string{"developer"}}}})
	allowed := 0
	for _, path := range []string{"", "/a", "/src/a.go", "/../x"} {
		for _, folder := range []string{shipped.Dir(), "/tmp", "/private/tmp", "/var/folders/a/b/c", "/private/var/folders/a/b/c",
			"/var/folders/a", "/var/tmp", "/srv", "/usr/local", "/etc", shipped.Home(), "/home/other", "/tmpx", "/dev/shm"} {
			for _, access := range []policy.Access{policy.Write, policy.Delete} {
				at := policy.Path{Access: access, Raw: folder + path, Clean: filepath.Clean(folder + path)}
				part := policy.Part{Program: "x", Paths: []policy.Path{at}, Effects: []string{string(access)}}
				facts := policy.Facts{Dir: shipped.Dir(), Parts: []policy.Part{part}}.WithoutLinks()
				who := policy.Principal{ID: "t", Role: "developer"}
				mcp := bare.Decide(policy.Call{Item: tool, Facts: facts, Scope: policy.Scope{Principal: who, Skills: []string{"s"}}})
				own := shipped.Decide(policy.Call{Item: policy.Item{Server: policy.AgentServer, Name: "Bash"}, Facts: facts,
					Scope: policy.Scope{Principal: who, Skills: slices.Clone(shipped.StartSkills("developer"))}})
				if mcp.Unknown || own.Unknown || mcp.Effect != own.Effect {
					t.Errorf("%s %s: without rules %v (%s), by the shipped rules %v (%s)", access, at.Clean, mcp.Effect, mcp.Reason, own.Effect,
						own.Reason)
				}
				if mcp.Effect == policy.Allow {
					allowed++
				}
			}
		}
	}
	if allowed < 10 {
		t.Errorf("only %d changes were allowed", allowed)
	}
}
