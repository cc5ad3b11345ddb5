package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDaemonGuardsTheHook: the daemon puts back entries that somebody removed, and says so in the log and in status; it reports settings
// that can reach a hook.
func TestDaemonGuardsTheHook(t *testing.T) {
	t.Parallel()
	p := newProject(t, hookWorld())
	p.serve()
	p.must("hook", "install", "claude", "--unsafe-program")
	p.write(".claude/settings.local.json", `{"disableAllHooks": true}`)
	p.write(".claude/settings.json", `{"env": {"LD_PRELOAD": "/x.so"}}`)
	p.eventually("the entries are back", func() bool { return strings.Contains(p.read(".claude/settings.local.json"), "PreToolUse") })
	p.eventually("the record says so", func() bool {
		log, _ := os.ReadFile(filepath.Join(p.state().Folder(), "audit", "00000001.jsonl"))
		return strings.Contains(string(log), `"guard"`) && strings.Contains(string(log), "they were put back")
	})
	if text := p.read(".claude/settings.local.json"); !strings.Contains(text, `"disableAllHooks": false`) {
		t.Errorf("the hooks are switched off: %s", text)
	}
	p.eventually("status says what settings do", func() bool { return strings.Contains(strings.Join(p.status().Hooks, "\n"), "LD_PRELOAD") })
	p.must("hook", "uninstall", "claude")
}
