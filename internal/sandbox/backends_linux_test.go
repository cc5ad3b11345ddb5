package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/sandbox/jail"
)

// tampers are scripts in the place of bwrap that give it other arguments than they got, each with the layer that is refused then.
var tampers = map[string]tamper{
	"no network namespace":   {`--unshare-net) continue;;`, jail.Net},
	"no process namespaces":  {`--unshare-pid|--as-pid-1) continue;;`, jail.PID},
	"no namespace of names":  {`--unshare-ipc) continue;;`, jail.PID},
	"a part that is written": {`--ro-bind) a=--bind;;`, jail.Mount},
	"another folder":         {`*/project) if [ "$was" = --ro-bind ]; then a=$(dirname "$a")/outside; fi;;`, jail.Mount},
	"a root that is written": {`--remount-ro) a=--dir;;`, jail.Mount},
	"no rights":              {`--cap-add) a=--cap-drop;;`, jail.Mount},
}

// tamper is a change of what another program is told.
type tamper struct {
	change string // of bwrap: one or more branches of a case over $a, the argument; $was is the one before. Of crun: commands of sed(1)
	layer  jail.Layer
}

// containerTampers change the description of the container before crun reads it.
var containerTampers = map[string]tamper{
	"no network namespace":   {`s/,{"type":"network"}//`, jail.Net},
	"no process namespace":   {`s/{"type":"pid"},//`, jail.Mount}, // crun cannot mount /proc then
	"no namespace of names":  {`s/{"type":"ipc"},//`, jail.PID},
	"a part that is written": {`s/"rro"/"rw"/g`, jail.Mount},
	"another folder":         {`s#"source":"\([^"]*\)/project"#"source":"\1/outside"#`, jail.Mount},
	"no rights":              {`s/"CAP_SYS_ADMIN",//g`, jail.Mount},
}

// TestBubblewrapIsLookedAt: where bubblewrap makes something else than it was told, nothing runs.
func TestBubblewrapIsLookedAt(t *testing.T) {
	t.Parallel()
	tampered(t, jail.Bubblewrap, tampers, `#!/bin/sh
was=
for a; do shift; case "$a" in CHANGE esac; was=$a; set -- "$@" "$a"; done
exec PROGRAM "$@"
`)
}

// TestContainerIsLookedAt: likewise crun.
func TestContainerIsLookedAt(t *testing.T) {
	t.Parallel()
	tampered(t, jail.Container, containerTampers, `#!/bin/sh
for a; do
	if [ "$was" = --bundle ]; then
		sed -i.was 'CHANGE' "$a/config.json"
		cmp -s "$a/config.json" "$a/config.json.was" && echo nothing was changed >&2 && exit 1
	fi
	was=$a
done
exec PROGRAM "$@"
`)
}

// tampered starts a command in a back end as it is, and then with scripts in its place that change what it is told.
func tampered(t *testing.T, backend jail.Backend, tampers map[string]tamper, script string) {
	t.Helper()
	c := projectCommand(t, "echo", "it ran")
	c.Quarantine = ""
	c.Profile, _ = Find("standard")
	c.Profile.Backend = backend
	untouched, err := program(backend)
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	start := func(program string) (string, error) {
		spec, err := c.spec(&work{guarded: &Guarded{}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		spec.Program, spec.Scratch = program, scratch
		var said, errs bytes.Buffer
		j, err := jail.Start(t.Context(), self(t), spec, jail.Streams{Out: &said, Err: &errs})
		if err == nil {
			_, _, err = j.Wait()
		}
		return said.String() + errs.String(), err
	}
	if said, err := start(untouched); err != nil || said != "it ran\n" {
		t.Fatalf("untouched: %v: %q", err, said)
	}
	for name, tc := range tampers {
		program := filepath.Join(t.TempDir(), "program")
		text := strings.NewReplacer("CHANGE", tc.change, "PROGRAM", untouched).Replace(script)
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		said, err := start(program)
		var stage *jail.StageError
		ran := strings.Contains(said, "it ran") || strings.Contains(fmt.Sprint(err), "nothing was changed")
		if !errors.As(err, &stage) || stage.Layer != tc.layer || ran {
			t.Errorf("%s: %v: %q", name, err, said)
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("folders are left: %v %v", left, err)
	}
}

// TestToldToEnd: a command of a container is told to end before it is ended, as one of ours.
func TestToldToEnd(t *testing.T) {
	t.Parallel()
	for _, backend := range []jail.Backend{jail.Own, jail.Container} {
		c := projectCommand(t, "sh", "-c", `trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 1; done`)
		c.Profile.Backend, c.Grace = backend, 60
		ctx, end := context.WithCancel(t.Context())
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Out = w
		ended := make(chan error, 1)
		go func() {
			_, err := Run(ctx, self(t), c)
			ended <- errors.Join(err, w.Close())
		}()
		lines := bufio.NewScanner(r)
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("%s: %q %v", backend, lines.Text(), <-ended)
		}
		end()
		if !lines.Scan() || lines.Text() != "told" {
			t.Errorf("%s: it says %q", backend, lines.Text())
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", backend, err)
		}
	}
}
