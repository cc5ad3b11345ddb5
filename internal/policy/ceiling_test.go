package policy

import (
	"strings"
	"testing"
)

// TestFallbackKeepsTheCeiling: without a rule, a tool that a skill grants changes files in the project and in temporary folders only. A
// rule may allow more, and reading stays as it is.
func TestFallbackKeepsTheCeiling(t *testing.T) {
	fs := itemOf("fs__write_file")
	look := itemOf("fs__stat")
	path := `{"path":"%"}`
	tests := []struct {
		name, args string
		tool       Item
		rules      []Rule
		fallback   string
		want       Effect
	}{
		{"in the project", strings.Replace(path, "%", "src/a.go", 1), fs, nil, "", Allow},
		{"in a temporary folder", strings.Replace(path, "%", "/tmp/x/y", 1), fs, nil, "", Allow},
		{"without a path", `{"mode":"x"}`, fs, nil, "", Allow},
		{"elsewhere", strings.Replace(path, "%", "/srv/data", 1), fs, nil, "", Ask},
		{"out of the project", strings.Replace(path, "%", "../q/a.go", 1), fs, nil, "", Ask},
		{"into another project", strings.Replace(path, "%", "/px/a.go", 1), fs, nil, "", Ask},
		{"at any depth", `{"edits":[{"path":"a"},{"file_path":"/srv/data"}]}`, fs, nil, "", Ask},
		{"a move from elsewhere", `{"source":"/srv/data","destination":"a"}`, fs, nil, "", Ask},
		{"a removal of the temporary folder", `{"source":"/tmp","destination":"a"}`, fs, nil, "", Ask},
		{"reading", strings.Replace(path, "%", "/etc/hosts", 1), look, nil, "", Allow},
		{"the fallback is written down", strings.Replace(path, "%", "/srv/data", 1), fs, nil, "allow", Ask},
		{"the fallback is stricter", strings.Replace(path, "%", "/srv/data", 1), fs, nil, "deny", Deny},
		{"a rule names it", strings.Replace(path, "%", "/srv/data", 1), fs,
			[]Rule{{Name: "data", Action: "allow", Tool: Names{"fs__*"}, Match: map[string]Values{"path": {{Glob: ptr("/srv/**")}}}}}, "", Allow},
		{"a rule names another", strings.Replace(path, "%", "/var/x", 1), fs,
			[]Rule{{Name: "data", Action: "allow", Tool: Names{"fs__*"}, Match: map[string]Values{"path": {{Glob: ptr("/srv/**")}}}}}, "", Ask},
	}
	for _, tt := range tests {
		defs := catalog("fs__write_file", "fs__stat")
		defs[1].Annotations = Annotations{"readOnlyHint": true}
		src := Source{Dir: "/p", Home: "/home/dev", Catalog: defs, Rules: tt.rules,
			Grants: []Grant{{Name: "s", AllowedTools: []string{"fs__*"}, AllowedRoles: []string{"dev"}}}}
		src.Fallback.MCP = tt.fallback
		p, problems := New(src)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		args, err := ParseArgs([]byte(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		notes, _ := p.Hints(tt.tool)
		d := p.Decide(Call{Item: tt.tool, Args: args, Facts: ArgFacts(tt.tool, notes, args, "/p").WithoutLinks(),
			Scope: Scope{Principal: Principal{ID: "x", Role: "dev"}, Skills: []string{"s"}}})
		if d.Unknown || d.Effect != tt.want {
			t.Errorf("%s: %+v, want %v", tt.name, d, tt.want)
		}
		if tt.want == Ask && !strings.Contains(d.Reason, "outside the project") {
			t.Errorf("%s: the reason is %q", tt.name, d.Reason)
		}
	}
}
