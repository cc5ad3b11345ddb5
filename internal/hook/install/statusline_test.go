package install

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// statusLineOf returns the command of the status line in a file of settings; "" if there is none.
func statusLineOf(t *testing.T, text string) string {
	t.Helper()
	var f struct {
		Line struct {
			Command string `json:"command"`
		} `json:"statusLine"`
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return f.Line.Command
}

// TestStatusLineOfInstall: install writes a status line that starts our program with the pins of the entries, and uninstall removes it. A
// person's own stays, in the same file and in the user's.
func TestStatusLineOfInstall(t *testing.T) {
	s, file := newSetup(t, "claude", false)
	changes, err := s.Install()
	must(t, changes, err)
	argv, ok := shellWords(statusLineOf(t, get(t, file)))
	want := []string{s.Small, "claude", "-C", s.Dir, "--state", string(s.State.Root), "--event", "Status", "--limit", "5s",
		"--gateway", "mycelium"}
	if !ok || strings.Join(argv, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", argv, want)
	}

	// A person who takes it out is not contradicted: it is no problem, and is not put back, also when other entries are.
	text, err := statusLine{s}.remove([]byte(get(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, string(text), 0o600)
	if r, err := s.Restore(); err != nil || r.Changed {
		t.Errorf("%+v %v", r, err)
	}
	if st := s.Status(); len(st.Problems) > 0 {
		t.Errorf("%+v", st.Problems)
	}
	put(t, file, strings.Replace(string(text), `"timeout": 600`, `"timeout": 1`, 1), 0o600)
	if r, err := s.Restore(); err != nil || !r.Back || get(t, file) != string(text) {
		t.Errorf("%+v %v\n%s", r, err, get(t, file))
	}

	// A person's own.
	const own = `{"statusLine": {"type": "command", "command": "~/line.sh"}}`
	for _, path := range []string{file, filepath.Join(filepath.Dir(s.Dir), ".claude", "settings.json")} {
		changes, err = s.Uninstall()
		must(t, changes, err)
		put(t, path, own, 0o600)
		changes, err = s.Install()
		must(t, changes, err)
		if got := statusLineOf(t, get(t, path)); got != "~/line.sh" {
			t.Errorf("%s: %q", path, got)
		}
		if path != file {
			if got := statusLineOf(t, get(t, file)); got != "" {
				t.Errorf("the user's own is overruled by %q", got)
			}
		}
		changes, err = s.Uninstall()
		must(t, changes, err)
		if get(t, path) != own {
			t.Errorf("%s: after uninstall %s", path, get(t, path))
		}
		put(t, path, "{}", 0o600)
	}
}

// TestStatusLineOfRun: the settings of a run have the person's own status line, or ours, so that a project's never counts. Nothing of it
// that the agent would refuse comes into the file that has the hooks.
func TestStatusLineOfRun(t *testing.T) {
	s, _ := newSetup(t, "claude", false)
	user := filepath.Join(filepath.Dir(s.Dir), ".claude", "settings.json")
	put(t, filepath.Join(s.Dir, ".claude", "settings.json"), `{"statusLine": {"type": "command", "command": "./theirs"}}`, 0o600)
	for own, want := range map[string]string{
		`{}`: "ours", `{"statusLine": null}`: "ours", `{"statusLine": {"type": "web", "command": "x"}}`: "ours",
		`{"statusLine": {"type": "command", "command": 7}}`: "ours", `{`: "ours",
		`{"statusLine": {"type": "command", "command": "/state/bin/myc-hook claude --event Status --limit 5s"}}`: "ours",
		`{"statusLine": {"type": "command", "command": "~/line.sh", "padding": 0, "refreshInterval": "x", "new": [], ` +
			`"hideVimModeIndicator": 1}}`: `{"type":"command","command":"~/line.sh","padding":0}`,
	} {
		put(t, user, own, 0o600)
		text, err := s.Settings()
		if err != nil {
			t.Fatal(err)
		}
		root, err := parseJSON(text, false)
		if err != nil {
			t.Fatal(err)
		}
		if want == "ours" {
			want = string(statusLine{s}.value(statusEvery))
		}
		got := lookup(&root, []string{"statusLine"}).raw(text)
		if err := got.Compact(); err != nil || string(got) != want {
			t.Errorf("with %s: %s, want %s (%v)", own, got, want, err)
		}
	}
}
