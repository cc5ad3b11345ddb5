package policy_test

import (
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/policy/worker"
)

// A worker of the swarm, and what is below it, starts no swarm: it does not see the tools that its role would have otherwise, in no list
// and no call, and shares no list with those who do.
func TestWorkerStartsNoSwarm(t *testing.T) {
	t.Parallel()
	start, other := policy.Item{Server: worker.Server, Name: "start_worker"}, policy.Item{Server: "s", Name: "x"}
	p, problems := policy.New(policy.Source{Catalog: []policy.Definition{{Item: start}, {Item: other}},
		Grants: []policy.Grant{{Name: "all", AllowedRoles: []string{"dev"}, AllowedTools: []string{start.String(), other.String()}}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	keys := map[string]bool{}
	for id, sees := range map[string]bool{"local": true, worker.Prefix + "1": false, worker.Prefix + "1/2": false} {
		scope := policy.Scope{Principal: policy.Principal{ID: id, Role: "dev"}, Skills: []string{"all"}}
		keys[p.ViewKey(scope)] = true
		for _, s := range []policy.Scope{scope, {Principal: policy.Principal{ID: "child", Role: "dev", Parent: &scope.Principal},
			Skills: scope.Skills}} {
			d := p.Decide(policy.Call{Scope: s, Item: start})
			if p.Visible(s, start) != sees || d.Unknown == sees || !p.Visible(s, other) {
				t.Errorf("%s: it sees the tool: %t, and is answered %+v", s.Principal.ID, p.Visible(s, start), d)
			}
			if n := len(p.Items(s, policy.Tool)); (n == 2) != sees {
				t.Errorf("%s is listed %d tools", s.Principal.ID, n)
			}
		}
	}
	if len(keys) != 2 {
		t.Errorf("their lists have %d keys", len(keys))
	}
}

// Only a worker sees the tool by which it reports how sure it is; to everybody else it is as one that does not exist. A tool of that name
// on another server is like every other.
func TestOnlyWorkersReport(t *testing.T) {
	t.Parallel()
	report, other := policy.Item{Server: policy.RouterServer, Name: worker.Report}, policy.Item{Server: "s", Name: worker.Report}
	p, problems := policy.New(policy.Source{Catalog: []policy.Definition{{Item: report}, {Item: other}},
		Grants: []policy.Grant{{Name: "all", AllowedRoles: []string{"dev"}, AllowedTools: []string{other.String()}}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for id, sees := range map[string]bool{"local": false, worker.Prefix + "1": true, worker.Prefix + "1/2": true} {
		scope := policy.Scope{Principal: policy.Principal{ID: id, Role: "dev"}, Skills: []string{"all"}}
		d := p.Decide(policy.Call{Scope: scope, Item: report})
		if p.Visible(scope, report) != sees || d.Unknown == sees || !p.Visible(scope, other) {
			t.Errorf("%s: it sees the tool: %t, and is answered %+v", id, p.Visible(scope, report), d)
		}
		if n := len(p.Items(scope, policy.Tool)); (n == 2) != sees {
			t.Errorf("%s is listed %d tools", id, n)
		}
	}
}
