package yamlfile

import (
	"reflect"
	"strings"
	"testing"
)

func TestAddAndRemoveEntry(t *testing.T) {
	for _, before := range []string{
		"",
		"a: 1\n",
		"# head\nmcpServers:\n    x: {command: y} # kept\nb: [1, 2]\n",
		"mcpServers: {}\nb: 1\n",
		"mcpServers:\nb: 1\n",
	} {
		after, err := AddEntry([]byte(before), "mcpServers", "fix", []string{"fix:", "  command: deffile"})
		if err != nil {
			t.Errorf("%q: %v", before, err)
			continue
		}
		var m map[string]any
		p := Decode("f", after, &m)
		servers, _ := m["mcpServers"].(map[string]any)
		if len(p) > 0 || !reflect.DeepEqual(servers["fix"], map[string]any{"command": "deffile"}) {
			t.Errorf("%q became %q: %v", before, after, p)
		}
		removed, err := RemoveEntry(after, "mcpServers", "fix")
		if err != nil || strings.Contains(string(removed), "fix") {
			t.Errorf("%q: removed: %q, %v", after, removed, err)
		}
	}
}

func TestAddItem(t *testing.T) {
	for before, after := range map[string]string{
		"session:\n  defaultSkills: [a] # kept\nb: 1\n": "session:\n  defaultSkills: [a, c] # kept\nb: 1\n",
		"defaultSkills: []\n":                           "defaultSkills: [c]\n",
		"defaultSkills:\n  - a\n":                       "defaultSkills:\n  - c\n  - a\n",
	} {
		if got, err := AddItem([]byte(before), "defaultSkills", "c"); err != nil || string(got) != after {
			t.Errorf("%q: %q, %v", before, got, err)
		}
	}
	if _, err := AddItem([]byte("a: 1\n"), "defaultSkills", "c"); err == nil {
		t.Error("an item was added to no list")
	}
}

// FuzzAddEntry adds an entry to any file: it changes no other key, or reports an error.
func FuzzAddEntry(f *testing.F) {
	for _, s := range []string{"", "a: 1\n", "mcpServers:\n  x: {command: y}\n", "mcpServers: {}\n", "a: |\n  mcpServers:\n",
		"mcpServers: {x: {command: y}}\n",
		"mcpServers:\n  fix: {command: y}\n", "a: &x 1\nb: *x\n", "a: 1\r\nmcpServers:\r\n  x: {}\r\n", "- 1\n", "a: 1\n---\nb: 2\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, before string) {
		after, err := AddEntry([]byte(before), "mcpServers", "fix", []string{"fix:", "  command: deffile"})
		if err != nil {
			return
		}
		var a, b map[string]any
		if p := Decode("a", []byte(before), &a); len(p) > 0 {
			t.Fatalf("%q did not load, and an entry was added", before)
		}
		if p := Decode("b", after, &b); len(p) > 0 {
			t.Fatalf("%q became %q: %v", before, after, p)
		}
		servers, _ := b["mcpServers"].(map[string]any)
		old, _ := a["mcpServers"].(map[string]any)
		if _, had := old["fix"]; had || servers["fix"] == nil {
			t.Fatalf("%q became %q", before, after)
		}
		delete(servers, "fix")
		delete(a, "mcpServers")
		delete(b, "mcpServers")
		if len(old)+len(servers) > 0 && !reflect.DeepEqual(old, servers) || len(a)+len(b) > 0 && !reflect.DeepEqual(a, b) {
			t.Fatalf("%q became %q", before, after)
		}
	})
}
