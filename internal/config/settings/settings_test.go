package settings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/config"
)

// load reads a project of two files, and the user's.
func load(t *testing.T, project, user string) *config.Project {
	t.Helper()
	home := t.TempDir()
	dir, own := filepath.Join(home, "p"), filepath.Join(home, ".config", "mycelium")
	for folder, text := range map[string]string{dir: project, own: user} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "mycelium.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := config.Load(config.Options{Dir: dir, OnDisk: true, Environ: []string{"HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const projectText = `
mcpServers:
  fs: {command: npx, args: [-y, "@x/y", ": odd"], env: {T: "${T}"}, timeout: 30s, trust: true, bare: true}
session: {defaultSkills: [common], promotion: auto}
limits: {guest: {tools: {a__b.c: {perMinute: 2}}}}
audit: {redact: [ssn]}
server: {maxBody: 1000}
`

const userText = "session: {promotion: confirm}\nserver: {maxBody: 2000}\ntrust: content\n"

// TestList: every value that is in effect stands in the list, with what it comes from, and a flag or a variable counts before the files
// (B27).
func TestList(t *testing.T) {
	all, err := List(load(t, projectText, userText), []Setting{{Key: "log.level", Value: []byte(`"debug"`), From: "--verbose"},
		{Key: "server.addr", Value: []byte(`"127.0.0.1:1"`), From: "X"}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range all {
		got[s.Key] = string(s.Value) + " " + s.From
	}
	user, project := "~/.config/mycelium/mycelium.yaml", "mycelium.yaml"
	for key, want := range map[string]string{
		"session.promotion": `"confirm" ` + user, "server.maxBody": "1000 " + project, "session.defaultSkills": `["common"] ` + project,
		"mcpServers.fs.trust": "true " + project, "mcpServers.fs.disabled": "false default", "mcpServers.fs.bare": "true " + project,
		"mcpServers.files.builtin": `"files" default`, "audit.sync": `"interval" default`, "limits.guest.tools.a__b.c.perMinute": "2 " + project,
		"trust": `"content" ` + user, "log.level": `"debug" --verbose`, "server.addr": `"127.0.0.1:1" X`,
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
}

// TestFind: one value, what is below a key, a key without a value, and one that does not exist.
func TestFind(t *testing.T) {
	all, err := List(load(t, projectText, userText), nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"server.maxBody": "1000", "limits": `{"guest":{"tools":{"a__b.c":{"perMinute":2}}}}`,
		"server.anonymous": "", "mcpServers.fs.bare": "true", "policy.fallback": `{"mcp":"allow","agent":"ask"}`} {
		if got, err := Find(all, key); string(got) != want || err != nil {
			t.Errorf("%s: %s %v, want %s", key, got, err, want)
		}
	}
	unknown := (*UnknownError)(nil)
	for _, key := range []string{"session.promo", "sesion", "server.addr.x", "a.b.c"} {
		if got, err := Find(all, key); !errors.As(err, &unknown) || got != nil {
			t.Errorf("%s: %s %v", key, got, err)
		}
	}
	for _, key := range []string{"", ".", "session.", "session..roles"} {
		if got, err := Find(all, key); err == nil {
			t.Errorf("%q: %s", key, got)
		}
	}
}

// TestShow: what is shown and exported is a mycelium.yaml that says the same.
func TestShow(t *testing.T) {
	first := load(t, projectText, "")
	all, err := List(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Whole(all)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range [][]byte{whole, files} {
		text, err := Text(raw)
		if err != nil {
			t.Fatal(err)
		}
		second := load(t, text, "")
		second.File.Store = first.File.Store // in the state of each
		if d := cmp.Diff(first.File, second.File); d != "" || second.Bare != "fs" || len(second.Problems) > len(first.Problems) {
			t.Errorf("%s\n%s%v", d, text, second.Problems)
		}
	}
}
