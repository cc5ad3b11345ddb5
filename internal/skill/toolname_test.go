package skill

import "testing"

// TestNamesOfAgentTools: a skill means the tool that calls arrive as, by whichever of its names it is written.
func TestNamesOfAgentTools(t *testing.T) {
	for written, want := range map[string]string{
		"Agent": "agent__Task", "?Agent(x *)": "?agent__Task(x *)", "agent__Agent": "agent__Task", "KillBash": "agent__KillShell",
		"Task": "agent__Task",
		"Read": "agent__Read", "agent__Own": "agent__Own", "Own": "Own", "files__Agent": "files__Agent", "mcp__files__Agent": "files__Agent",
	} {
		if got := normalTool(written); got != want {
			t.Errorf("%s is %s, not %s", written, got, want)
		}
	}
}
