package tools

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/skill"
)

// TestSkillOfTheSwarm: the shipped skill swarm grants each tool of the table, and no other of this server.
func TestSkillOfTheSwarm(t *testing.T) {
	skills, problems := skill.Load(skill.Shipped(), "shipped", "shipped")
	if problems != nil {
		t.Fatal(problems)
	}
	i := slices.IndexFunc(skills, func(s skill.Skill) bool { return s.Name == "swarm" })
	if i < 0 {
		t.Fatal("there is no skill swarm")
	}
	server, err := NewServer()
	if err != nil {
		t.Fatal(err)
	}
	var granted, defined []string
	for _, tool := range skills[i].AllowedTools {
		if strings.HasPrefix(tool, "mycelium-swarm__") {
			granted = append(granted, tool)
		}
	}
	for _, d := range server.Definitions() {
		defined = append(defined, d.Item.String())
	}
	slices.Sort(granted)
	slices.Sort(defined)
	if diff := cmp.Diff(defined, granted); diff != "" {
		t.Error(diff)
	}
}
