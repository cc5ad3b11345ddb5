package sandbox

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/sandbox/jail"
)

// tampers are scripts in the place of bwrap that give it other arguments than they got, each with the layer that is refused then.
var tampers = map[string]struct {
	change string // one or more branches of a case over $a, the argument; $was is the one before
	layer  jail.Layer
}{
	"no network namespace":   {`--unshare-net) continue;;`, jail.Net},
	"no process namespaces":  {`--unshare-pid|--as-pid-1) continue;;`, jail.PID},
	"no namespace of names":  {`--unshare-ipc) continue;;`, jail.PID},
	"a part that is written": {`--ro-bind) a=--bind;;`, jail.Mount},
	"another folder":         {`*/project) if [ "$was" = --ro-bind ]; then a=$(dirname "$a")/outside; fi;;`, jail.Mount},
	"a root that is written": {`--remount-ro) a=--dir;;`, jail.Mount},
	"no rights":              {`--cap-add) a=--cap-drop;;`, jail.Mount},
}

// TestBubblewrapIsLookedAt: where bubblewrap makes something else than it was told, nothing runs.
func TestBubblewrapIsLookedAt(t *testing.T) {
	c := projectCommand(t, "echo", "it ran")
	c.Quarantine = ""
	c.Profile, _ = Find("standard")
	c.Profile.Backend = jail.Bubblewrap
	start := func(program string) (string, error) {
		spec, err := c.spec(&work{guarded: &Guarded{}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if program != "" {
			spec.Program = program
		}
		var said bytes.Buffer
		j, err := jail.Start(t.Context(), self(t), spec, jail.Streams{Out: &said})
		if err == nil {
			_, _, err = j.Wait()
		}
		return said.String(), err
	}
	if said, err := start(""); err != nil || said != "it ran\n" {
		t.Fatalf("untouched: %v: %q", err, said)
	}
	for name, tc := range tampers {
		program := filepath.Join(t.TempDir(), "bwrap")
		script := "#!/bin/sh\nwas=\nfor a; do shift; case \"$a\" in " + tc.change + " esac; was=$a; set -- \"$@\" \"$a\"; done\n" +
			"exec /usr/bin/bwrap \"$@\"\n"
		if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		said, err := start(program)
		var stage *jail.StageError
		if !errors.As(err, &stage) || stage.Layer != tc.layer || strings.Contains(said, "it ran") {
			t.Errorf("%s: %v: %q", name, err, said)
		}
	}
}
