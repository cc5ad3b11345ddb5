package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/sandbox/jail"
)

// TestLack: what real programs say of a file or a host leads to what they lack.
func TestLack(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(home, "p")
	for _, name := range []string{"p/src/a.go", "data/x y.txt", ".ssh/id", "elsewhere/here"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	profile, _ := Find("standard")
	c := &Command{Project: project, Dir: project, Home: home, Profile: profile}
	binds, masks := c.root(&work{guarded: &Guarded{}})
	spec := &jail.Spec{Dir: project, Binds: binds, Masks: masks}
	for said, want := range map[string]string{
		"cat: H/elsewhere/here: No such file or directory":                         "read H/elsewhere/here there",
		"open H/elsewhere/here: no such file or directory":                         "read H/elsewhere/here there",
		"FileNotFoundError: [Errno 2] No such file or directory: 'H/data/x y.txt'": "read H/data/x y.txt there",
		"Error: ENOENT: no such file or directory, open 'H/data/x y.txt'":          "read H/data/x y.txt there",
		"ls: cannot access 'H/absent': No such file or directory":                  "read H/absent",
		"cat: H/.ssh/id: No such file or directory":                                "read H/.ssh/id protected there",
		"cat: src/absent.go: No such file or directory":                            "",
		"touch: cannot touch 'new.txt': Read-only file system":                     "write H/p/new.txt there",
		"sh: 1: cannot create out.txt: Read-only file system":                      "write H/p/out.txt there",
		"OSError: [Errno 30] Read-only file system: 'src/a.go'":                    "write H/p/src/a.go there",
		"mkdir: cannot create directory ‘rules.yaml’: Read-only file system":       "write H/p/rules.yaml protected there",
		"touch: cannot touch '/usr/bin/x': Read-only file system":                  "",
		"cat: /tmp/absent-of-lack: No such file or directory":                      "read /tmp/absent-of-lack",
		"curl: (6) Could not resolve host: example.com":                            "network example.com",
		"fatal: unable to access 'https://x.org/': Could not resolve host: x.org":  "network x.org",
		"npm error errno EAI_AGAIN":                                                "network",
		"npm error request to https://registry.npmjs.org/tsx failed: no cache":     "network registry.npmjs.org",
		"Error: getaddrinfo EAI_AGAIN registry.npmjs.org":                          "network registry.npmjs.org",
		"dial tcp: lookup proxy.golang.org: no such host":                          "network proxy.golang.org",
		"socket.gaierror: [Errno -3] Temporary failure in name resolution":         "network",
		"everything went well":                                                     "",
	} {
		var got []string
		for _, l := range c.lacks(spec, []byte(strings.ReplaceAll(said, "H/", home+"/")+"\n")) {
			got = append(got, l.Need, l.Path, l.Host, map[bool]string{true: "protected"}[l.Protected != ""], map[bool]string{true: "there"}[l.There])
		}
		line := strings.ReplaceAll(strings.Join(strings.Fields(strings.Join(got, " ")), " "), home+"/", "H/")
		if line != want {
			t.Errorf("%s: %q, want %q", said, line, want)
		}
	}
	spec.Network = true
	if got := c.lacks(spec, []byte("curl: (6) Could not resolve host: example.com\n")); got != nil {
		t.Errorf("with a network: %+v", got)
	}
}

// TestLackTellsAgentsNothing: an agent is told the same of a file that is on the machine and of one that is not.
func TestLackTellsAgentsNothing(t *testing.T) {
	there, absent := Lack{Need: needRead, Path: "/x", There: true}, Lack{Need: needRead, Path: "/x"}
	if there.SayToAgent() != absent.SayToAgent() || there.Say() == absent.Say() {
		t.Error(there.SayToAgent(), absent.SayToAgent())
	}
}
