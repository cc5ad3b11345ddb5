package policy

import "testing"

// A pattern that ends in a star and "/**" matches the name itself, however short it is: a folder is what is below it and the folder.
func TestGlobOfAFolderMatchesItsShortestName(t *testing.T) {
	for _, c := range []struct {
		glob, text string
		want       bool
	}{
		{"/p/?*/**", "/p/a", true}, {"/p/?*/**", "/p/ab", true}, {"/p/?*/**", "/p/a/b", true}, {"/p/?*/**", "/p", false},
		{"/p/?*/**", "/p/", false},
		{"/p/secret*/**", "/p/secret", true}, {"/p/secret*/**", "/p/secrets/x", true}, {"/p/secret*/**", "/p/secre", false},
		{"/p/{a*,b}/**", "/p/a", true}, {"/p/{a*,b}/**", "/p/c", false}, {"/p/?*/**/**", "/p/a", true}, {"/p/a/**", "/p/a", true},
	} {
		g, err := compileGlob(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.match(c.text); got != c.want {
			t.Errorf("%s matches %s: %t", c.glob, c.text, got)
		}
	}
}

// policy.strict forbids what a wildcard would give; "*" where it gives nothing, or is the same as no key, stays.
func TestStrictLeavesWhatGivesNothing(t *testing.T) {
	src := Source{Strict: true, Catalog: []Definition{{Item: Item{Server: "s", Name: "x"}}},
		Grants: []Grant{{Name: "common", AllowedRoles: []string{"*"}, AllowedTools: []string{}},
			{Name: "tool", AllowedRoles: []string{"dev"}, AllowedTools: []string{"s__x"}}},
		Roles: []Role{{ID: "dev", AllowedSkills: []string{"*"}}}}
	p, problems := New(src)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := p.OpenSkills("dev"); len(got) != 2 {
		t.Errorf("open are %v", got)
	}
	src.Grants[0].AllowedTools = []string{"s__x"}
	if _, problems = New(src); len(problems) != 1 {
		t.Errorf("a skill with a tool for every role: %v", problems)
	}
	src.Grants[0].AllowedTools, src.Roles[0].AllowedSkills = nil, []string{"to*"}
	if _, problems = New(src); len(problems) != 1 {
		t.Errorf("a pattern over skills: %v", problems)
	}
}
