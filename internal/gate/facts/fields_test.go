package facts

import (
	"testing"

	"mycelium/internal/policy"
)

// TestGlobsOfTools: what a tool reads by a glob is decided like a path: what the glob may mean, and for a tool that shows whole files what
// it matches on the disk.
func TestGlobsOfTools(t *testing.T) {
	dir := projectWith(t, "src/a.go", "src/b.json", "sub/credentials.json", "sub/.env")
	p := shipped(t, dir)
	who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
	for _, c := range []struct {
		tool string
		glob any
		want policy.Effect
	}{
		{"Grep", []any{"./**/*.go"}, policy.Allow}, {"Grep", []any{"./**/.env"}, policy.Deny}, {"Grep", []any{"./**/.en?"}, policy.Deny},
		{"Grep", []any{"./**/cred*.json"}, policy.Deny}, {"Grep", []any{"/home/u/.s*/**"}, policy.Deny},
		{"Grep", []any{"./src/**/../../x"}, policy.Ask}, {"Grep", "./**/.env", policy.Deny}, {"Grep", []any{5.0}, policy.Allow},
		{"Read", []any{"src/**"}, policy.Allow}, {"Read", []any{"**/*.json"}, policy.Deny}, {"Read", []any{"src/*.json"}, policy.Allow},
	} {
		it := policy.Item{Server: policy.AgentServer, Name: c.tool}
		args := policy.Args{globPaths: c.glob}
		f, err := Of(it, nil, args, At(p, dir, "/home/u", nil))
		if err != nil {
			t.Fatal(err)
		}
		if d := p.Decide(policy.Call{Scope: who, Item: it, Args: args, Facts: f}); d.Effect != c.want {
			t.Errorf("%s %v: %v, want %v (%s: %s)", c.tool, c.glob, d.Effect, c.want, d.Rule, d.Reason)
		}
	}
	f, _ := Of(readTool, nil, policy.Args{"file_path": "x", unknownFields: []any{"y"}}, Place{Dir: dir})
	if len(f.Parts[0].Unclear) != 1 {
		t.Errorf("%+v", f)
	}
}
