package sandbox

import (
	"os"
	"testing"
	"time"

	"mycelium/internal/policy"
)

// BenchmarkHistory measures what closed files in commits cost the start of a command, in the repository of HISTORY_REPO.
func BenchmarkHistory(b *testing.B) {
	repo := os.Getenv("HISTORY_REPO")
	if repo == "" {
		b.Skip("HISTORY_REPO names a repository")
	}
	c := &Command{Project: repo, Scratch: b.TempDir(), Quarantine: b.TempDir(), History: b.TempDir(), Home: "/root",
		Environ: []string{"PATH=/usr/bin:/bin"}}
	began := time.Now()
	o := c.closedObjects(b.Context())
	b.Logf("first: %v, %d covered", time.Since(began), len(o.paths()))
	for b.Loop() {
		c.closedObjects(b.Context())
	}
	b.StopTimer()
	put(b, repo, "new.txt", time.Now().String())
	gitIn(b, repo, "add", "new.txt")
	began = time.Now()
	c.closedObjects(b.Context())
	b.Logf("after an add: %v", time.Since(began))
	gitIn(b, repo, "commit", "-qm", "new")
	began = time.Now()
	c.closedObjects(b.Context())
	b.Logf("after a commit: %v", time.Since(began))
}

// BenchmarkLook measures the look at the project of LOOK_PROJECT, without rules and with those that init writes.
func BenchmarkLook(b *testing.B) {
	dir := os.Getenv("LOOK_PROJECT")
	if dir == "" {
		b.Skip("LOOK_PROJECT names a project")
	}
	text := func(s string) *string { return &s }
	git := policy.Values{{Glob: text("**/.git/**")}, {Regex: text(`(?i)(?:.*/)?\.git(?:/.*)?`)}}
	sockets := policy.Values{{Glob: text("/tmp/mycelium-*/**")}, {Glob: text("/private/tmp/mycelium-*/**")}, {Glob: text("/run/user/*/mycelium/**")}}
	for name, rules := range map[string][]policy.ClosedRule{"none": nil, "shipped": {
		{Rule: "no-git-internals", Change: true, Groups: []policy.ClosedGroup{{Paths: git}}},
		{Rule: "no-guard-sockets", Read: true, Change: true, Groups: []policy.ClosedGroup{{Paths: sockets}}},
	}, "own": {{Rule: "notes", Read: true, Groups: []policy.ClosedGroup{{Paths: policy.Values{{Glob: text("notes/**")}, {Glob: text("**/*.secret")}}}}}},
		"regex": {{Rule: "notes", Read: true, Groups: []policy.ClosedGroup{{Paths: policy.Values{{Regex: text(`(?:.*/)?notes/.*`)}}}}}}} {
		b.Run(name, func(b *testing.B) {
			c := &Command{Project: dir, Scratch: b.TempDir(), Home: "/root", Environ: []string{"PATH=/usr/bin:/bin"},
				Closed: policy.Closed{Dir: dir, Home: "/root", Rules: rules}}
			for b.Loop() {
				if _, err := c.look(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+", kept", func(b *testing.B) {
			c := &Command{Project: dir, Scratch: b.TempDir(), Home: "/root", Environ: []string{"PATH=/usr/bin:/bin"},
				Closed: policy.Closed{Dir: dir, Home: "/root", Rules: rules}, Session: &Session{}}
			for b.Loop() {
				if _, err := c.look(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
