package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mycelium/internal/sandbox/jail"
)

// BenchmarkSession measures a command that does nothing, alone, in runs of their own, and in runs of one session, in projects of several
// sizes.
func BenchmarkSession(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	self := jail.Self{Argv: []string{exe, jail.ChildName}, Small: os.Getenv("SMALL")}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, size := range [][2]int{{0, 1}, {10_000, 100}, {50_000, 500}, {50_000, 6_000}} {
		b.Run(fmt.Sprintf("%d files in %d folders", size[0], size[1]), func(b *testing.B) {
			c := benchCommand(b, size[0], size[1])
			run := func(b *testing.B, c *Command) {
				if r, err := Run(b.Context(), self, c); err != nil || r.ExitCode != 0 {
					b.Fatal(r, err)
				}
			}
			b.Run("runs of their own", func(b *testing.B) {
				for b.Loop() {
					run(b, c)
				}
			})
			b.Run("one session", func(b *testing.B) {
				c := *c
				c.Session = &Session{}
				defer c.Session.Close()
				run(b, &c)
				for b.Loop() {
					run(b, &c)
				}
			})
		})
	}
}

// benchCommand is a command that does nothing in a project with so many empty files in so many folders.
func benchCommand(b *testing.B, files, folders int) *Command {
	b.Helper()
	home := b.TempDir()
	dir := filepath.Join(home, "p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	for n := range files {
		at := filepath.Join(dir, fmt.Sprint(n%folders%50), fmt.Sprint(n%folders))
		if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, fmt.Sprint(n)), nil, 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	profile, _ := Find("project")
	return &Command{Argv: []string{"/bin/true"}, Project: dir, Dir: dir, Home: home, Profile: profile, Scratch: b.TempDir(),
		Quarantine: b.TempDir(), History: b.TempDir(), Caches: b.TempDir(), Environ: []string{"PATH=/usr/bin:/bin"}, Out: io.Discard,
		Err: io.Discard}
}
