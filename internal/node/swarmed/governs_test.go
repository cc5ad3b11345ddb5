package swarmed

import "testing"

func TestGoverns(t *testing.T) {
	for path, want := range map[string]bool{
		"mycelium.yaml": true, "sub/mycelium.yaml": true, ".claude/settings.json": true, "sub/.MCP.json": true, ".github/hooks/pre.json": true,
		"sub/rules.yaml": true, "sub/skills/a/SKILL.md": true, "sub/Roles/dev.yaml": true, "sub/workflows/x": true,
		"rules.yaml": false, "skills/a": false, ".github/workflows/ci.yml": false, "sub/src/skills/a.go": false, "sub/rules.yaml.md": false,
		"README.md": false, "sub/main.go": false,
	} {
		if Governs("sub/", path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
	if !Governs("", "rules.yaml") || !Governs("", "skills/a/SKILL.md") || Governs("", "sub/rules.yaml") {
		t.Error("a project at the top")
	}
}
