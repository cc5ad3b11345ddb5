package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWants: what a command asked the proxy for is known also where it has no host; what a person gives is there in the next run; what is
// protected is never given, also not by a link.
func TestWants(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, data := filepath.Join(home, "p"), filepath.Join(home, "data")
	for _, dir := range []string{project, data, filepath.Join(home, ".ssh")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"data/x", ".ssh/id"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, ".ssh"), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	profile, _ := Find("project")
	run := func(hosts, read, write []string, line string) (*Result, string) {
		t.Helper()
		var out bytes.Buffer
		c := &Command{Argv: []string{"sh", "-c", line}, Project: project, Dir: project, Home: home, Profile: profile, Environ: os.Environ(),
			Scratch: t.TempDir(), Quarantine: t.TempDir(), Out: &out, Err: &out, Asks: true}
		c.Give(hosts, nil, read, write)
		result, err := Run(t.Context(), self(t), c)
		if err != nil {
			t.Fatal(err)
		}
		return result, out.String()
	}
	if _, said := run(nil, nil, nil, "curl -sS http://a.invalid/"); !strings.Contains(said, "Run the same command again") ||
		strings.Contains(said, "myc sandbox exec") {
		t.Errorf("an agent is told: %s", said)
	}
	result, _ := run(nil, nil, nil, "curl -sSf http://a.invalid/; curl -sS --noproxy '' http://127.0.0.1:9/; cat ../data/x ../.ssh/id; "+
		"echo curl: '(6) Could not resolve host: b.invalid'; false")
	refused, said, rest := result.Left.Wants()
	if len(refused) != 1 || refused[0].Host != "a.invalid:80" {
		t.Errorf("refused: %v", refused)
	}
	if len(said) != 1 || said[0].Path != filepath.Join(data, "x") { // the proxy's word stands above the command's
		t.Errorf("said: %+v", said)
	}
	if len(rest.Refused) != 1 || rest.Refused[0].Host != "127.0.0.1:9" || len(rest.Lacks) != 1 || rest.Lacks[0].Protected == "" {
		t.Errorf("what cannot be given: %+v", rest)
	}
	read := []string{filepath.Join(data, "x")}
	for _, name := range []string{"link", ".ssh/id", "absent"} {
		read = append(read, filepath.Join(home, name))
	}
	result, out := run([]string{"a.invalid:80"}, read, []string{data},
		"cat ../data/x; echo; ls -A ../link ../.ssh; echo new > ../data/y; curl -sS http://a.invalid/")
	if !strings.Contains(out, "content of data/x") || len(result.Left.Refused) > 0 {
		t.Errorf("given: %v\n%s", result.Left.Refused, out)
	}
	if strings.Contains(out, "\nid") {
		t.Errorf("a protected folder is shown:\n%s", out)
	}
	if text, err := os.ReadFile(filepath.Join(data, "y")); err != nil || string(text) != "new\n" {
		t.Errorf("the file that it made: %q %v", text, err)
	}
}

// TestOpen: a file that would be made needs its folder; people are told of what is not there and of links.
func TestOpen(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ need, name, path, note string }{
		{needRead, "", "", ""},
		{needRead, "/a", "/a", "is not on this machine"},
		{needWrite, "/a", "", "is the folder in which it would make a"},
		{needWrite, "/a/b", "/a", "is not on this machine"},
		{needRead, "/link", "/link", "leads to " + dir},
		{needWrite, "/link/a", "/link", "leads to " + dir},
	} {
		if path, note := (Lack{Need: tc.need, Path: dir + tc.name}).Open(); path != dir+tc.path || note != tc.note {
			t.Errorf("%s %s: %s %s", tc.need, tc.name, path, note)
		}
	}
}
