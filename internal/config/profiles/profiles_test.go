package profiles

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/registry"
	"mycelium/internal/sandbox"
	"mycelium/internal/yamlfile"
)

// read reads a section.
func read(t *testing.T, yaml string) Section {
	t.Helper()
	var s Section
	if problems := yamlfile.Decode("f", []byte(yaml), &s); len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// TestCheck: each fault is told with its key.
func TestCheck(t *testing.T) {
	for yaml, want := range map[string]string{
		"profiles: {mine: {base: project, memory: 4GiB, read: [/data], write: [~/out]}}": "",
		"profiles: {standard: {memory: 256MiB, processes: 4}}":                           "",
		"profiles: {permissive: {network: false}}":                                       "",
		"profiles: {standard: {memory: 2GiB}}":                                           "sandbox.profiles.standard.memory",
		"profiles: {standard: {timeout: 0}}":                                             "sandbox.profiles.standard.timeout",
		"profiles: {strict: {base: project}}":                                            "sandbox.profiles.strict.base",
		"profiles: {strict: {read: [/data]}}":                                            "sandbox.profiles.strict.read",
		"profiles: {mine: {base: projekt}}":                                              "sandbox.profiles.mine.base",
		"profiles: {mine: {files: -1}}":                                                  "sandbox.profiles.mine.files",
		"profiles: {mine: {read: [~/.ssh]}}":                                             "sandbox.profiles.mine.read[0]",
		"profiles: {mine: {write: [docs, skills]}}":                                      "sandbox.profiles.mine.write[1]",
		"profiles: {mine: {registries: [npm, corp], packages: ['corp:a']}}\nregistries: {corp: {like: npm, hosts: [a.example/b]}}": "",
		"profiles: {mine: {registries: [corp]}}":                    "sandbox.profiles.mine.registries",
		"profiles: {mine: {packages: [left-pad]}}":                  "sandbox.profiles.mine.packages[0]",
		"profiles: {mine: {base: permissive, registries: [npm]}}":   "sandbox.profiles.mine",
		"profiles: {strict: {registries: [npm]}}":                   "sandbox.profiles.strict.registries",
		"registries: {npm: {like: npm, hosts: [a.example]}}":        "sandbox.registries.npm",
		"registries: {corp: {like: nmp, hosts: [a.example]}}":       "sandbox.registries.corp",
		"registries: {corp: {like: npm, hosts: [\"*.a.example\"]}}": "sandbox.registries.corp",
		"profiles: {Mine: {}}":                                      "sandbox.profiles.Mine",
	} {
		var told []string
		s := read(t, yaml)
		s.Check(func(key, message, hint string) {
			if message == "" || hint == "" {
				t.Errorf("%s: %q, hint %q", yaml, message, hint)
			}
			told = append(told, key)
		})
		if got := strings.Join(told, " "); got != want {
			t.Errorf("%s: %q, want %q", yaml, got, want)
		}
	}
}

// TestBound: of a name that the user and the project have, a command gets what both allow.
func TestBound(t *testing.T) {
	user := read(t, "profiles: {mine: {base: standard, memory: 1GiB, read: [/data]}, own: {base: permissive}, project: {memory: 2GiB}}")
	project := read(t, "profiles: {mine: {base: permissive, memory: 2GiB, processes: 5, read: [/data/a, /other]}, theirs: {network: true}}")
	var ignored []string
	got := Bound(user, project, func(key string) { ignored = append(ignored, strings.TrimPrefix(key, "sandbox.profiles.")) })
	if want := []string{"mine.network", "mine.files", "mine.memory", "mine.timeout", "mine.read"}; !slices.Equal(ignored, want) {
		t.Errorf("ignored %v, want %v", ignored, want)
	}
	var lines []string
	for _, p := range got.All() {
		lines = append(lines, fmt.Sprint(p.Name, " ", p.Network, p.Fork, p.Project, p.Procs, p.Files, p.Memory>>20, p.Seconds, p.Read))
	}
	want := []string{"strict false false false 1 64 256 30 []", "standard false true false 10 256 512 60 []",
		"permissive true true false 50 1024 1024 300 []", "project false true true 4096 65536 2048 0 []",
		"mine false true false 5 256 1024 60 [/data/a]", "own true true false 50 1024 1024 300 []", "theirs true true false 10 256 512 60 []"}
	if !slices.Equal(lines, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// TestBoundRegistries: of a registry that both files have, the user's counts, with the hosts of both.
func TestBoundRegistries(t *testing.T) {
	user := read(t, "registries: {both: {like: npm, hosts: [a.example, b.example]}, mine: {like: go, hosts: [c.example]}}")
	project := read(t, "registries: {both: {like: pypi, hosts: [b.example, evil.example]}, theirs: {like: npm, hosts: [d.example]}}")
	var ignored []string
	got := Bound(user, project, func(key string) { ignored = append(ignored, key) })
	if want := "[{both npm [b.example]} {mine go [c.example]} {theirs npm [d.example]}]"; fmt.Sprint(got.own()) != want ||
		!slices.Equal(ignored, []string{"sandbox.registries.both.hosts"}) {
		t.Errorf("%v, ignored %v", got.own(), ignored)
	}
	changes, narrows := ChangedRegistries(project, got)
	if narrows || len(changes) != 2 {
		t.Errorf("%v %t", changes, narrows)
	}
	if changes, narrows := ChangedRegistries(project, Section{}); !narrows || len(changes) != 2 {
		t.Errorf("%v %t", changes, narrows)
	}
	a, b := read(t, "profiles: {p: {registries: [npm, go]}}"), read(t, "profiles: {p: {registries: [go], packages: ['go:a']}}")
	p, _ := Bound(a, b, func(string) {}).Find("p")
	if got := fmt.Sprint(registry.Names(p.Registries), p.Packages); got != "[go] []" {
		t.Errorf("both allow %s", got)
	}
	if change, narrows := Changed(b, a, "p"); narrows || !strings.Contains(change, "fetches packages from npm go") {
		t.Errorf("%s %t", change, narrows)
	}
}

// TestShippedStay: whatever a section that is checked says, no shipped profile is wider.
func TestShippedStay(t *testing.T) {
	s := read(t, "profiles: {strict: {base: permissive, network: true, memory: 0, read: [/data]}}") // Check would refuse it
	for i, p := range s.All() {
		if wider := p.Beyond(sandbox.Profiles()[i]); wider != nil {
			t.Errorf("%s is wider: %v", p.Name, wider)
		}
	}
}

// TestChanged: a profile that is narrower narrows; whatever else changes does not.
func TestChanged(t *testing.T) {
	for _, tc := range []struct {
		was, is, change string
		narrows         bool
	}{
		{"{mine: {}}", "{mine: {base: standard}}", "", true},
		{"{mine: {}}", "{mine: {memory: 1MiB}}", "the profile mine of the sandbox is another: no network, 10 processes", true},
		{"{mine: {}}", "{mine: {memory: 1MiB, network: true}}", "the profile mine of the sandbox is another: the network", false},
		{"{}", "{mine: {}}", "there is a profile mine of the sandbox: ", false},
		{"{mine: {}}", "{}", "there is no profile mine of the sandbox any more", false},
		{"{mine: {read: [/data]}}", "{mine: {read: [/data/a]}}", "the profile mine of the sandbox is another", true},
		{"{}", "{standard: {files: 9}}", "the profile standard of the sandbox is another", true},
		{"{standard: {files: 9}}", "{}", "the profile standard of the sandbox is another", false},
	} {
		name := "mine"
		if strings.Contains(tc.was+tc.is, "standard: {f") {
			name = "standard"
		}
		change, narrows := Changed(read(t, "profiles: "+tc.was), read(t, "profiles: "+tc.is), name)
		if !strings.HasPrefix(change, tc.change) || (change == "") != (tc.change == "") || narrows != tc.narrows {
			t.Errorf("%s to %s: %q, %t", tc.was, tc.is, change, narrows)
		}
	}
}

// TestSize: what is written is read back, and what has no unit is refused.
func TestSize(t *testing.T) {
	for word, want := range map[string]Size{"0": 0, "512MiB": 512 << 20, "2 GiB": 2 << 30, "1KiB": 1024} {
		var got, back Size
		if err := got.UnmarshalText([]byte(word)); err != nil || got != want {
			t.Errorf("%s: %d, %v", word, got, err)
		}
		text, err := got.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != got {
			t.Errorf("%s was written as %s", word, text)
		}
	}
	for _, word := range []string{"512", "-1MiB", "1TB", "", "MiB", "99999999999GiB"} {
		if got := Size(0); got.UnmarshalText([]byte(word)) == nil {
			t.Errorf("%q is %d", word, got)
		}
	}
}
